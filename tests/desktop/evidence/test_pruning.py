"""Old evidence goes in whole segments, and what is left still verifies."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.evidence.support import SECONDS, keep, records, verify
from user_handoff.desktop.evidence import pruning
from user_handoff.desktop.evidence.events import REMOVED
from user_handoff.desktop.evidence.folder import segments
from user_handoff.desktop.evidence.store import Evidence

PICTURE = b"picture" * 100
DAY = 86_400.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six records in three segments; a picture belongs to the first."""
    folder = tmp_path / "evidence"
    evidence = Evidence(folder, "d_1")
    evidence.writer.segment_bytes = 500
    evidence.keep_picture(PICTURE, "picture_before", browser_id="b_1", about="handoff/b_1/s_1/m_1")
    assert evidence.wait_written(SECONDS)
    evidence.close()
    keep(folder, *["hold_held"] * 5, browser_id="b_1", about="handoff/b_1/s_1/m_1", segment_bytes=500)
    assert len(segments(folder)) == 3 and len(list((folder / "pictures").iterdir())) == 1
    return folder


def prune(folder: Path, keep_seconds: float | None, most_bytes: int | None) -> list[dict[str, Any]]:
    evidence = Evidence(folder, "d_1")
    evidence.prune(keep_seconds, most_bytes)
    assert evidence.wait_written(SECONDS)
    evidence.close()
    assert verify(folder).problem is None
    return records(folder)


def pretend(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    """Let the pruning's clock be so far on."""
    now = datetime.now(UTC).timestamp() + days * DAY
    monkeypatch.setattr("user_handoff.desktop.evidence.pruning.time.time", lambda: now)


def test_nothing_goes_before_its_time(folder: Path) -> None:
    """B10."""
    assert len(prune(folder, DAY, 1_000_000)) == 6
    assert len(prune(folder, None, None)) == 6


def test_what_is_too_old_goes_with_its_pictures_and_the_chain_still_holds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B10, F7: a record says how many went, and how the last of them ended."""
    last = records(folder)[-1]
    pretend(monkeypatch, 2)
    left = prune(folder, DAY, None)
    assert [record["event"] for record in left] == [REMOVED] * 3
    assert left[-1]["facts"] == {"records": 2, "last": 6, "last_hash": last["hash"]}
    assert not list((folder / "pictures").iterdir())
    assert verify(folder).remarks == ["The records before 7 were deleted in their time."]
    keep(folder, "runner_start")
    assert verify(folder).good
    assert len(prune(folder, DAY, None)) == 4, "what says so is not replaced again and again"


def test_of_too_much_the_oldest_goes(folder: Path) -> None:
    """B10."""
    left = prune(folder, None, pruning.size(folder) - 1)
    assert [record["n"] for record in left] == [3, 4, 5, 6, 7]
    assert not list((folder / "pictures").iterdir())


def test_a_picture_that_another_record_names_too_stays(folder: Path) -> None:
    """F7."""
    evidence = Evidence(folder, "d_1")
    evidence.keep_picture(PICTURE, "picture_after", browser_id="b_1", about="handoff/b_1/s_1/m_1")
    assert evidence.wait_written(SECONDS)
    evidence.close()
    prune(folder, None, pruning.size(folder) - 1)
    assert len(list((folder / "pictures").iterdir())) == 1


def test_deleting_that_was_cut_off_leaves_a_chain_that_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F7: it was said, and not done."""
    pretend(monkeypatch, 2)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(OSError("no")))
    evidence = Evidence(folder, "d_1")
    evidence.prune(DAY, None)
    evidence.wait_written(SECONDS)
    evidence.close()
    assert verify(folder).good and len(records(folder)) == 7


def test_a_picture_that_was_changed_or_taken_away_is_named(folder: Path) -> None:
    """F7."""
    picture = next((folder / "pictures").iterdir())
    picture.write_bytes(PICTURE + b"x")
    assert verify(folder).problem == "the picture of record 1 was changed"
    picture.unlink()
    assert verify(folder).problem == "the picture of record 1 is missing"
