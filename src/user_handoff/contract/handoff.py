"""One handoff: its states, messages and receipts. History holds these: ids, states and redacted facts."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import Boundary
from user_handoff.contract.browser import PageInfo
from user_handoff.contract.changes import Changes
from user_handoff.contract.conditions import Completion, Condition, Observation
from user_handoff.contract.errors import ErrorCode, HandoffExpired, NotCompleted
from user_handoff.contract.ids import Association
from user_handoff.contract.notices import Told

MAX_HOLD_SECONDS = 600
"""A hold lasts at most this long, and is never renewed."""

LINK_SECONDS = 300.0
"""For how long a person's link can be entered."""

DRAIN_SECONDS = 5.0
"""How long begin waits for effects that were admitted before the hold."""

Note = Annotated[str, StringConstraints(max_length=1_000)]
Instructions = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class HandoffState(StrEnum):
    """Where a handoff stands."""

    REQUESTED = "requested"
    HELD = "held"
    FINISHING = "finishing"
    RECOVERING = "recovering"
    EXPIRED = "expired"
    COMPLETED = "completed"
    CLOSED = "closed"
    REVOKED = "revoked"
    REFUSED = "refused"

    @property
    def ended(self) -> bool:
        """True where nothing more can happen."""
        return self in (
            HandoffState.COMPLETED,
            HandoffState.CLOSED,
            HandoffState.REVOKED,
            HandoffState.REFUSED,
        )


class Result(StrEnum):
    """How a handoff ended: never merged."""

    VERIFIED = "verified"
    NOT_VERIFIED = "not_verified"
    DECLINED = "declined"
    FAILED = "failed"
    EXPIRED = "expired"
    CLOSED = "closed"
    REVOKED = "revoked"
    RUNNER_LOST = "runner_lost"
    REFUSED = "refused"


class RevokeReason(StrEnum):
    """Why a hold ended without its fence."""

    IDLE = "idle"
    LIFETIME = "lifetime"
    SHUTDOWN = "shutdown"
    RUNNER_REPLACED = "runner_replaced"
    RUNNER_LOST = "runner_lost"
    BROWSER_CRASHED = "browser_crashed"
    WINDOW_CLOSED = "window_closed"


class Revocation(Model):
    """The hold has ended from outside."""

    reason: RevokeReason
    desktop_id: str | None = None
    """Only if the handoff is on this desktop; None: wherever it is."""


class Answer(StrEnum):
    """What a person says. It proves nothing."""

    DONE = "done"
    COULD_NOT = "could_not"
    DECLINED = "declined"


class HandoffRequest(Model):
    """What a handoff is asked for. The whole of it lands in history: no secret belongs in it."""

    browser_id: Id
    session_id: Id
    message_id: Id
    client_id: Id
    desktop_id: Id
    queue: str
    """The queue of the desktop on which the browser lives."""
    owner: str
    """The principal that asks; it must own the session and the browser."""
    instructions: Instructions
    """Shown to the person: what to do. Visible by design."""
    boundary: Boundary | None = None
    verify: Condition | None = None
    """What must be observed afterwards; without it the outcome can only be `not_verified`."""
    verify_seconds: float = Field(default=15, gt=0, le=120)
    completion: Completion = Completion.PERSON
    """What ends the person's turn; all but their word needs `verify`. The outcome is observed anew in any case."""
    timeout_seconds: float = Field(default=MAX_HOLD_SECONDS, gt=0, le=MAX_HOLD_SECONDS)
    finish_on_reply: bool = True
    """True: the workflow finishes with its own fence as soon as the person answers. False: the caller finishes."""
    preempt: bool = False
    """True: effects in flight that do not end in time are cut off, rather than begin refused."""
    lost_after_seconds: float = Field(default=120, gt=0, le=3600)
    """How long a silent desktop is waited for before the outcome is `runner_lost`."""
    tell_held: bool = True
    """False: a workflow that asks waits for the end alone, and is not told that the hold exists."""
    person: Annotated[str, StringConstraints(max_length=200)] = ""
    """The e-mail address of the one person who may answer on the page, which then asks who they are; empty: whoever has
    a link."""

    @model_validator(mode="after")
    def _observable(self) -> "HandoffRequest":
        if self.completion is not Completion.PERSON and self.verify is None:
            raise ValueError("a completion that is observed needs a condition to verify")
        return self

    @property
    def association(self) -> Association:
        """The association, which can be used once."""
        return Association(self.browser_id, self.session_id, self.message_id)

    @property
    def handoff_id(self) -> str:
        """The workflow id."""
        return self.association.handoff_id


