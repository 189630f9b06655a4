"""The rules of a session's grants, and its audit: whom it lets in, until when, and what they asked for."""

from datetime import datetime, timedelta

from pydantic import ConfigDict, Field

from user_handoff.contract.access import (
    AUDIT_KEPT,
    AuditBatch,
    AuditEntry,
    GrantRecord,
    GrantView,
    IssueGrant,
    RevokeGrant,
)
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.session import SessionView

MAX_GRANTS = 64
"""A session that has so many that are valid refuses the next one."""

MAX_ENDED = 64
"""How many grants that are over are kept, so that it can be said why; older ones are unknown then."""

MAX_BATCHES = 50
"""How many batches of the audit are remembered, so that none is noted twice."""


class Grants(Model):
    """What is kept, as it outlives a run of its workflow. It knows no Temporal: the time is given."""

    model_config = ConfigDict(frozen=False)

    auth_version: int = 0
    records: dict[str, GrantRecord] = Field(default_factory=dict)
    calls: int = 0
    entries: tuple[AuditEntry, ...] = ()
    batches: tuple[str, ...] = ()

    # --- grants ---

    def refusal(self, grant: IssueGrant, session: SessionView, now: datetime) -> HandoffError | None:
        """Why this is not granted. Changes nothing."""
        known = self.records.get(grant.grant_id)
        if grant.owner != session.owner:
            return _refused(session, ErrorCode.NOT_OWNER, "The session is somebody else's.", "Use one of your own.")
        if known is not None and known.sha256 == grant.sha256:
            return None
        if session.closed:
            return _refused(session, ErrorCode.SESSION_CLOSED, "This session is closed.", "Open another.")
        if known is not None:
            return _refused(session, ErrorCode.INVALID_REQUEST, "This grant's id is taken.", "Mint another id.")
        if grant.require_version not in (None, session.version):
            what = f"The session's version is {session.version}."
            return _refused(session, ErrorCode.STALE_VERSION, what, "Look at the session as it stands; then ask again.")
        if sum(_valid(record.view, now) for record in self.records.values()) >= MAX_GRANTS:
            what = f"This session has {MAX_GRANTS} grants, and takes no more."
            return _refused(session, ErrorCode.INVALID_REQUEST, what, "Revoke one, or wait until some expire.")
        return None

    def issue(self, grant: IssueGrant, session: SessionView, now: datetime) -> GrantView:
        """Remember what was not refused; issued again under its id, it is the same one."""
        if grant.grant_id not in self.records:
            view = GrantView(
                grant_id=grant.grant_id,
                session_id=session.session_id,
                owner=session.owner,
                scopes=session.scopes,
                capabilities=grant.capabilities,
                projections=grant.projections,
                expires_at=now + timedelta(seconds=grant.expires_in_seconds),
                require_version=grant.require_version,
                auth_version=self.auth_version,
                key_id=grant.key_id,
            )
            self.records[grant.grant_id] = GrantRecord(view=view, sha256=grant.sha256)
            self._forget(now)
            self.note(now, grant.by or "owner", "grant", f"issue {grant.grant_id}")
        return self.records[grant.grant_id].view

    def find(self, revoke: RevokeGrant) -> GrantRecord | None:
        """The grant that is to be taken back."""
        if revoke.grant_id is not None:
            return self.records.get(revoke.grant_id)
        return next((record for record in self.records.values() if record.sha256 == revoke.sha256), None)

    def revoke(self, revoke: RevokeGrant, now: datetime) -> GrantView:
        """Take one back that there is; taken back again, it stays so."""
        record = self.find(revoke)
        assert record is not None
        view = record.view.model_copy(update={"revoked": True})
        if not record.view.revoked:
            self.records[view.grant_id] = record.model_copy(update={"view": view})
            self.note(now, revoke.by or "owner", "grant", f"revoke {view.grant_id}")
        return view

    def signed_in(self, now: datetime) -> None:
        """Bind what is granted from now on to another auth context."""
        self.auth_version += 1
        self.note(now, "handoff", "session", f"signed in {self.auth_version}")

    def _forget(self, now: datetime) -> None:
        over = [grant_id for grant_id, record in self.records.items() if not _valid(record.view, now)]
        for grant_id in over[: max(0, len(over) - MAX_ENDED)]:
            del self.records[grant_id]

    # --- audit ---

    def take(self, batch: AuditBatch) -> None:
        """Note calls, once."""
        if batch.batch_id in self.batches:
            return
        self.batches = (*self.batches, batch.batch_id)[-MAX_BATCHES:]
        for entry in batch.entries:
            self._add(entry)

    def note(self, now: datetime, who: str, tool: str, action: str) -> None:
        """Note what this session did itself."""
        self._add(AuditEntry(at=now, who=who, tool=tool, action=action[:100], outcome="completed"))

    def _add(self, entry: AuditEntry) -> None:
        self.calls += 1
        self.entries = (*self.entries, entry.model_copy(update={"number": self.calls}))[-AUDIT_KEPT:]


class Carried(Model):
    """What a run of a session leaves to the next."""

    view: SessionView
    grants: Grants


def _valid(view: GrantView, now: datetime) -> bool:
    return not view.revoked and view.expires_at > now


def _refused(session: SessionView, code: ErrorCode, what: str, do_next: str) -> HandoffError:
    return make_error(
        code,
        what,
        holds="Nothing was granted.",
        do_next=do_next,
        session_id=session.session_id,
        version=session.version,
    )
