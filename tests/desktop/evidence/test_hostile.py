"""Evidence that somebody else hands over may be made to hurt who reads it."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from tests.desktop.evidence.support import keep, verify
from user_handoff.desktop.evidence.chain import GENESIS, Broken, line_of, record_of, sealed
from user_handoff.desktop.evidence.export import export, read_records
from user_handoff.desktop.evidence.folder import HEAD, LINE_BYTES
from user_handoff.desktop.evidence.page import timeline
from user_handoff.desktop.evidence.verify import Verdict, Verifier

AT = "2026-11-30T01:02:03.004Z"
ONE = {"n": 1, "at": AT, "desktop_id": "d_1", "event": "hold_held", "facts": {}, "previous": GENESIS}


def write(folder: Path, *wanted: dict[str, object]) -> Path:
    """A chain of records with right hashes, whatever is in them."""
    folder.mkdir(exist_ok=True)
    lines, previous, last = b"", GENESIS, "0" * 64
    for n, more in enumerate(wanted, 1):
        record = sealed({**ONE, "n": n, "previous": previous, **more})
        previous = last = record["hash"]
        lines += line_of(record)
    (folder / "000000000001.jsonl").write_bytes(lines)
    (folder / HEAD).write_text(json.dumps({"n": len(wanted), "hash": last}))
    return folder


@pytest.mark.parametrize(
    "picture", ["../../private", "/etc/private", "A" * 64, "a" * 63, "a" * 64 + "\n", "\x00" * 64, "https://x/y"]
)
def test_a_picture_is_named_by_its_digest_alone(picture: str) -> None:
    """F7: else a record could have any picture of this machine shown, in a page that is passed on."""
    with pytest.raises(Broken):
        record_of(line_of(sealed({**ONE, "picture": picture}))[:-1])


@pytest.mark.parametrize("value", [10**400, -(10**12), 1e300])
def test_a_number_that_no_record_has_is_none(value: float) -> None:
    """F7: no moment can be reckoned with it."""
    with pytest.raises(Broken):
        record_of(line_of(sealed({**ONE, "facts": {"age": value}}))[:-1])
    with pytest.raises(Broken):
        record_of(line_of(sealed({**ONE, "lost": 10**400}))[:-1])


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
def test_a_timeline_is_made_whatever_the_moments_are(tmp_path: Path, at: str) -> None:
    """F7."""
    facts = {"age": 999_999_999_999, "seconds": -5, "code": "<script>"}
    folder = write(
        tmp_path / "e",
        {"about": "a", "picture": "a" * 64, "facts": facts, "at": at},
        {"about": "a", "at": AT, "event": "hold_recovered"},
        {"event": "effect_refused", "facts": facts},
    )
    page = timeline(read_records(folder), Verdict(), folder)
    assert "<script>" not in page


def test_a_line_without_an_end_is_not_read_whole(tmp_path: Path) -> None:
    """F7: a small packed file can hold a line larger than any memory."""
    folder = write(tmp_path / "e", {})
    with (folder / "000000000001.jsonl").open("ab") as file:
        file.truncate((1 << 30) + LINE_BYTES)
    verdict = verify(folder)
    assert verdict.problem == "record 2 does not fit: it is longer than any record"


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """F7: a pipe would keep whoever reads it for ever."""
    folder = write(tmp_path / "e", {})
    os.mkfifo(folder / "000000000002.jsonl")
    (folder / "pictures").mkdir()
    assert verify(folder).good
    (folder / HEAD).unlink()
    os.mkfifo(folder / HEAD)
    assert "the head is missing" in str(verify(folder).problem)
    other = write(tmp_path / "f", {"picture": "a" * 64})
    (other / "pictures").mkdir()
    os.mkfifo(other / "pictures" / f"{'a' * 64}.png")
    assert verify(other).problem == "the picture of record 1 is missing"


@pytest.mark.parametrize(
    "head", ["[" * 100_000, '{"n": 1e999, "hash": ""}', '{"n": NaN, "hash": ""}', "[]", '{"n": "' + "1" * 5000]
)
def test_a_head_that_is_none_is_missing(tmp_path: Path, head: str) -> None:
    """F7."""
    folder = write(tmp_path / "e", {})
    (folder / HEAD).write_text(head)
    assert "the head is missing" in str(verify(folder).problem)


def test_a_packed_export_that_is_damaged_does_not_verify(tmp_path: Path) -> None:
    """F7: each byte of it may be another one; whatever that does, it is told as what does not fit."""
    keep(tmp_path / "evidence", "hold_beginning", "hold_held", "hold_recovered", about="handoff/b_1/s_1/m_1")
    packed = tmp_path / "e.zip"
    export(tmp_path / "evidence", packed, pictures=False)
    whole = packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        data = archive.getinfo("000000000001.jsonl").header_offset + 60
    for at in (data, data + 20, data + 100):
        packed.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        verdict = Verifier(zipfile.Path(packed)).verify()
        assert not verdict.good
        list(read_records(zipfile.Path(packed)))
