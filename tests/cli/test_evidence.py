"""`handoff evidence`: what happened is shown, verified and exported from the files alone."""

import json
import stat
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.desktop.evidence.support import SECONDS, keep, records
from tests.gateway.browsing import DESK, PHONE, person, running_chromium, violations
from user_handoff.cli.main import app
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.evidence.folder import segments
from user_handoff.desktop.evidence.store import Evidence

HANDOFF = "handoff/b_1/s_1/m_1"
EVIL = '<script>alert("x")</script>'
PNG = b"\x89PNG and more"


def evidence(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["evidence", *arguments])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """What a handoff leaves, with a refused effect and a picture."""
    state = tmp_path / "state"
    (state / "desktop").mkdir(parents=True, mode=0o700)
    folder = state / "desktop" / "evidence"
    store = Evidence(folder, "d_1")
    of = {"browser_id": "b_1", "about": HANDOFF}
    store.note("runner_start")
    store.note("hold_beginning", **of, owner="agent:test")
    store.note("hold_held", **of, owner="agent:test")
    store.keep_picture(PNG, "picture_before", browser_id="b_1", about=HANDOFF)
    assert store.wait_written(SECONDS)
    store.note("lease_taken", **of, viewer_id="v_1")
    store.note("effect_refused", **of, code="browser_held", action="Click", effect_id="e_1")
    store.note("lease_ended", **of, viewer_id="v_1", why="given_up")
    store.note("hold_recovering", **of)
    store.note("hold_recovered", **of)
    store.note("hold_held", browser_id="b_2", about="handoff/b_2/s_1/m_2")
    store.close()
    return state


def test_what_happened_is_listed(state: Path) -> None:
    """F7: all, of one handoff, of one browser, the last ones, and as JSON."""
    told = evidence("show", "--state", str(state)).output.splitlines()
    assert len(told) == 10 and "hold_beginning" in told[1] and f"{HANDOFF} b_1  owner agent:test" in told[1]
    assert len(evidence("show", "--state", str(state), "--about", HANDOFF).output.splitlines()) == 8
    assert len(evidence("show", "--state", str(state), "--browser", "b_2").output.splitlines()) == 1
    last = json.loads(evidence("show", "--state", str(state), "--last", "2", "--json").output)
    assert [each["event"] for each in last] == ["hold_recovered", "hold_held"]
    assert last == records(state / "desktop" / "evidence")[-2:]


def test_an_untouched_chain_verifies_and_a_changed_byte_does_not(state: Path) -> None:
    """F7: by the exit code, and which record it is."""
    done = evidence("verify", "--state", str(state))
    assert done.exit_code == 0 and done.output.startswith("The chain holds: 10 records.\nHead: 10 ")
    segment = segments(state / "desktop" / "evidence")[0]
    segment.write_bytes(segment.read_bytes().replace(b"browser_held", b"browser_helD"))
    done = evidence("verify", "--state", str(state))
    assert done.exit_code == 1
    assert "The chain does not hold: record 6 does not fit: it was changed" in done.output
    told = json.loads(evidence("verify", "--state", str(state), "--json").output)
    assert (told["good"], told["records"], told["head"]["n"]) == (False, 5, 5)


