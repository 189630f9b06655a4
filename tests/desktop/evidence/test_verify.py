"""A chain that was touched anywhere does not verify, and it is said where."""

import json
from pathlib import Path

import pytest

from tests.desktop.evidence.support import keep, records, verify
from user_handoff.desktop.evidence.chain import GENESIS, Broken, canonical, line_of, record_of, sealed
from user_handoff.desktop.evidence.folder import HEAD, segments

AT = "2026-11-30T01:02:03.004Z"
EVENTS = tuple(f"hold_{phase}" for phase in ("beginning", "held", "recovering", "recovered"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four records, in two segments of two."""
    keep(tmp_path / "evidence", *EVENTS, browser_id="b_1", about="handoff/b_1/s_1/m_1", segment_bytes=600)
    assert [len(segment.read_bytes().splitlines()) for segment in segments(tmp_path / "evidence")] == [2, 2]
    return tmp_path / "evidence"


def test_a_record_has_one_way_to_be_written() -> None:
    """F7."""
    assert (
        canonical({"b": 'ä"\x07', "a": [1, 0.125, True, None]})
        == '{"a":[1,0.125,true,null],"b":"ä\\"\\u0007"}'.encode()
    )
    one = sealed({"n": 1, "at": AT, "desktop_id": "d_1", "event": "x", "facts": {}, "previous": GENESIS})
    assert record_of(line_of(one)[:-1]) == one


@pytest.mark.parametrize(
    "wrong",
    [{"n": "1"}, {"at": "now"}, {"facts": []}, {"facts": {"a": []}}, {"about": 1}, {"lost": "1"}, {"desktop_id": None}],
)
def test_what_is_no_record_is_refused_though_its_hash_is_right(wrong: dict[str, object]) -> None:
    """F7: an export may come from anywhere."""
    one = {"n": 1, "at": AT, "desktop_id": "d_1", "event": "x", "facts": {}, "previous": GENESIS}
    with pytest.raises(Broken, match="it has not what every record has"):
        record_of(line_of(sealed({**one, **wrong}))[:-1])


def test_an_untouched_chain_holds(folder: Path) -> None:
    """F7."""
    verdict = verify(folder)
    assert (verdict.problem, verdict.records, verdict.first, verdict.lost) == (None, 4, 1, 0)
    assert verdict.head is not None and verify(folder, verdict.head.hash).good
    assert all(verify(segment).good for segment in segments(folder))


def test_no_byte_can_be_changed_unseen(folder: Path) -> None:
    """F7: every single byte of the records, one after the other."""
    for segment in segments(folder):
        whole = segment.read_bytes()
        for place in range(len(whole)):
            segment.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            assert not verify(folder).good, f"byte {place} of {segment.name}"
        segment.write_bytes(whole)
    assert verify(folder).good


def test_the_first_record_that_was_changed_is_named(folder: Path) -> None:
    """F7."""
    segment = segments(folder)[1]
    segment.write_bytes(segment.read_bytes().replace(b"hold_recovered", b"hold_recovereD"))
    verdict = verify(folder)
    assert verdict.problem == "record 4 does not fit: it was changed: its hash is another one"
    assert verdict.where == f"{segment.name}, line 2"


def test_a_missing_record_is_named(folder: Path) -> None:
    """F7."""
    segment = segments(folder)[0]
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:1]))
    assert verify(folder).problem == "record 2 is missing: record 3 is in its place"


def test_records_in_another_order_do_not_hold(folder: Path) -> None:
    """F7."""
    segment = segments(folder)[1]
    segment.write_bytes(b"".join(reversed(segment.read_bytes().splitlines(keepends=True))))
    assert verify(folder).problem == "record 3 is missing: record 4 is in its place"


def test_a_record_that_was_made_anew_does_not_fit_the_next(folder: Path) -> None:
    """F7: its own hash is right."""
    segment = segments(folder)[1]
    first, second = segment.read_bytes().splitlines(keepends=True)
    forged = sealed({**json.loads(first), "event": "hold_expired"})
    segment.write_bytes(line_of(forged) + second)
    assert verify(folder).problem == "record 4 does not follow record 3: one of them was made anew"


@pytest.mark.parametrize("kept", [0, 1])
def test_what_was_cut_off_at_the_end_is_noticed_by_the_head(folder: Path, kept: int) -> None:
    """F7."""
    segment = segments(folder)[1]
    segment.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:kept]))
    if not kept:
        segment.unlink()
    assert verify(folder).problem == f"the records from {3 + kept} to 4 are cut off at the end"


def test_a_first_segment_that_is_gone_is_noticed(folder: Path) -> None:
    """F7."""
    segments(folder)[0].unlink()
    problem = "the records before 3 are missing, and no record says that they were deleted in time"
    assert verify(folder).problem == problem


def test_without_its_head_no_end_can_be_trusted(folder: Path) -> None:
    """F7."""
    (folder / HEAD).unlink()
    assert str(verify(folder).problem).startswith("the head is missing")


def test_a_chain_that_was_made_anew_as_a_whole_lacks_the_hash_that_is_known(folder: Path, tmp_path: Path) -> None:
    """F7: what a chain alone cannot show."""
    known = records(folder)[-1]["hash"]
    keep(tmp_path / "anew", *EVENTS, browser_id="b_1", about="handoff/b_1/s_1/m_1")
    assert verify(tmp_path / "anew").good
    assert "known from elsewhere is not in it" in str(verify(tmp_path / "anew", known).problem)


def test_nothing_at_all_is_told_from_all_that_is_well(tmp_path: Path) -> None:
    """F7."""
    verdict = verify(tmp_path)
    assert verdict.good and verdict.remarks == ["There are no records."]
