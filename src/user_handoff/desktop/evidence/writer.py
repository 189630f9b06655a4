"""The side of the files: records are appended, in segments, each batch whole or not at all."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from user_handoff.desktop.evidence.chain import GENESIS, Broken, line_of, record_of, sealed
from user_handoff.desktop.evidence.folder import HEAD, LOCK, PICTURES, Head, read_head, segment_name, segments
from user_handoff.desktop.state import private_folder, write_private

SEGMENT_BYTES: Final = 4_000_000
SEGMENT_SECONDS: Final = 86_400.0
"""A segment that is larger or older is followed by another: whole ones are deleted in their time."""


class ChainWriter:
    """Appends to the chain of one folder. One process at a time: the kernel's lock ends with the process."""

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.folder = folder
        self.segment_bytes = segment_bytes
        self._lock: int | None = None
        self._file: int | None = None
        self._path: Path | None = None
        self._size = 0
        self._began = 0.0
        self._head = Head(0, GENESIS)

    @property
    def head(self) -> Head:
        """The last record that was written."""
        return self._head

    @property
    def current(self) -> Path | None:
        """The segment that is written to."""
        return self._path

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records, numbered and chained to those before. All of them are there afterwards, or none.

        Args:
            records: Without `n`, `previous` and `hash`.

        Raises:
            OSError, HandoffError: They could not be kept.
        """
        self._open()
        head, lines = self._head, []
        for record in records:
            whole = sealed({**record, "n": head.n + 1, "previous": head.hash})
            lines.append(line_of(whole))
            head = Head(head.n + 1, whole["hash"])
        self._write(b"".join(lines))
        self._head = head
        with contextlib.suppress(OSError):  # the records are there: a head that is behind only notices less
            _replace(self.folder / HEAD, head.encode())

    def keep_picture(self, sha256: str, content: bytes) -> None:
        """Keep a picture under its digest.

        Raises:
            OSError, HandoffError: It could not be kept.
        """
        self._open()
        write_private(private_folder(self.folder / PICTURES) / f"{sha256}.png", content)

    def next_segment(self) -> None:
        """Have what comes next begin a segment of its own."""
        self._end_segment()

    def close(self) -> None:
        """Let go of the folder."""
        self._end_segment()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write(self, data: bytes) -> None:
        try:
            file = self._segment()
            written = 0
            while written < len(data):
                written += os.write(file, data[written:])
            os.fdatasync(file)
        except OSError:
            if self._file is not None:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, self._size)  # cutting off needs no room
            self.close()  # what is there now is read again before more is written
            raise
        self._size += len(data)

    def _segment(self) -> int:
        """The segment to write to."""
        old = self._size >= self.segment_bytes or time.time() - self._began > SEGMENT_SECONDS
        if self._file is not None and old:
            self._end_segment()
        if self._file is None:
            self._path = self.folder / segment_name(self._head.n + 1)
            self._file = os.open(
                self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            self._size, self._began = os.fstat(self._file).st_size, time.time()
        elif os.fstat(self._file).st_nlink == 0:
            raise OSError("the segment was removed")
        return self._file

    def _end_segment(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file, self._path, self._size = None, None, 0

    # --- after a restart ---

    def _open(self) -> None:
        """Lock the folder, and find where its chain ends."""
        if self._lock is not None:
            return
        private_folder(self.folder)
        lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._find_end()
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    def _find_end(self) -> None:
        """Go on after the last whole record, or after the head where that is further: what is missing stays visible."""
        known = read_head(self.folder) or Head(0, GENESIS)
        last, whole, path = None, False, None
        for path in reversed(segments(self.folder)):
            last, whole = self._read_end(path)
            if last is not None:
                break
        self._head = last if last is not None and last.n >= known.n else known
        if whole and path is not None and self._head == last:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            self._path, self._size, self._began = path, os.fstat(self._file).st_size, _began(path)

    def _read_end(self, segment: Path) -> tuple[Head | None, bool]:
        """The last record of a segment that can be read, and whether nothing else comes after it."""
        data = segment.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):  # half-written by a process that was killed, and acknowledged to nobody
            with segment.open("r+b") as file:
                file.truncate(end)
            data = data[:end]
        for number, line in enumerate(reversed(data.split(b"\n")[:-1])):
            with contextlib.suppress(Broken):
                record = record_of(line)
                return Head(record["n"], record["hash"]), number == 0
        return None, False


def _began(segment: Path) -> float:
    """When a segment was begun, by its first record."""
    with contextlib.suppress(OSError, ValueError, KeyError), segment.open("rb") as file:
        return datetime.fromisoformat(json.loads(file.readline())["at"]).timestamp()
    return time.time()


def _replace(path: Path, content: bytes) -> None:
    """Replace a small file as a whole; that it is on the disk is not waited for."""
    beside = path.with_name(f".{path.name}")
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(file, content)
    finally:
        os.close(file)
    beside.replace(path)


def stamp(seconds: float) -> str:
    """A moment as records write it: UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
