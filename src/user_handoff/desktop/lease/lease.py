"""What a lease is."""

from dataclasses import dataclass
from typing import Literal

TTL_SECONDS = 30.0
"""A lease that is not renewed ends after this."""

HEARTBEAT_SECONDS = 5.0
"""How often its holder renews it."""

Cause = Literal["view", "takeover"]
"""Why somebody has control: they were asked and act through the view, or they took over."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Control over a desktop's input, for a while. All times are on the machine's monotonic clock, in seconds.

    Attributes:
        subject: What it is about: a desktop has one pointer and one keyboard, so usually the desktop.
        lease_id: Its id: another for each taking.
        holder: Who has it, under an id that was minted for them.
        about: What it serves, such as the id of a handoff.
        cause: Why they have it.
        version: Raised by each renewal: a renewal of an older version is refused.
        expires: When it ends unless it is renewed.
        deadline: When it ends whatever happens.
    """

    subject: str
    lease_id: str
    holder: str
    about: str
    cause: Cause
    version: int
    expires: float
    deadline: float

    @property
    def ends(self) -> float:
        """When it ends, as things stand."""
        return min(self.expires, self.deadline)

    def live(self, now: float) -> bool:
        """True while it stands at this moment."""
        return now < self.ends