@pytest.mark.parametrize("name", ["kept.zip", "kept"])
def test_an_export_verifies_elsewhere_and_with_the_head_that_was_kept(state: Path, tmp_path: Path, name: str) -> None:
    """F7: packed or not; private; with the timeline and the picture."""
    to = tmp_path / name
    head = json.loads(evidence("export", "--state", str(state), "--to", str(to), "--json").output)["head"]["hash"]
    assert stat.S_IMODE(to.stat().st_mode) == (0o600 if to.is_file() else 0o700)
    keep(state / "desktop" / "evidence", "runner_stop")
    assert evidence("verify", str(to), "--head", head).exit_code == 0
    assert evidence("verify", "--state", str(state), "--head", head).exit_code == 0
    assert evidence("verify", str(to), "--head", "0" * 64).exit_code == 1
    place: Path | zipfile.Path = zipfile.Path(to) if to.is_file() else to
    assert {each.name for each in place.iterdir()} == {"000000000001.jsonl", "head.json", "pictures", "timeline.html"}
    assert [each.read_bytes() for each in (place / "pictures").iterdir()] == [PNG]
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_an_export_without_pictures_says_so_and_holds(state: Path, tmp_path: Path) -> None:
    """F7, B7."""
    assert evidence("export", "--state", str(state), "--to", str(tmp_path / "kept"), "--no-pictures").exit_code == 0
    assert "The pictures are not beside the records." in evidence("verify", str(tmp_path / "kept")).output
    assert "data:image" not in (tmp_path / "kept" / "timeline.html").read_text()


def test_one_segment_is_verified_by_itself(state: Path) -> None:
    """F7."""
    assert evidence("verify", str(segments(state / "desktop" / "evidence")[0])).exit_code == 0


def test_nothing_is_written_over_and_nothing_is_made_up(state: Path, tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    for arguments in (
        ("export", "--state", str(state), "--to", str(tmp_path / "there")),
        ("verify", "--state", str(tmp_path / "nowhere")),
    ):
        error = evidence(*arguments).exception
        assert isinstance(error, HandoffError) and error.code is ErrorCode.INVALID_REQUEST


def test_the_timeline_is_one_file_that_runs_nothing(state: Path, tmp_path: Path) -> None:
    """F7: who had control, what was refused; no script and no address."""
    page = tmp_path / "page.html"
    assert evidence("timeline", "--state", str(state), "--to", str(page)).exit_code == 0
    text = page.read_text()
    assert "The chain holds: 10 records" in text and HANDOFF in text and "Click refused: browser_held" in text
    assert "default-src 'none'" in text
    assert not [word for word in ("<script", "http:", "https:", "src=", "@import", "url(") if word in text]
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    evidence("timeline", "--state", str(state), "--to", str(page), "--pictures", "--about", HANDOFF)
    assert page.read_text().count("data:image/png;base64,") == 1 and "m_2" not in page.read_text()


async def test_the_timeline_reads_well_for_everybody(state: Path, tmp_path: Path) -> None:
    """F7: axe finds nothing, on a phone and at a desk, light and dark; Chromium has no complaint."""
    page = tmp_path / "page.html"
    evidence("timeline", "--state", str(state), "--to", str(page), "--pictures")
    async with running_chromium() as chromium:
        for size, scheme in ((PHONE, "dark"), (DESK, "light")):
            async with person(chromium, page.as_uri(), color_scheme=scheme, **size) as shown:
                await shown.locator("summary").first.click()
                assert await violations(shown) == []


def test_whatever_is_in_a_record_is_text_on_the_timeline(tmp_path: Path) -> None:
    """F7: a foreign export with a right chain."""
    folder = tmp_path / "evidence"
    store = Evidence(folder, EVIL)
    store.writer.append(
        [
            {
                "at": "2026-11-30T01:02:03.004Z",
                "desktop_id": EVIL,
                "event": event,
                "about": EVIL,
                "browser_id": EVIL,
                "picture": "0" * 64,
                "facts": {EVIL: EVIL, "owner": EVIL, "code": EVIL, "reason": EVIL},
            }
            for event in ("hold_held", "effect_refused", EVIL)
        ]
    )
    store.close()
    page = tmp_path / "page.html"
    assert evidence("timeline", "--from", str(folder), "--to", str(page), "--pictures").exit_code == 0
    assert EVIL not in page.read_text() and "&lt;script&gt;" in page.read_text()


def test_an_empty_chain_has_a_timeline_too(tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    page = tmp_path / "page.html"
    assert evidence("timeline", "--from", str(tmp_path / "evidence"), "--to", str(page)).exit_code == 0
    assert "There are no records." in page.read_text()
