"""Who asked what, what came back, and how long it took: kept by a client of any door, also by a workflow."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from tests.transcripts.telling import tell
from user_handoff.contract.base import Model
from user_handoff.contract.errors import HandoffError

T = TypeVar("T")


class Step(Model):
    """One question and its answer."""

    at: float
    """Seconds of the clock of all parts, when it was asked."""
    seconds: float
    who: str
    asks: str
    came: str


class Log:
    """The steps of one client, in order.

    Args:
        who: What the client is called.
        clock: Seconds since the epoch: `time.time`, or `workflow.time` in a workflow.
    """

    def __init__(self, who: str, clock: Callable[[], float]) -> None:
        self.steps: list[Step] = []
        self._who = who
        self._clock = clock

    async def ask(self, asks: str, call: Awaitable[T], told: Callable[[T], Any] = lambda found: found) -> T:
        """Ask, and keep what came: `told` picks what is worth telling."""
        began = self._clock()
        found = await call
        self._keep(asks, told(found), began)
        return found

    async def refused(self, asks: str, call: Awaitable[object]) -> None:
        """Ask for what must be refused.

        Raises:
            AssertionError: It was done.
        """
        began = self._clock()
        try:
            await call
        except HandoffError as error:
            self._keep(asks, error.to_dict(), began)
            return
        raise AssertionError(f"not refused: {asks}")

    def _keep(self, asks: str, came: Any, began: float) -> None:
        seconds = self._clock() - began
        self.steps.append(Step(at=began, seconds=seconds, who=self._who, asks=asks, came=tell(came)))