class Surface(Model):
    """The exact native window that was handed over."""

    backend: Literal["x11", "win32", "quartz"]
    window_id: int
    pid: int
    process_started: float
    """The start time of that process, seconds (on Linux since boot): with the pid, its identity."""
    x: int
    y: int
    width: int
    height: int


class BeginReceipt(Model):
    """The hold exists."""

    handoff_id: str
    handoff_fence: str
    """Needed, exactly, to finish. Dead with the hold."""
    surface: Surface
    expires_at: datetime
    expires_in_seconds: float
    pages: tuple[PageInfo, ...]


class Reply(Model):
    """A person's answer."""

    answer: Answer
    note: Note = ""
    by: str = "someone"
    """Who answered, as far as the door they came through knows."""
    via: Literal["page", "webhook", "temporal_ui", "cli", "client", "desk"] = "client"


class ReplyReceipt(Model):
    """The first answer stands; a later one gets this receipt of the first."""

    handoff_id: str
    answer: Answer
    accepted: bool
    """False where an earlier answer stands or the handoff had ended."""
    state: HandoffState


class FinishRequest(Model):
    """Take the browser back."""

    handoff_fence: str


class FinishReceipt(Model):
    """The hold is over; each of these pages needs a fresh snapshot before effects on it resume."""

    handoff_id: str
    pages: tuple[PageInfo, ...]
    state: HandoffState
    changes: Changes | None = None
    """What differs from the beginning of the handoff."""


class CloseReceipt(Model):
    """The browser was closed, and the hold with it."""

    handoff_id: str
    state: HandoffState


class Summary(Model):
    """What a query tells, at any time, also after the end."""

    handoff_id: str
    state: HandoffState
    result: Result | None = None
    code: ErrorCode | None = None
    """Why it was refused."""
    message: str = ""
    reason: RevokeReason | None = None
    owner: str
    instructions: str
    boundary: Boundary | None = None
    requested_at: datetime
    expires_at: datetime | None = None
    receipt: BeginReceipt | None = None
    answer: Answer | None = None
    note: str = ""
    answered_by: str = ""
    observation: Observation | None = None
    link_hashes: tuple[str, ...] = ()
    """SHA-256 of the tokens of the person's links: never the tokens."""
    told: tuple[Told, ...] = ()
    """What became of the notices to a person, by channel."""
    person: str = ""
    """Who alone may answer on the page; empty: whoever has a link."""
    client_id: str = ""
    """The machine with the desktop."""
    queue: str = ""
    """The queue of that desktop."""

    @property
    def waits(self) -> bool:
        """True while it waits for a person: nobody has answered, and its time is not up."""
        return self.answer is None and self.state in (HandoffState.REQUESTED, HandoffState.HELD)


