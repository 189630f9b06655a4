"""What the tests of evidence share."""

from pathlib import Path
from typing import Any

from user_handoff.desktop.evidence.chain import record_of
from user_handoff.desktop.evidence.folder import lines, segments
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.evidence.verify import Verdict, Verifier

SECONDS = 10.0


def records(folder: Path) -> list[dict[str, Any]]:
    """Every record of a folder, in order."""
    return [record_of(line) for segment in segments(folder) for line, _ in lines(segment)]


def verify(place: Path, known: str | None = None) -> Verdict:
    return Verifier(place, known).verify()


def keep(folder: Path, *events: str, segment_bytes: int | None = None, **facts: Any) -> None:
    """Note events in a store of their own, and end it."""
    evidence = Evidence(folder, "d_1")
    if segment_bytes is not None:
        evidence.writer.segment_bytes = segment_bytes
    for event in events:
        evidence.note(event, **facts)
        assert evidence.wait_written(SECONDS)
    evidence.close()
