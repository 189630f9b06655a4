"""Evidence is kept through restarts and faults, and whoever notes something never waits and never fails."""

import json
import logging
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.evidence.support import SECONDS, keep, records, verify
from user_handoff.desktop.evidence.folder import HEAD, segments
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.evidence.writer import ChainWriter

CANARY = "Kanari-5ecret"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "evidence"


def test_the_chain_goes_on_over_restarts_in_private_files(folder: Path) -> None:
    """E6, F7."""
    for _ in range(3):
        keep(folder, "runner_start", "runner_stop")
    assert verify(folder).records == 6 and len(segments(folder)) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_only_listed_facts_of_their_shape_are_kept(folder: Path) -> None:
    """B7, K42: texts, addresses and whatever is not on the list are counted, and are nowhere."""
    evidence = Evidence(folder, "d_1")
    evidence.note(
        "effect_refused", browser_id="b_1", effect_id="e_1", code="browser_held", text=CANARY, seconds=1.23456
    )
    evidence.note("effect_refused", browser_id=f"https://x/?{CANARY}", effect_id=f"{CANARY} 1", code=f"a?{CANARY}")
    evidence.note("hold_held", about=f"{CANARY}\n", owner=7, seconds=float("nan"))
    evidence.note("made_up", anything=CANARY)
    evidence.note(f"not a name {CANARY}")
    evidence.close()
    kept = records(folder)
    assert kept[0]["facts"] == {"effect_id": "e_1", "code": "browser_held", "seconds": 1.235}
    assert [(record["event"], record["facts"], record.get("dropped", 0)) for record in kept[1:]] == [
        ("effect_refused", {}, 3),
        ("hold_held", {}, 3),
        ("made_up", {}, 1),
        ("unnamed", {}, 0),
    ]
    assert not [file.name for file in folder.iterdir() if CANARY.encode() in file.read_bytes()]


_KILLED = """
import itertools, sys
from pathlib import Path
from user_handoff.desktop.evidence.store import Evidence
evidence = Evidence(Path(sys.argv[1]), "d_1")
for number in itertools.count():
    evidence.note("effect_admitted", effect_id=f"e_{number}")
    if number == 20: evidence.wait_written(10), print("goes", flush=True)
    if number > 20: evidence.wait_written(10)
"""


def test_a_writer_that_is_killed_leaves_a_chain_that_holds_and_goes_on(folder: Path) -> None:
    """E6, F7: at any moment."""
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", _KILLED, str(folder)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = verify(folder)
        assert before.good and before.records > 20
    keep(folder, "runner_start")
    assert verify(folder).good


def test_a_half_written_record_is_cut_off_and_one_that_is_missing_stays_missing(folder: Path) -> None:
    """E6, F7."""
    keep(folder, "runner_start", "runner_stop")
    segment = segments(folder)[0]
    whole = segment.read_bytes()
    segment.write_bytes(whole + b'{"at":"2026-')
    assert verify(folder).good
    keep(folder, "runner_start")
    assert (verify(folder).good, verify(folder).records) == (True, 3)
    segment.write_bytes(whole.splitlines(keepends=True)[0])
    keep(folder, "runner_stop")
    assert verify(folder).problem == "record 2 is missing: record 4 is in its place"


_FULL = """
import resource, sys
from pathlib import Path
from user_handoff.desktop.evidence.store import Evidence
evidence = Evidence(Path(sys.argv[1]), "d_1", most=5)
evidence.note("runner_start")
assert evidence.wait_written(10)
resource.setrlimit(resource.RLIMIT_FSIZE, (800, -1))
for number in range(9):
    evidence.note("effect_admitted", effect_id=f"e_{number}")
assert not evidence.wait_written(0.2) and evidence.lost == 4, evidence.lost
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
assert evidence.wait_written(10)
evidence.note("runner_stop")
evidence.close()
"""


