"""How much one caller may ask within a time."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

_ROUNDING: Final = 1e-6

KEPT: Final = 10_000
"""Of how many names the spending is kept; whoever spent least lately is forgotten first."""


class Budgets:
    """A budget for each name, which fills up again steadily.

    Of each name one number is kept: when all that it spent will be there again. Libraries for this keep every name that
    they ever see until a clock clears them; names can be made up here, so that memory needs a bound.
    """

    def __init__(self, per_second: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Make it.

        Args:
            per_second: How fast a budget fills up.
            burst: How much is in a full one.
            clock: Tells the time, in seconds.
        """
        self._cost = 1 / per_second
        self._burst = burst * self._cost
        self._clock = clock
        self._whole: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Of how many names the spending is kept."""
        return len(self._whole)

    def wait(self, name: str) -> float:
        """How many seconds until there is enough for one more; 0: there is."""
        now = self._clock()
        seconds = self._whole.get(name, now) + self._cost - self._burst - now
        return seconds if seconds > _ROUNDING else 0.0

    def spend(self, name: str) -> None:
        """Spend one, and refuse where there is none.

        Raises:
            Refused: ``rate_limited``.
        """
        if seconds := self.wait(name):
            raise too_much("More is asked than one caller may.", seconds)
        now = self._clock()
        self._whole[name] = max(now, self._whole.pop(name, now)) + self._cost
        while len(self._whole) > KEPT:
            self._whole.popitem(last=False)


def too_much(what: str, seconds: float) -> HandoffError:
    """Too much is asked.

    Args:
        what: Of what.
        seconds: When to ask again.
    """
    return make_error(
        ErrorCode.RATE_LIMITED,
        what,
        holds="Nothing was done.",
        do_next="Ask again after the time that is named, and less often.",
        retry_after_seconds=max(1, round(seconds + 0.5)),
    )
