"""Who calls a tool, and what that lets them do."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from user_handoff.contract.access import AuditEntry, GrantView, Principal
from user_handoff.contract.base import Id
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import CURRENT
from user_handoff.gateway.tools.catalogue import TOOLS, ToolSpec

Caller = Principal | GrantView
"""A principal by its key, or an agent by the grant of one session."""

Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Tells a caller who waits: so far, in all, in words."""


class AccessDoor(Protocol):
    """The part of `client.access.Access` that doors need."""

    async def principal(self, key: str) -> Principal:
        """Whose key this is."""

    async def grant(self, token: str) -> GrantView:
        """What a token allows now."""

    async def revoke_grant(self, token_or_id: str, session_id: str | None = None) -> object:
        """Take a grant back."""

    async def audit(self, session_id: str, entry: AuditEntry) -> object:
        """Note one call."""


async def caller_of(access: AccessDoor, token: str) -> Caller:
    """Who has a key or the token of a grant.

    Raises:
        HandoffError: It lets nobody in; the code says why.
    """
    if token.startswith("hg_"):
        return await access.grant(token)
    if token.startswith("hk_"):
        return await access.principal(token)
    raise make_error(
        ErrorCode.UNAUTHORIZED,
        "A key or a grant is needed.",
        holds="Nothing was done.",
        do_next="Send one as a bearer token, or use the address of a grant.",
    )


def owner_of(caller: Caller) -> str:
    """The principal behind a caller."""
    return caller.name if isinstance(caller, Principal) else caller.owner


def session_of(caller: Caller) -> str | None:
    """The one session that a caller is bound to; None: any of the principal's."""
    return None if isinstance(caller, Principal) else caller.session_id


def who(caller: Caller) -> str:
    """A caller's name in the audit: enough to tell two apart, and to be neither."""
    return f"key {caller.key_id}" if isinstance(caller, Principal) else f"grant {caller.grant_id}"


def entry(caller: Caller, tool: str, action: str, outcome: str) -> AuditEntry:
    """What is noted of a call: never what a person typed, nor any other value."""
    return AuditEntry(number=0, at=datetime.now(UTC), who=who(caller), tool=tool, action=action, outcome=outcome)


def allows(caller: Caller, spec: ToolSpec) -> bool:
    """Whether a caller sees a tool, and may call it."""
    if isinstance(caller, GrantView) and caller.capabilities != "all" and spec.needs not in caller.capabilities:
        return False
    return all(scope in caller.scopes for scope in spec.scopes)


def require(caller: Caller, spec: ToolSpec) -> None:
    """Refuse a call that the caller may not make.

    Raises:
        Refused: ``forbidden`` or ``missing_scope``.
    """
    if isinstance(caller, GrantView) and caller.capabilities != "all" and spec.needs not in caller.capabilities:
        raise make_error(
            ErrorCode.FORBIDDEN,
            f"This grant does not allow {spec.name}.",
            holds="Nothing was done.",
            do_next="Use the tools that are listed, or have another grant issued.",
            capability=spec.needs,
        )
    require_scopes(caller, spec.scopes)


def require_scopes(caller: Caller, scopes: tuple[Any, ...]) -> None:
    """Refuse a caller who lacks a scope.

    Raises:
        Refused: ``missing_scope``.
    """
    missing = [str(scope) for scope in scopes if scope not in caller.scopes]
    if missing:
        raise make_error(
            ErrorCode.MISSING_SCOPE,
            f"This caller lacks {', '.join(missing)}.",
            holds="Nothing was done.",
            do_next="Ask the principal's operator for the scope.",
            missing=missing,
        )


def visible(caller: Caller) -> list[ToolSpec]:
    """The tools that a caller may call, in a fixed order."""
    return [spec for spec in TOOLS.values() if allows(caller, spec)]


def projected(caller: Caller, result: dict[str, Any]) -> dict[str, Any]:
    """Only the fields that a grant lets through, named by dotted paths such as ``page.url``; none named: all."""
    if isinstance(caller, Principal) or not caller.projections:
        return result
    picked: dict[str, Any] = _pick(result, [path.split(".") for path in caller.projections])
    return picked


def _pick(value: Any, paths: list[list[str]]) -> Any:
    if isinstance(value, list):
        return [_pick(each, paths) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, inner in value.items():
        rests = [path[1:] for path in paths if path[0] == name]
        if any(not rest for rest in rests):
            found[name] = inner
        elif rests:
            found[name] = _pick(inner, rests)
    return found


@dataclass
class Call:
    """One call of a tool, on its way.

    Attributes:
        caller: Who calls.
        given_session: What the arguments say; None: nothing.
        key: Names the request of the door; the same one again is the same effect. None: each is new.
        connection: Names who listens: what they are told of and what they read is of one session. None: nobody does.
        progress: Tells the caller how a wait goes.
        still: Raises once the caller may call no more.
        session_id: The exact session that it was about, once that is known.
    """

    caller: Caller
    given_session: str | None = None
    key: str | None = None
    connection: str | None = None
    progress: Progress | None = None
    still: Callable[[], Awaitable[object]] | None = None
    session_id: str | None = None

    def __post_init__(self) -> None:
        bound = session_of(self.caller)
        if bound is not None and self.given_session not in (None, CURRENT, bound):
            raise make_error(
                ErrorCode.FORBIDDEN,
                "This grant is for another session.",
                holds="Nothing was done.",
                do_next="Leave session_id out.",
                session_id=bound,
            )
        self.session_id = bound

    @property
    def owner(self) -> str:
        """The principal."""
        return owner_of(self.caller)

    def mint(self, prefix: str, given: Id | None = None) -> str:
        """An id of ours for what is asked: the same one where the same is asked again.

        Args:
            prefix: What it names.
            given: The caller's own id, which means nothing outside of its own session or principal.
        """
        if given is None and self.key is None:
            return new_id(prefix)
        words = (self.owner, session_of(self.caller) or "", "given" if given else "request", given or self.key or "")
        return f"{prefix}_{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:32]}"

    async def alive(self) -> None:
        """Go on only while the caller may still call."""
        if self.still is not None:
            await self.still()