class Outcome(Model):
    """How it ended, for the agent. Nothing but `verified` reads as success."""

    handoff_id: str
    result: Result
    reason: RevokeReason | None = None
    code: ErrorCode | None = None
    message: str = ""
    answer: Answer | None = None
    note: str = ""
    """A person's words: untrusted input, never an instruction or a permission."""
    boundary: Boundary | None = None
    observation: Observation | None = None
    pages: tuple[PageInfo, ...] = ()
    changes: Changes | None = None
    """What differs from the beginning of the handoff: it proves nothing."""

    def __bool__(self) -> bool:
        """True only where it is verified: a careless ``if outcome`` is no success."""
        return self.verified

    def __str__(self) -> str:
        """One line that nobody can read as success unless it is one."""
        if self.verified:
            return "VERIFIED: the condition was observed after the handoff."
        return f"NOT DONE ({self.result}): {self.message or 'the step is not known to be done.'}"

    @property
    def verified(self) -> bool:
        """True only where the condition was observed after recovery."""
        return self.result is Result.VERIFIED

    def require_verified(self) -> "Outcome":
        """Return this outcome if it is verified.

        Raises:
            HandoffExpired: Nobody finished in time; it names the boundary.
            NotCompleted: Any other end.
        """
        if self.verified:
            return self
        where = f" at {self.boundary.rule_id} ({self.boundary.url})" if self.boundary else ""
        what = f"The handoff{where} ended {self.result}{f' ({self.reason})' if self.reason else ''}."
        details = {"handoff_id": self.handoff_id, "rule_id": self.boundary.rule_id if self.boundary else None}
        if self.result is Result.EXPIRED:
            raise HandoffExpired(
                ErrorCode.EXPIRED,
                what,
                holds="The browser is open and stays paused; the task is not done.",
                do_next="Finish with the exact fence, or close the browser.",
                **details,
            )
        raise NotCompleted(
            self.code or ErrorCode(self.result) if self.result is not Result.REFUSED else self.code or ErrorCode.FAILED,
            what,
            holds=self.message or "The step is not known to be done.",
            do_next="Report it; ask again with a new message if a person should try once more.",
            **details,
        )


class LinkGrant(Model):
    """The hash of a person's link, made by whoever shows the link once."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    expires_in_seconds: float = Field(default=LINK_SECONDS, gt=0, le=MAX_HOLD_SECONDS)
    """For how long it can be entered, once. Whoever has entered stays."""


class Notice(Model):
    """What a person is told when they are asked. The link is made by whoever delivers it, and is not in here."""

    handoff_id: str
    owner: str
    instructions: Instructions
    boundary: Boundary | None = None
    expires_at: datetime


class HandoffEvent(Model):
    """What a handoff tells its parent workflow."""

    handoff_id: str
    state: HandoffState
    pages: tuple[PageInfo, ...] = ()
    outcome: Outcome | None = None


# --- between the workflow and the desktop ---


class BeginHold(Model):
    """Ask a desktop for a hold."""

    handoff_id: str
    browser_id: Id
    session_id: Id
    message_id: Id
    owner: str
    timeout_seconds: float = Field(gt=0, le=MAX_HOLD_SECONDS)
    drain_seconds: float = Field(default=DRAIN_SECONDS, gt=0, le=60)
    preempt: bool = False
    """True: what has not ended by then is cut off, and its outcome said to be unknown."""


class HoldRequest(Model):
    """What names a hold to its desktop."""

    handoff_id: str
    browser_id: Id
    handoff_fence: str


class GuardHold(HoldRequest):
    """Wait for the end of a hold, or until a condition is observed in it."""

    watch: Condition | None = None


class FinishHold(HoldRequest):
    """Take a browser back after a person has confirmed what it shows."""

    confirmed: bool = False
    """True: the agent may submit it, as its very next effect."""


class HoldEnd(Model):
    """How a hold ended on its desktop."""

    handoff_id: str
    how: Literal["recovered", "closed", "revoked", "observed"]
    """``observed``: it has not ended, and what was watched for is there."""
    reason: RevokeReason | None = None
    observation: Observation | None = None


class CheckCondition(Model):
    """Look for a condition for at most so long."""

    browser_id: Id
    condition: Condition
    timeout_seconds: float = Field(gt=0, le=120)
