"""Who may call: keys of principals, grants of sessions, and what was called."""

import hmac
import re
from collections.abc import Sequence
from typing import Final, Literal

from temporalio.client import WorkflowQueryRejectedError
from temporalio.common import QueryRejectCondition

from user_handoff.client.audit import AuditLog
from user_handoff.client.client import HandoffClient
from user_handoff.client.fresh import Fresh
from user_handoff.client.keys import FRESH_SECONDS, KeyAccess
from user_handoff.client.tokens import made_of_sense, named_by, new_token, token_hash
from user_handoff.contract.access import (
    GRANT_SECONDS,
    AuditEntry,
    Capability,
    GrantRecord,
    GrantView,
    IssueGrant,
    RevokeGrant,
    SessionAccess,
    ended_with_keys,
    keys_asked,
    why_over,
)
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import ID_PATTERN, new_id, session_workflow_id
from user_handoff.contract.names import Workflows


class Access(KeyAccess):
    """Keys and grants, made and checked. A key or token is shown by the call that makes it, and nowhere else.

    One object serves a whole process: what is looked up is kept for a second, however many ask.
    """

    def __init__(
        self, temporal: HandoffClient, *, patience_seconds: float = 8, fresh_seconds: float = FRESH_SECONDS
    ) -> None:
        """Use a client.

        Args:
            temporal: Where keys and sessions are.
            patience_seconds: How long a call waits at most for Temporal.
            fresh_seconds: How long what was looked up is believed.
        """
        super().__init__(temporal, patience_seconds=patience_seconds, fresh_seconds=fresh_seconds)
        self._sessions = Fresh(self._look, seconds=fresh_seconds)
        self._audit = AuditLog(temporal, patience_seconds=patience_seconds)

    # --- grants ---

    async def issue_grant(
        self,
        session_id: str,
        owner: str,
        *,
        capabilities: Literal["all"] | Sequence[Capability] = "all",
        projections: Sequence[str] = (),
        expires_in_seconds: float = GRANT_SECONDS,
        require_version: int | None = None,
        by: str = "",
        key: str | None = None,
    ) -> tuple[str, GrantView]:
        """Let an agent into one session, for a while.

        Args:
            session_id: An open session; `CURRENT` for the owner's newest.
            owner: Who must own it.
            capabilities: The tools that it may use.
            projections: The fields of results that it gets, such as ``page.url``; none: all.
            expires_in_seconds: At most a day.
            require_version: The version of the session that was seen: the grant is good for no other.
            by: Who issues it, for the audit.
            key: The owner's key that it is issued with: when that is revoked, the grant is over.

        Returns:
            ``hg_{session_id}.{secret}``, which cannot be asked for again, and what it allows.

        Raises:
            Refused: ``session_not_found``, ``session_closed``, ``not_owner``, ``stale_version`` or
                ``invalid_request``; ``unauthorized``: the key lets nobody in.
        """
        grant_id = new_id("g")
        key_id = None if key is None else await self._key_of(owner, key)
        exact = await self._client.exact_session(session_id, owner, grant_id)
        token = new_token("hg", exact)
        with made_of_sense():
            grant = IssueGrant(
                grant_id=grant_id,
                sha256=token_hash(token),
                owner=owner,
                by=by or (f"key {key_id}" if key_id else ""),
                key_id=key_id,
                capabilities=capabilities if capabilities == "all" else tuple(capabilities),
                projections=tuple(projections),
                expires_in_seconds=expires_in_seconds,
                require_version=require_version,
            )
        try:
            return token, await self._update(exact, Workflows.GRANT, grant, f"grant.{grant_id}")
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND and await self._look(exact) is not None:
                raise _closed(exact) from None
            raise

    async def revoke_grant(self, token_or_id: str, session_id: str | None = None, *, by: str = "") -> GrantView:
        """Take a grant back: here at once, in every other process within a second.

        Args:
            token_or_id: Its token, or its id with the session's id. Whoever has a token may take it back.
            session_id: Its session; needed with an id alone.
            by: Who takes it back, for the audit.

        Raises:
            Refused: ``grant_unknown``.
        """
        named = named_by("hg", token_or_id)
        if named is not None:
            exact, revoke = named, RevokeGrant(sha256=token_hash(token_or_id), by=by)
        elif session_id is not None and re.fullmatch(ID_PATTERN, token_or_id):
            exact, revoke = session_id, RevokeGrant(grant_id=token_or_id, by=by)
        else:
            raise _unknown_grant()
        try:
            return await self._update(exact, Workflows.REVOKE_GRANT, revoke, f"revoke.{new_id('x')}")
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND:
                raise _unknown_grant() from None
            raise

    async def grant(self, token: str) -> GrantView:
        """What a token allows now.

        Raises:
            Refused: ``grant_unknown``, ``grant_revoked``, ``grant_expired``, ``session_closed`` or
                ``auth_context_changed``.
            Stale: ``stale_version``; its details have the session's ``version``.
            SetupError: ``temporal_unreachable``: it cannot be told now.
        """
        session_id = named_by("hg", token)
        if session_id is None:
            raise _unknown_grant()
        # It may have been issued a moment ago, elsewhere.
        kept = await self._sessions.get(session_id, lambda kept: bool(_granted(kept, token)))
        session = await self._ended_with_keys(kept)
        found = _granted(session, token)
        if session is None or not found:
            raise _unknown_grant()
        if refusal := _refusal(found[0], session):
            raise refusal
        return found[0].view

    async def grants(self, session_id: str) -> tuple[GrantView, ...]:
        """The grants of a session, those that are over included, as far as they are kept.

        Raises:
            Refused: ``session_not_found``.
        """
        session = await self._ended_with_keys(await self._look(session_id))
        if session is None:
            raise make_error(ErrorCode.SESSION_NOT_FOUND, "There is no such session.", do_next="Open one.")
        return tuple(record.view for record in session.grants)

    async def standing_grant(self, session_id: str, grant_id: str) -> GrantView:
        """A grant by its id, as long as it stands.

        Raises:
            HandoffError: As `grant` does.
        """
        session = await self._ended_with_keys(await self._look(session_id))
        found = next((each for each in session.grants if each.view.grant_id == grant_id), None) if session else None
        if session is None or found is None:
            raise _unknown_grant()
        if refusal := _refusal(found, session):
            raise refusal
        return found.view

    # --- the audit ---

    async def audit(self, session_id: str, entry: AuditEntry) -> None:
        """Note one call. It is written with others a moment later; nothing is waited for."""
        self._audit.note(session_id, entry)

    async def read_audit(self, session_id: str) -> tuple[AuditEntry, ...]:
        """The last calls of a session, in order: at least 100, those that were just noted here included.

        Raises:
            Refused: ``session_not_found``.
        """
        return await self._audit.read(session_id)

    async def flush_audit(self) -> None:
        """Write what was noted, now: before a session is closed, since a closed one takes nothing more."""
        await self._audit.flush()

    async def aclose(self) -> None:
        """Write what was noted, and end."""
        await self._audit.close()

    # --- asking ---

    async def _key_of(self, owner: str, key: str) -> str:
        """The id of a key of the owner's."""
        principal = await self.principal(key)
        if principal.name != owner:
            raise make_error(
                ErrorCode.NOT_OWNER,
                "The key is of another principal than the session.",
                holds="Nothing was granted.",
                do_next="Use a key of the session's owner.",
            )
        return principal.key_id

    async def _ended_with_keys(self, session: SessionAccess | None) -> SessionAccess | None:
        """The session, with those grants taken back whose key was revoked."""
        asked = keys_asked(session) if session else None
        if session is None or not asked:
            return session
        # One that is not known may have been made a moment ago, elsewhere.
        keys = await self._keys.get("", lambda kept: asked <= {record.view.key_id for record in kept.keys})
        return ended_with_keys(session, keys)

    async def _look(self, session_id: str) -> SessionAccess | None:
        handle = self._client.temporal.get_workflow_handle(session_workflow_id(session_id))
        # One that was ended by force never said that it is closed.
        reject = QueryRejectCondition.NOT_COMPLETED_CLEANLY
        try:
            return await self._ask(
                lambda: handle.query(Workflows.ACCESS, result_type=SessionAccess, reject_condition=reject), handle.id
            )
        except WorkflowQueryRejectedError:
            return None
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND:
                return None
            raise

    async def _update(self, session_id: str, name: str, arg: object, update_id: str) -> GrantView:
        handle = self._client.temporal.get_workflow_handle(session_workflow_id(session_id))
        try:
            return await self._ask(
                lambda: handle.execute_update(name, arg, id=update_id, result_type=GrantView), handle.id, receipt=True
            )
        finally:
            self._sessions.forget(session_id)


