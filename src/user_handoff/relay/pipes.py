"""Lines between processes: read up to a limit, and written whole, one after the other."""

import collections
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from user_handoff.relay.messages import FRAME_BYTES

_CHUNK: Final = 1 << 18
PART_BYTES: Final = 512
"""So much of each end of a line is kept where the rest is not read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line above the limit, of which nothing but its ends was kept."""

    head: bytes
    tail: bytes


def lines(handle: int, limit: int = FRAME_BYTES) -> Iterator[bytes | TooLong]:
    """The lines of a pipe. What stands behind the last line end is no line, and is left out."""
    line = _Growing(limit)
    while chunk := _read(handle):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            whole = line.take()
            if isinstance(whole, TooLong) or whole.strip():
                yield whole
        line.add(rest)


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, _CHUNK)
    except OSError:  # a terminal that is gone
        return b""


class _Growing:
    """A line that is being read."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._head: bytes | None = None

    def add(self, more: bytes) -> None:
        self._kept += more
        if self._head is None and len(self._kept) > self._limit:
            self._head = bytes(self._kept[:PART_BYTES])
        if self._head is not None:
            del self._kept[:-PART_BYTES]

    def take(self) -> bytes | TooLong:
        found = bytes(self._kept) if self._head is None else TooLong(self._head, bytes(self._kept))
        self._kept.clear()
        self._head = None
        return found


class Outlet:
    """The writing end of a pipe. One line at a time; whoever writes waits until it is taken."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lock = threading.Lock()
        self._gone = False

    def write(self, line: bytes) -> bool:
        """Write a line whole; False where nobody reads any more."""
        with self._lock:
            left = memoryview(line)
            while left and not self._gone:
                try:
                    left = left[os.write(self._handle, left) :]
                except OSError:
                    self._gone = True
            return not self._gone

    def close(self) -> None:
        """Say that nothing more comes."""
        with self._lock:
            if not self._gone:
                os.close(self._handle)
            self._gone = True


class Line(Generic[T]):
    """A queue of things that have a size, bounded by the sum of them."""

    def __init__(self, most: int = FRAME_BYTES) -> None:
        self._most = most
        self._size = 0
        self._things: collections.deque[tuple[T, int]] = collections.deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, thing: T, size: int) -> None:
        """Add one; waits while there is no room, but takes one of any size where it is alone."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._size or self._size + size <= self._most)
            if not self._closed:
                self._things.append((thing, size))
                self._size += size
                self._changed.notify_all()

    def close(self) -> None:
        """Add no more; what is in it is still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[T]:
        """Take one after the other; each makes room once the next is asked for."""
        size = 0
        while True:
            with self._changed:
                self._size -= size
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._things or self._closed)
                if not self._things:
                    return
                thing, size = self._things.popleft()
            yield thing
