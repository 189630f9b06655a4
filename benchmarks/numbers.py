"""Times, and what is said of them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Times:
    """How long something took, again and again; seconds."""

    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Take the time of the block; one that raises does not count."""
        began = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - began)

    def percentile(self, percent: float) -> float:
        """The time that so many of a hundred are not above."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

    def milliseconds(self, percent: float) -> float:
        """The percentile in milliseconds, rounded to what a clock can tell."""
        return round(self.percentile(percent) * 1e3, 2)

    def microseconds(self, percent: float) -> float:
        """The percentile in microseconds."""
        return round(self.percentile(percent) * 1e6, 1)