def _granted(session: SessionAccess | None, token: str) -> list[GrantRecord]:
    digest = token_hash(token)
    return [r for r in session.grants if hmac.compare_digest(r.sha256, digest)] if session else []


def _refusal(record: GrantRecord, session: SessionAccess) -> HandoffError | None:
    """Why a grant that is known lets nobody in now."""
    grant = record.view
    code = why_over(grant, session)
    if code is None:
        return None
    if code is ErrorCode.STALE_VERSION:
        what = f"The grant is for version {grant.require_version} of the session, which has version {session.version}."
        do_next = "Look at the session as it stands, and have a grant issued for that version."
        return _over(code, what, do_next, grant, version=session.version)
    return _over(code, *_OVER[code], grant)


_OVER: Final = {
    ErrorCode.SESSION_CLOSED: ("The session is closed.", "Open another session."),
    ErrorCode.GRANT_REVOKED: ("The grant was taken back, or the key that it was issued with.", "Have another issued."),
    ErrorCode.GRANT_EXPIRED: ("The grant's time is over.", "Have another issued."),
    ErrorCode.AUTH_CONTEXT_CHANGED: ("A person has signed in since the grant was issued.", "Have another issued."),
}
"""What to say of a grant that is over, and what to do."""


def _over(code: ErrorCode, what: str, do_next: str, grant: GrantView, **details: int) -> HandoffError:
    return make_error(code, what, holds="Nothing was done.", do_next=do_next, grant_id=grant.grant_id, **details)


def _closed(session_id: str) -> HandoffError:
    return make_error(
        ErrorCode.SESSION_CLOSED,
        "This session is closed.",
        holds="Nothing was granted.",
        do_next="Open another.",
        session_id=session_id,
    )


def _unknown_grant() -> HandoffError:
    return make_error(
        ErrorCode.GRANT_UNKNOWN,
        "There is no such grant.",
        holds="Nothing was done.",
        do_next="Have one issued for an open session.",
    )
