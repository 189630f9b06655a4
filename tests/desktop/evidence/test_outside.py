"""What other programs note: it waits for the runner, and gets into the chain once."""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.desktop.evidence.support import SECONDS, records, verify
from user_handoff.desktop.evidence.outside import OutsideNotes
from user_handoff.desktop.evidence.store import Evidence

REFUSED = {"via": "permit", "who": "bot", "effect_id": "e_1", "action": "xdotool"}


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[OutsideNotes]:
    with contextlib.closing(OutsideNotes(tmp_path / "notes.db", "d_other", most=4)) as notes:
        yield notes


@contextlib.contextmanager
def runner(tmp_path: Path) -> Iterator[Evidence]:
    """A runner's evidence, which takes in what waits."""
    evidence = Evidence(tmp_path / "evidence", "d_1", outside=OutsideNotes(tmp_path / "notes.db", "d_1"))
    try:
        yield evidence
    finally:
        evidence.take_in()
        assert evidence.wait_written(SECONDS)
        evidence.close()


def test_what_was_noted_while_no_runner_ran_is_taken_in_at_its_start(notes: OutsideNotes, tmp_path: Path) -> None:
    """E6: once, with the desktop that it was on and the moment that it was."""
    before = time.time()
    notes.note("effect_refused", browser_id="b_1", about="h_1", code="desktop_held", **REFUSED)
    with runner(tmp_path) as evidence:
        evidence.note("runner_start")
    with runner(tmp_path) as evidence:
        evidence.note("runner_start")
    first, *rest = records(tmp_path / "evidence")
    assert (first["event"], first["desktop_id"], first["browser_id"]) == ("effect_refused", "d_other", "b_1")
    assert first["about"] == "h_1" and first["facts"] == {**REFUSED, "code": "desktop_held", "note": 1}
    assert before - 1 < datetime.fromisoformat(first["at"]).timestamp() < time.time() + 1
    assert [each["event"] for each in rest] == ["runner_start", "runner_start"]
    assert verify(tmp_path / "evidence").good


def test_a_runner_looks_for_them_by_itself(notes: OutsideNotes, tmp_path: Path) -> None:
    """E6."""
    with runner(tmp_path):
        notes.note("effect_admitted", **REFUSED)
        deadline = time.monotonic() + SECONDS
        while notes.waiting(1)[1]:
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
    assert [each["event"] for each in records(tmp_path / "evidence")] == ["effect_admitted"]


def test_too_many_are_counted(notes: OutsideNotes, tmp_path: Path) -> None:
    """E6: the records say how many are lost."""
    for _ in range(9):
        notes.note("effect_admitted", **REFUSED)
    with runner(tmp_path):
        pass
    notes.note("effect_admitted", **REFUSED)
    with runner(tmp_path):
        pass
    assert [each.get("lost", 0) for each in records(tmp_path / "evidence")] == [5, 0, 0, 0, 0]
    assert verify(tmp_path / "evidence").lost == 5


@pytest.mark.parametrize("fault", ["damaged", "locked", "removed"])
def test_a_fault_of_the_file_costs_an_effect_nothing(notes: OutsideNotes, tmp_path: Path, fault: str) -> None:
    """E6, K82: what is lost is counted, and the next runner begins anew."""
    path = tmp_path / "notes.db"
    notes.note("effect_admitted", **REFUSED)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        if fault == "locked":
            other.execute("BEGIN IMMEDIATE")
        elif fault == "damaged":
            notes.close()
            path.write_bytes(b"no database" * 1_000)
        else:
            path.unlink()
        began = time.monotonic()
        for _ in range(100):
            notes.note("effect_admitted", **REFUSED)
        assert time.monotonic() - began < 1
    with runner(tmp_path):
        pass
    notes._not_before = 0.0
    notes.note("effect_admitted", **REFUSED)  # may find that the file is another one
    notes._not_before = 0.0
    notes.note("effect_completed", **REFUSED)
    with runner(tmp_path):
        pass
    last = records(tmp_path / "evidence")[-1]
    assert last["event"] == "effect_completed"
    assert sum(each.get("lost", 0) for each in records(tmp_path / "evidence")) >= 100
    assert verify(tmp_path / "evidence").good


def test_no_program_notes_what_only_the_runner_knows(notes: OutsideNotes, tmp_path: Path) -> None:
    """E6, B7: neither a change of control, nor anything that is no fact of the list."""
    notes.note("hold_held", via="permit", owner="o_1")
    notes.note("effect_admitted", action="type a secret", typed="secret", **{"via": "permit"})
    with contextlib.closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
        insert = "INSERT INTO notes (at, mono, lost, desktop_id, event, facts) VALUES (0, 0, 0, 'd_1', ?, ?)"
        huge = "1" + "0" * 400
        other.execute(insert, ("effect_admitted", f'{{"via": "permit", "action": "a secret", "exit": {huge}}}'))
        other.execute(insert, ("effect_admitted", "no JSON"))
        other.execute(insert, ("hold_recovered", '{"via": "permit", "owner": "o_1"}'))
    with runner(tmp_path):
        pass
    found = records(tmp_path / "evidence")
    assert [(each["event"], each["facts"]) for each in found] == [("effect_admitted", {"via": "permit", "note": 2})]
    assert b"secret" not in (tmp_path / "evidence" / "000000000001.jsonl").read_bytes()


def test_a_record_that_could_not_be_removed_is_not_written_twice(
    notes: OutsideNotes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6."""
    notes.note("effect_admitted", **REFUSED)
    with monkeypatch.context() as patched, runner(tmp_path) as evidence:
        patched.setattr(evidence._outside, "taken", lambda last: None)
        evidence.take_in()
        assert evidence.wait_written(SECONDS)
        evidence.take_in()
        assert evidence.wait_written(SECONDS)
        assert len(records(tmp_path / "evidence")) == 1
