"""The kill matrix: who is killed, when, and what must come of it."""

from dataclasses import dataclass
from enum import StrEnum


class Victim(StrEnum):
    """Which process is killed (SIGKILL)."""

    SERVER = "server"
    """The server worker with the gateway."""
    RUNNER = "runner"
    TEMPORAL = "temporal"
    DISPLAY = "display"
    """The keeper of the virtual display."""
    HOST = "host"
    """The browser's host."""
    CHROMIUM = "chromium"
    AGENT = "agent"
    """The worker that runs the agent's workflow."""

    @property
    def has_the_browser(self) -> bool:
        """True where the browser dies with it."""
        return self in (Victim.DISPLAY, Victim.HOST, Victim.CHROMIUM)


class Step(StrEnum):
    """Where the handoff stands in that moment."""

    BEGIN = "begin"
    """Begin is in flight: the reservation is published, and an effect that was admitted before is waited for."""
    HELD = "held"
    TYPING = "typing"
    """The person types."""
    FINISHING = "finishing"
    """The person has answered, and the desktop has yet to take the browser back."""
    RECOVERING = "recovering"
    """The agent has yet to look again."""
    VERIFIED = "verified"
    """The outcome was observed, and the agent is about to go on."""


GOES_ON = "verified, same browser"
REVOKED = "revoked (browser_crashed), agent told revoked"
_NOT_BEGUN = "refused (browser_gone), agent told browser_gone"
_AFTERWARDS = "verified, agent told browser_gone"


def expected(victim: Victim, step: Step) -> str:
    """What must come of it."""
    if not victim.has_the_browser:
        return GOES_ON
    return {Step.BEGIN: _NOT_BEGUN, Step.VERIFIED: _AFTERWARDS}.get(step, REVOKED)


@dataclass(frozen=True)
class Cell:
    """What was seen of one kill.

    Attributes:
        victim: Who was killed.
        step: When.
        outcome: How the handoff and the agent ended.
        refused: The agent's effects that were refused while the desktop was reserved.
        admitted: Those that were done while it was: there must be none.
        left: What was still there after the browser had been closed.
        seconds: From the kill to the agent's end.
    """

    victim: Victim
    step: Step
    outcome: str
    refused: int
    admitted: int
    left: tuple[str, ...]
    seconds: float

    @property
    def as_expected(self) -> bool:
        """True where nothing differs from what must come of it."""
        return self.outcome == expected(self.victim, self.step) and not self.admitted and not self.left


def all_cells() -> list[tuple[Victim, Step]]:
    """Every cell, the steps of one victim after the other."""
    return [(victim, step) for victim in Victim for step in Step]


def parse_cell(text: str) -> tuple[Victim, Step]:
    """Read a cell's name, such as ``runner:held``.

    Raises:
        ValueError: There is no such cell.
    """
    victim, _, step = text.partition(":")
    return Victim(victim), Step(step)
