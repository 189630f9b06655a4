"""Old records go in whole segments; a record at the end says what went, so that the rest can still be verified."""

import contextlib
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from user_handoff.desktop.evidence.chain import Broken, record_of
from user_handoff.desktop.evidence.events import REMOVED
from user_handoff.desktop.evidence.folder import PICTURES, lines, picture_file, segments
from user_handoff.desktop.evidence.writer import ChainWriter, stamp


def prune(writer: ChainWriter, desktop_id: str, keep_seconds: float | None, most_bytes: int | None) -> int:
    """Delete the oldest segments that are too old, or too much. Called by the thread that writes.

    Args:
        writer: Whose chain it is.
        desktop_id: Of the desktop that deletes.
        keep_seconds: For how long records are kept; None: for ever.
        most_bytes: How much may be kept, pictures too; None: all.

    Returns:
        How many records were deleted.

    Raises:
        OSError, HandoffError: It could not be said what goes, so nothing went; or what went is said, and some is left.
    """
    found = segments(writer.folder)
    due = _due(writer.folder, found, keep_seconds, most_bytes)
    if not due:
        return 0
    if due[-1] == found[-1]:
        writer.next_segment()
    return sum(_remove(writer, desktop_id, segment) for segment in due)


def _remove(writer: ChainWriter, desktop_id: str, segment: Path) -> int:
    """Say that a segment goes, then delete it: cut off in between, the chain still holds from its old beginning."""
    records = _records(segment)
    if not records:
        return 0
    facts = {"records": len(records), "last": records[-1]["n"], "last_hash": records[-1]["hash"]}
    said = {"at": stamp(time.time()), "mono": round(time.monotonic(), 3), "desktop_id": desktop_id}
    writer.append([{**said, "event": REMOVED, "facts": facts}])
    segment.unlink()
    _forget_pictures(writer.folder, records)
    return len(records)


def size(folder: Path) -> int:
    """What the records and pictures of a folder take, in bytes."""
    pictures = folder / PICTURES
    files = [*segments(folder), *(pictures.iterdir() if pictures.is_dir() else ())]
    return sum(_bytes(file) for file in files)


def _due(folder: Path, found: list[Path], keep_seconds: float | None, most_bytes: int | None) -> list[Path]:
    """The oldest segments that go; of too much, never the last one."""
    due: list[Path] = []
    left = size(folder)
    before = None if keep_seconds is None else time.time() - keep_seconds
    for segment in found:
        old = (
            before is not None and _last_at(segment) < before and not (segment == found[-1] and _only_removals(segment))
        )
        large = most_bytes is not None and left > most_bytes and segment != found[-1]
        if not (old or large):
            break
        due.append(segment)
        left -= _bytes(segment) + sum(_bytes(picture_file(folder, each)) for each in _pictures(_records(segment)))
    return due


def _only_removals(segment: Path) -> bool:
    return all(record["event"] == REMOVED for record in _records(segment))


def _last_at(segment: Path) -> float:
    """When the last record of a segment was made; what cannot be read is not old."""
    *_, (last, _) = [(b"", True), *lines(segment)]
    with contextlib.suppress(Broken, ValueError):
        return datetime.fromisoformat(record_of(last)["at"]).timestamp()
    return time.time()


def _records(segment: Path) -> list[dict[str, Any]]:
    found = []
    for line, _ in lines(segment):
        with contextlib.suppress(Broken):
            found.append(record_of(line))
    return found


def _pictures(records: Iterable[dict[str, Any]]) -> set[str]:
    return {str(record["picture"]) for record in records if "picture" in record}


def _forget_pictures(folder: Path, gone: Iterable[dict[str, Any]]) -> None:
    """Delete the pictures of records that went, unless another record names them too."""
    doomed = _pictures(gone)
    if doomed:
        doomed -= _pictures(record for segment in segments(folder) for record in _records(segment))
    for sha256 in doomed:
        picture_file(folder, sha256).unlink(missing_ok=True)


def _bytes(file: Path) -> int:
    with contextlib.suppress(OSError):
        return file.lstat().st_size
    return 0
