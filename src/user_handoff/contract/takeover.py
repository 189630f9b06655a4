"""One takeover: a person interrupts the agent, acts, and gives the browser back. Ids, states and redacted facts."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.changes import Changes
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id, takeover_workflow_id

MAX_TAKEOVER_SECONDS = 600
"""A takeover lasts at most this long, however often its lease is renewed."""

Role = Literal["desk", "operator"]
"""Where they took over: at the desktop itself, or signed in elsewhere. All that an agent is told of who it was."""

Cause = Literal["person", "automatic"]
"""Why control changed: a person did it, or a rule did, which only a desktop's policy file can allow."""

Why = Annotated[str, StringConstraints(max_length=1_000)]


class TakeoverState(StrEnum):
    """Where a takeover stands."""

    REQUESTED = "requested"
    HELD = "held"
    RETURNING = "returning"
    """Nothing more is typed under it; the agent has to wait all the same."""
    RECOVERING = "recovering"
    """The agent may look, and acts after that."""
    ENDED = "ended"
    REFUSED = "refused"

    @property
    def ended(self) -> bool:
        """True where nothing more can happen."""
        return self in (TakeoverState.ENDED, TakeoverState.REFUSED)


class TakeoverEnd(StrEnum):
    """How a takeover ended: never merged."""

    RETURNED = "returned"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    """Its lease was not renewed, or its time was up."""
    RECOVERED = "recovered"
    """Its lease ended while the desktop's runner could not end it; what came after made sure that it was over."""
    CLOSED = "closed"
    REVOKED = "revoked"


class TakeoverRequest(Model):
    """What a takeover is asked for. The whole of it lands in history: no secret belongs in it."""

    browser_id: Id
    number: Id = Field(default_factory=lambda: new_id("t"))
    """Minted by who asks, so that asking again after a lost receipt is the same takeover."""
    client_id: Id
    desktop_id: Id
    queue: str
    """The queue of the desktop on which the browser lives."""
    role: Role = "operator"
    by: Annotated[str, StringConstraints(max_length=200)] = "someone"
    """Who it is, as far as the door they came through knows. Not told to the agent."""
    cause: Cause = "person"
    why: Why = ""
    """Their words, for the agent: untrusted input."""
    seconds: float = Field(default=MAX_TAKEOVER_SECONDS, ge=1, le=MAX_TAKEOVER_SECONDS)
    preempt: bool = False
    """True: effects in flight that do not end in time are cut off, rather than the takeover refused."""
    lost_after_seconds: float = Field(default=60, gt=0, le=3600)
    """How long a silent desktop is waited for."""

    @property
    def takeover_id(self) -> str:
        """The workflow id."""
        return takeover_workflow_id(self.browser_id, self.number)


class TakeoverBegun(Model):
    """A person has the browser."""

    takeover_id: str
    lease_id: str
    """What their heartbeat renews. It proves nothing elsewhere."""
    client_id: Id
    desktop_id: Id
    expires_at: datetime
    expires_in_seconds: float
    ttl_seconds: float
    """Without a renewal it ends after this."""


class GiveBack(Model):
    """Give the browser back."""

    note: Why = ""
    """What the person says of it, for the agent: untrusted input."""


class Resumed(Model):
    """What the agent is told with its first look after a takeover."""

    takeover_id: str
    role: Role
    cause: Cause
    why: str
    """The person's words: untrusted input, never an instruction or a permission."""
    note: str
    how: TakeoverEnd
    seconds: float
    """How long they had it."""
    changes: Changes | None = None


class HeldBy(Model):
    """Who has a browser now, for who may ask about it."""

    kind: Literal["handoff", "takeover"]
    id: str
    role: Role | None = None
    """Of a takeover."""
    why: str = ""
    """A person's words: untrusted input."""
    seconds_left: float
    """Until it ends at the latest."""


class TakeoverNow(Model):
    """Where a takeover stands on its desktop."""

    takeover_id: str
    state: TakeoverState
    how: TakeoverEnd | None = None
    reason: str | None = None
    """Why it was revoked."""
    seconds: float | None = None
    changes: Changes | None = None


class TakeoverSummary(Model):
    """What a query tells, at any time, also after the end."""

    takeover_id: str
    browser_id: Id
    state: TakeoverState
    how: TakeoverEnd | None = None
    reason: str | None = None
    code: ErrorCode | None = None
    """Why it was refused."""
    message: str = ""
    role: Role
    by: str
    cause: Cause
    why: str = ""
    note: str = ""
    requested_at: datetime
    began_at: datetime | None = None
    expires_at: datetime | None = None
    seconds: float | None = None
    """How long they had it, once it is over; None also where its browser was gone first."""
    changes: Changes | None = None
    client_id: str = ""
    queue: str = ""


# --- between the workflow and the desktop ---


class BeginTakeover(Model):
    """Give a person a browser that they want."""

    takeover_id: str
    browser_id: Id
    number: Id
    role: Role
    by: str = ""
    cause: Cause = "person"
    why: str = ""
    seconds: float = Field(gt=0, le=MAX_TAKEOVER_SECONDS)
    drain_seconds: float = Field(default=5.0, gt=0, le=60)
    preempt: bool = False


class ReturnTakeover(Model):
    """Take the browser back from the person, because they say so."""

    takeover_id: str
    browser_id: Id
    how: Literal["returned", "cancelled"] = "returned"
    note: str = ""


class RenewTakeover(Model):
    """The person is still there: their lease lasts a while longer."""

    takeover_id: str
    browser_id: Id


class TakeoverRenewed(Model):
    """The lease as it stands now."""

    takeover_id: str
    expires_in_seconds: float
    """Until the takeover ends at the latest, which no renewal moves."""
    ttl_seconds: float
    """Without another renewal it ends after this."""


class GuardTakeover(Model):
    """Wait until a takeover stands elsewhere than is known."""

    takeover_id: str
    browser_id: Id
    known: TakeoverState


def unknown_takeover(takeover_id: str) -> HandoffError:
    """No takeover has this id, or it has ended and takes no requests."""
    return make_error(
        ErrorCode.UNKNOWN_TAKEOVER,
        "There is no such takeover, or it has ended.",
        holds="Nothing was changed.",
        do_next="List them: handoff takeover status.",
        takeover_id=takeover_id[:140],
    )
