"""Who calls: principals by their keys, agents by the grants of a session."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.session import Scope

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

Capability = Literal[
    "control_browser",
    "observe_browser",
    "control_computer",
    "observe_computer",
    "post_message",
    "read_reply",
    "wait",
    "issue_browser_url",
]
"""A tool that a grant allows."""

GRANT_SECONDS = 900.0
"""How long a grant lasts unless it says otherwise."""

AUDIT_KEPT = 200
"""How many of a session's last calls are kept."""

Who = Annotated[str, StringConstraints(max_length=100)]
"""A short name: of a caller, a tool, an action or a code. Never a value."""


class CreateKey(Model):
    """Remember a principal's key by its hash."""

    key_id: Id
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    sha256: Sha256
    scopes: tuple[Scope, ...]


class KeyView(Model):
    """A key, without what would let anyone use it."""

    key_id: Id
    name: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    revoked_at: datetime | None = None


class KeyRecord(Model):
    """A key as it is kept: with the hash, which lets nobody in."""

    view: KeyView
    sha256: Sha256


class Keys(Model):
    """All keys of an installation."""

    keys: tuple[KeyRecord, ...] = ()


class RevokeKey(Model):
    """Let nobody in with this key any more."""

    key_id: Id


class Principal(Model):
    """Who a key belongs to."""

    name: str
    """The owner of sessions and browsers that are made with it."""
    scopes: tuple[Scope, ...]
    key_id: Id


class IssueGrant(Model):
    """Let an agent into one session, for a while."""

    grant_id: Id
    sha256: Sha256
    owner: str
    """Who must own the session."""
    by: Who = ""
    """Who issues it, for the audit; none: the owner."""
    key_id: Id | None = None
    """The key that it is issued with, and ends with; None: with none, and it ends by itself alone."""
    capabilities: Literal["all"] | tuple[Capability, ...] = "all"
    projections: tuple[str, ...] = ()
    """Fields of results that the agent gets; none: all of them."""
    expires_in_seconds: float = Field(default=GRANT_SECONDS, gt=0, le=86_400)
    require_version: int | None = Field(default=None, ge=0)
    """The session's version that the agent has seen; calls are refused with `stale_version` once it is another."""


class GrantView(Model):
    """A grant, without what would let anyone use it."""

    grant_id: Id
    session_id: Id
    owner: str
    scopes: tuple[Scope, ...]
    capabilities: Literal["all"] | tuple[Capability, ...]
    projections: tuple[str, ...]
    expires_at: datetime
    require_version: int | None
    auth_version: int
    """How many times the person had signed in for this session when the grant was issued."""
    key_id: Id | None = None
    """The key that it was issued with, and ends with."""
    revoked: bool = False


class GrantRecord(Model):
    """A grant as it is kept: with the hash of its token, which lets nobody in."""

    view: GrantView
    sha256: Sha256


class RevokeGrant(Model):
    """Take a grant back, by its id or by the hash of its token."""

    grant_id: Id | None = None
    sha256: Sha256 | None = None
    by: Who = ""


class SessionAccess(Model):
    """What a session tells the doors: whom it lets in, and what holds now."""

    session_id: Id
    owner: str
    closed: bool
    version: int
    auth_version: int
    grants: tuple[GrantRecord, ...] = ()


def keys_asked(session: SessionAccess) -> set[str]:
    """The keys that have to stand for some grant of the session to stand."""
    return {each.view.key_id for each in session.grants if each.view.key_id is not None and not each.view.revoked}


def ended_with_keys(session: SessionAccess, keys: Keys) -> SessionAccess:
    """The session with those grants taken back whose key lets nobody in now: it was revoked, or there is none."""
    ended = keys_asked(session) - {each.view.key_id for each in keys.keys if each.view.revoked_at is None}
    grants = tuple(
        each.model_copy(update={"view": each.view.model_copy(update={"revoked": True})})
        if each.view.key_id in ended
        else each
        for each in session.grants
    )
    return session.model_copy(update={"grants": grants})


def why_over(grant: GrantView, session: SessionAccess) -> ErrorCode | None:
    """Why a grant that is known lets nobody in now; None where it does."""
    if session.closed:
        return ErrorCode.SESSION_CLOSED
    if grant.revoked:
        return ErrorCode.GRANT_REVOKED
    if grant.expires_at <= datetime.now(UTC):
        return ErrorCode.GRANT_EXPIRED
    if grant.auth_version != session.auth_version:
        return ErrorCode.AUTH_CONTEXT_CHANGED
    return None if grant.require_version in (None, session.version) else ErrorCode.STALE_VERSION


class SignedIn(Model):
    """A person has signed in for this session: what was granted before is for another auth context."""

    handoff_id: str


class AuditEntry(Model):
    """One call, without the values that a person typed."""

    number: int = 0
    """Counts the calls of a session from 1; given by the session."""
    at: datetime
    who: Who
    tool: Who
    action: Who
    outcome: Who
    """``completed``, or the code of the refusal."""


class AuditBatch(Model):
    """Several calls at once, in order."""

    batch_id: Id
    """Sent again under the same id, they are noted once."""
    entries: Annotated[tuple[AuditEntry, ...], Field(max_length=AUDIT_KEPT)]


class Audit(Model):
    """The last calls of a session, in order."""

    entries: tuple[AuditEntry, ...] = ()
