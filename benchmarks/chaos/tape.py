"""What a process did and when, in memory that it shares: what it wrote last is there also after it was killed."""

import mmap
import time
from pathlib import Path
from typing import NamedTuple

RECORDS = 1 << 20
_HEADER = 8
_IN_PERMIT, _STOP, _REFUSED, _CONTENDED, _FAILED, _COUNT = range(6)


class Interval(NamedTuple):
    """From its beginning to the last moment at which its process was seen in it; nanoseconds, monotonic clock."""

    began: int
    last: int


class Tape:
    """The intervals of one process in a file of its own: written by that process, read by any."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Args:
            path: The file; it stays small where little is written, since it has holes.
        """
        size = 8 * (_HEADER + 2 * RECORDS)
        with path.open("a+b") as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)
        self._cells = memoryview(self._memory).cast("q")

    def begin(self) -> None:
        """An interval begins now."""
        count = self._cells[_COUNT]
        now = time.monotonic_ns()
        self._cells[_HEADER + 2 * count] = now
        self._cells[_HEADER + 2 * count + 1] = now
        self._cells[_COUNT] = count + 1

    def go_on(self) -> int:
        """The interval goes on at this moment; returns how long it has lasted, nanoseconds."""
        place = _HEADER + 2 * (self._cells[_COUNT] - 1)
        now = time.monotonic_ns()
        self._cells[place + 1] = now
        return now - self._cells[place]

    @property
    def intervals(self) -> list[Interval]:
        """All of them, in order."""
        places = range(_HEADER, _HEADER + 2 * self._cells[_COUNT], 2)
        return [Interval(self._cells[place], self._cells[place + 1]) for place in places]

    @property
    def count(self) -> int:
        """How many intervals there are."""
        return self._cells[_COUNT]

    @property
    def stopped(self) -> bool:
        """True where the process is to end: it was told to, or the tape is full."""
        return bool(self._cells[_STOP]) or self._cells[_COUNT] >= RECORDS

    def stop(self) -> None:
        """Tell the process to end."""
        self._cells[_STOP] = 1

    @property
    def in_permit(self) -> bool:
        """True while the process surely has a permit in the ledger."""
        return bool(self._cells[_IN_PERMIT])

    @in_permit.setter
    def in_permit(self, is_in: bool) -> None:
        self._cells[_IN_PERMIT] = is_in

    def refuse(self) -> None:
        """Count an effect that was refused."""
        self._cells[_REFUSED] += 1

    @property
    def refused(self) -> int:
        """How many effects were refused."""
        return self._cells[_REFUSED]

    def contend(self) -> None:
        """Count a hold that found effects in flight when it was published."""
        self._cells[_CONTENDED] += 1

    @property
    def contended(self) -> int:
        """How many holds found effects in flight."""
        return self._cells[_CONTENDED]

    def fail(self) -> int:
        """Count a hold that was not reached; returns how many."""
        self._cells[_FAILED] += 1
        return self._cells[_FAILED]

    @property
    def failed(self) -> int:
        """How many holds were not reached."""
        return self._cells[_FAILED]
