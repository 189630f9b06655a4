"""What a desktop remembers of a hold, so that the next runner finds it."""

import time
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from user_handoff.contract.base import Id, Model
from user_handoff.contract.handoff import BeginReceipt, FinishReceipt, HoldEnd, RevokeReason, Surface
from user_handoff.contract.ids import Association
from user_handoff.contract.takeover import Cause, Role, TakeoverEnd
from user_handoff.desktop.handoff.changes import Inventory
from user_handoff.desktop.reservation.rows import Kind


class Phase(StrEnum):
    """Where a hold stands on its desktop."""

    BEGINNING = "beginning"
    HELD = "held"
    EXPIRED = "expired"
    RETURNING = "returning"
    """A takeover is over: nothing more is typed under it, and the agent still waits."""
    RECOVERING = "recovering"
    RECOVERED = "recovered"
    CLOSED = "closed"
    REVOKED = "revoked"

    @property
    def ended(self) -> bool:
        """True where nothing is held any more."""
        return self in (Phase.RECOVERED, Phase.CLOSED, Phase.REVOKED)


class Taken(Model):
    """What is kept of a hold that a person took, rather than was asked for."""

    role: Role
    cause: Cause
    why: str = ""
    until: float
    """Its deadline by the wall clock too, which goes on while a machine sleeps; seconds since 1970."""
    began: float
    """On the monotonic clock."""
    lease_id: str = ""
    how: TakeoverEnd | None = None
    note: str = ""
    seconds: float = 0.0


class HoldRecord(Model):
    """One hold. Ids, states and times: no contents, no secrets."""

    handoff_id: str
    browser_id: Id
    session_id: Id
    message_id: Id
    owner: str
    phase: Phase
    fence: str
    deadline: float
    """On the machine's monotonic clock, which every process of one boot shares; seconds."""
    begin: BeginReceipt | None = None
    finish: FinishReceipt | None = None
    reason: RevokeReason | None = None
    before: Inventory | None = None
    """What the browser had when it began."""
    taken: Taken | None = None
    """Of a takeover; None: a handoff."""

    @property
    def kind(self) -> Kind:
        """Who asked: the agent for a person, or the person."""
        return "handoff" if self.taken is None else "takeover"

    @property
    def association(self) -> Association:
        """What the hold is about."""
        return Association(self.browser_id, self.session_id, self.message_id)

    @property
    def seconds_left(self) -> float:
        """Until the hold expires; never below zero."""
        left = self.deadline - time.monotonic()
        if self.taken is not None:  # whichever clock is first: one may have been set, the other may have slept
            left = min(left, self.taken.until - time.time())
        return max(0.0, left)

    @property
    def protects_from_idle(self) -> bool:
        """True while an unused browser must not be closed."""
        return self.phase in (Phase.BEGINNING, Phase.HELD, Phase.RETURNING, Phase.RECOVERING)

    def receipt(self) -> BeginReceipt:
        """The receipt of begin, with the time that is left now.

        Raises:
            ValueError: The hold never began.
        """
        if self.begin is None:
            raise ValueError("the hold never began")
        return self.begin.model_copy(update={"expires_in_seconds": round(self.seconds_left, 3)})

    def held(self, surface: Surface, begin_pages: tuple[object, ...]) -> "HoldRecord":
        """The record once the hold stands."""
        left = self.seconds_left
        begin = BeginReceipt.model_validate(
            {
                "handoff_id": self.handoff_id,
                "handoff_fence": self.fence,
                "surface": surface,
                "expires_at": datetime.now(UTC) + timedelta(seconds=left),
                "expires_in_seconds": round(left, 3),
                "pages": begin_pages,
            }
        )
        return self.moved(Phase.HELD, begin=begin)

    def moved(self, phase: Phase, **changes: object) -> "HoldRecord":
        """The record in another phase."""
        return self.model_copy(update={"phase": phase, **changes})

    def end(self) -> HoldEnd | None:
        """How the hold ended, or None while it stands."""
        match self.phase:
            case Phase.RECOVERED:
                return HoldEnd(handoff_id=self.handoff_id, how="recovered")
            case Phase.CLOSED:
                return HoldEnd(handoff_id=self.handoff_id, how="closed")
            case Phase.REVOKED:
                return HoldEnd(handoff_id=self.handoff_id, how="revoked", reason=self.reason)
            case _:
                return None