def test_a_full_disk_loses_what_does_not_fit_and_the_next_record_says_how_much(folder: Path) -> None:
    """E6: what waits is kept once there is room again."""
    done = subprocess.run([sys.executable, "-c", _FULL, str(folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("evidence cannot be kept now; all else goes on: OSError") == 1
    kept = records(folder)
    assert [record["facts"].get("effect_id") for record in kept[1:6]] == [f"e_{number}" for number in range(5)]
    assert kept[6]["event"] == "runner_stop" and kept[6]["lost"] == 4
    verdict = verify(folder)
    assert (verdict.good, verdict.lost) == (True, 4)


def test_a_disk_that_hangs_keeps_nobody_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E6."""
    answers = threading.Event()
    append = ChainWriter.append

    def hangs(writer: ChainWriter, some: Iterable[Mapping[str, Any]]) -> None:
        answers.wait()
        append(writer, some)

    monkeypatch.setattr(ChainWriter, "append", hangs)
    evidence = Evidence(folder, "d_1", most=100)
    began = time.monotonic()
    for number in range(150):
        evidence.note("effect_admitted", effect_id=f"e_{number}")
    evidence.close(0.05)
    assert time.monotonic() - began < 1
    assert evidence.lost == 50
    answers.set()
    assert evidence.wait_written(SECONDS)
    assert verify(folder).records == 100


def test_a_folder_that_cannot_be_used_is_told_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """E6: and it is used once it can be."""
    folder.write_text("no folder")
    with caplog.at_level(logging.ERROR):
        evidence = Evidence(folder, "d_1")
        evidence.note("runner_start")
        assert not evidence.wait_written(0.2)
        evidence.note("runner_stop")
        folder.unlink()
        assert evidence.wait_written(SECONDS)
        evidence.close()
    assert len(caplog.records) == 1 and "cannot be kept now" in caplog.text
    assert [record["event"] for record in records(folder)] == ["runner_start", "runner_stop"]


def test_records_that_are_deleted_under_it_stay_missing(folder: Path) -> None:
    """E6, F7."""
    evidence = Evidence(folder, "d_1")
    evidence.note("runner_start")
    assert evidence.wait_written(SECONDS)
    segments(folder)[0].unlink()
    evidence.note("effect_admitted")
    assert evidence.wait_written(SECONDS)
    evidence.close()
    assert [record["n"] for record in records(folder)] == [2]
    assert str(verify(folder).problem).startswith("the records before 2 are missing")


def test_a_second_writer_waits_and_mixes_nothing_in(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """E6: two desktops in one folder."""
    one, other = Evidence(folder, "d_1"), Evidence(folder, "d_2")
    one.note("runner_start")
    assert one.wait_written(SECONDS)
    other.note("runner_start")
    assert not other.wait_written(0.2)
    one.note("runner_stop")
    one.close()
    assert other.wait_written(SECONDS)
    other.close()
    assert "cannot be kept now" in caplog.text
    assert [record["desktop_id"] for record in records(folder)] == ["d_1", "d_1", "d_2"]
    assert verify(folder).good


def test_a_head_that_cannot_be_written_keeps_no_record_back(folder: Path) -> None:
    """E6."""
    keep(folder, "runner_start")
    (folder / f".{HEAD}").mkdir()
    keep(folder, "runner_stop")
    assert json.loads((folder / HEAD).read_bytes())["n"] == 1
    assert (verify(folder).good, verify(folder).records) == (True, 2)


def test_a_link_in_place_of_a_segment_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """E6: a file elsewhere is not written to."""
    folder.mkdir(mode=0o700)
    (tmp_path / "elsewhere").write_text("")
    (folder / "000000000001.jsonl").symlink_to(tmp_path / "elsewhere")
    evidence = Evidence(folder, "d_1")
    evidence.note("runner_start")
    assert not evidence.wait_written(0.2)
    evidence.close()
    assert (tmp_path / "elsewhere").read_text() == "" and (folder / "000000000001.jsonl").is_symlink()
