"""What has ended is deleted when its time is over, and never what lives or is held."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.states.conftest import CONTENT, manifest_of
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.evidence.verify import Verifier
from user_handoff.desktop.evidence.writer import ChainWriter
from user_handoff.desktop.host.spec import HostEnd, HostRecord
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.retention import RECORD, Retention, Sweeper, kept
from user_handoff.desktop.start import DesktopSettings, running_desktop
from user_handoff.desktop.states.files import StateFiles
from user_handoff.desktop.states.sealing import Sealer

RULES = Retention(browsers=1_000, downloads=2_000, pictures=500, states=3_000)
NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A desktop on which one browser has ended, with a download, a picture and a state of it, all of this moment."""
    browser(tmp_path, "b_ended")
    HostEnd.CLOSED.write(tmp_path / "browsers" / "b_ended")
    for name in ("downloads/e_1-invoices.csv", "pictures/p_1.png"):
        (tmp_path / name).parent.mkdir(mode=0o700)
        (tmp_path / name).write_bytes(b"x")
    StateFiles(tmp_path / "states", Sealer(None)).write("agent:test", manifest_of(), CONTENT)
    return tmp_path


def browser(folder: Path, browser_id: str) -> Path:
    profile = folder / "browsers" / browser_id / "profile" / "Default"
    profile.mkdir(parents=True, mode=0o700)
    (profile / "Cookies").write_bytes(b"secret")
    (folder / "browsers" / browser_id / "host.log").write_text("x")
    return profile.parent


def sweep(folder: Path, after: float, rules: Retention = RULES, held: frozenset[str] = NOBODY) -> dict[str, int]:
    return Sweeper(folder, rules, lambda: held).sweep(held, time.time() + after)


def test_each_kind_goes_when_its_own_time_is_over(folder: Path) -> None:
    """B10."""
    assert sweep(folder, 400) == {"browsers": 0, "downloads": 0, "pictures": 0, "states": 0}
    assert sweep(folder, 600) == {"browsers": 0, "downloads": 0, "pictures": 1, "states": 0}
    assert sweep(folder, 1_100) == {"browsers": 1, "downloads": 0, "pictures": 0, "states": 0}
    assert sweep(folder, 2_100) == {"browsers": 0, "downloads": 1, "pictures": 0, "states": 0}
    assert sweep(folder, 3_100) == {"browsers": 0, "downloads": 0, "pictures": 0, "states": 1}


def test_what_is_left_of_a_browser_is_how_it_ended(folder: Path) -> None:
    """B10: its id must never be used again, and whoever asks is told the reason."""
    sweep(folder, 1_100)
    left = folder / "browsers" / "b_ended"
    assert not (left / "profile").exists() and not (left / "host.log").exists()
    assert HostEnd.read(left) is HostEnd.CLOSED
    assert sweep(folder, 9_000)["browsers"] == 0


def test_a_browser_that_lives_keeps_all_that_was_made_since_it_began(folder: Path) -> None:
    """B10."""
    me = ProcessIdentity.current()
    browser(folder, "b_alive")
    HostRecord("b_alive", me, me, folder / "socket", time.time() - 60).write(folder / "browsers" / "b_alive")
    swept = sweep(folder, 10_000)
    assert swept == {"browsers": 1, "downloads": 0, "pictures": 0, "states": 1}
    assert (folder / "browsers" / "b_alive" / "profile").exists()


def test_a_browser_that_is_held_keeps_its_profile(folder: Path) -> None:
    """B10."""
    assert sweep(folder, 10_000, held=frozenset({"b_ended"}))["browsers"] == 0
    assert (folder / "browsers" / "b_ended" / "profile").exists()


def test_a_profile_that_a_host_has_open_stays(folder: Path, holder: subprocess.Popen[bytes]) -> None:
    """B10: whatever the records say, the lock of the profile is asked."""
    assert sweep(folder, 10_000)["browsers"] == 0
    holder.kill()
    holder.wait()
    assert sweep(folder, 10_000)["browsers"] == 1


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the profile's lock."""
    lock = folder / "browsers" / "b_ended" / "profile.lock"
    program = (
        f"import fcntl, sys; f = open({str(lock)!r}, 'w'); fcntl.flock(f, 2); print(1, flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_a_browser_whose_host_was_killed_has_its_time_from_when_that_is_seen(folder: Path) -> None:
    browser(folder, "b_killed")
    os.utime(folder / "browsers" / "b_killed", (1, 1))
    assert sweep(folder, 500)["browsers"] == 0
    assert HostEnd.read(folder / "browsers" / "b_killed") is HostEnd.CRASHED
    assert sweep(folder, 1_100)["browsers"] == 2


def test_a_browser_that_is_being_started_is_left_alone(folder: Path) -> None:
    browser(folder, "b_new")
    sweep(folder, 60, Retention(browsers=0))
    assert (folder / "browsers" / "b_new" / "profile").exists()
    assert not (folder / "browsers" / "b_new" / "ended").exists()


def test_what_is_kept_for_ever_stays(folder: Path) -> None:
    swept = sweep(folder, 1e9, Retention(browsers=None, downloads=None, pictures=None, states=None))
    assert set(swept.values()) == {0}


def test_a_state_that_was_half_written_is_no_secret_left_behind(folder: Path) -> None:
    """K43."""
    (owner,) = (path for path in (folder / "states").iterdir())
    (owner / ".portal.state.x7").write_bytes(b"secret")
    sweep(folder, 3_700, Retention(states=None))
    assert [path.name for path in owner.iterdir()] == ["portal.state"]


def test_a_link_is_deleted_and_not_what_it_leads_to(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "kept").write_bytes(b"x")
    (folder / "browsers" / "linked").symlink_to(other)
    (folder / "pictures" / "linked.png").symlink_to(other / "kept")
    sweep(folder, 10_000)
    assert (other / "kept").exists()


async def test_whoever_deletes_its_own_is_asked_at_the_start(folder: Path) -> None:
    """B10: effects that nobody can ask for any more, and old evidence."""
    asked: list[str] = []
    async with Sweeper(
        folder, RULES, lambda: (), lambda: asked.append("ledger"), lambda: asked.append("other")
    ).sweeping():
        assert asked == ["ledger", "other"]


async def test_while_the_ledger_cannot_be_read_nothing_is_deleted(folder: Path) -> None:
    """Fail closed."""

    def unknown() -> list[str]:
        raise make_error(ErrorCode.RESERVATION_CLOSED, "The ledger cannot be read.")

    asked: list[str] = []
    async with Sweeper(folder, Retention(0, 0, 0, 0), unknown, lambda: asked.append("own")).sweeping():
        assert (folder / "browsers" / "b_ended" / "profile").exists()
    assert asked == []
    assert not (folder / RECORD).exists()


@pytest.mark.parametrize(
    ("text", "seconds"), [("0s", 0), ("90m", 5_400), ("12h", 43_200), ("7d", 604_800), ("forever", None)]
)
def test_a_time_is_a_number_and_a_unit(text: str, seconds: float | None) -> None:
    assert Retention.of({"HANDOFF_KEEP_STATES": text}).states == seconds


@pytest.mark.parametrize("text", ["7", "-1d", "1w", "1.5h", "never", "99999999d", "7 d"])
def test_what_is_no_time_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(HandoffError) as caught:
        Retention.of({"HANDOFF_KEEP_BROWSERS": text})
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert "HANDOFF_KEEP_BROWSERS" in caught.value.what


def test_it_is_told_what_is_kept_and_for_how_long(folder: Path) -> None:
    """B10."""
    before = kept(folder)
    assert before["swept_at"] is None and before["states"] == {"count": 1, "keep_seconds": None}
    sweep(folder, 600)
    told = kept(folder)
    assert told["pictures"] == {"count": 0, "keep_seconds": 500}
    assert told["browsers"] == {"count": 1, "keep_seconds": 1_000}
    assert json.loads((folder / RECORD).read_text())["rules"]["states"] == 3_000


async def test_a_desktop_deletes_at_its_start(folder: Path) -> None:
    """B10: by a real runner, of what an earlier one left."""
    for name in ("downloads/e_1-invoices.csv", "pictures/p_1.png"):
        os.utime(folder / name, (1, 1))
    settings = DesktopSettings(folder=folder, virtual=True, sandbox=False, retention=RULES)
    old = {"at": "2020-01-01T00:00:00.000Z", "desktop_id": "d_1", "event": "runner_start", "facts": {}}
    writer = ChainWriter(folder / "evidence")
    writer.append([old])
    writer.close()
    async with running_desktop(settings) as desktop:
        assert isinstance(desktop.notes, Evidence) and desktop.notes.wait_written(10)
        assert not (folder / "evidence" / "000000000001.jsonl").exists()
        assert Verifier(folder / "evidence").verify().remarks == ["The records before 2 were deleted in their time."]
        assert not (folder / "pictures" / "p_1.png").exists()
        assert not (folder / "downloads" / "e_1-invoices.csv").exists()
        assert (folder / "browsers" / "b_ended" / "profile").exists()


def test_what_a_link_leads_to_is_not_deleted(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """B10: the link goes, and what is the person's own stays, whatever it is called."""
    mine = tmp_path_factory.mktemp("mine")
    for name in (".bashrc", "old.state", "Cookies"):
        (mine / name).write_text("x")
    (folder / "states" / "linked").symlink_to(mine)
    (folder / "browsers" / "b_linked").mkdir()
    (folder / "browsers" / "b_linked" / "profile").symlink_to(mine)
    HostEnd.CLOSED.write(folder / "browsers" / "b_linked")
    assert sweep(folder, 9_000_000) == {"browsers": 2, "downloads": 1, "pictures": 1, "states": 1}
    assert len(list(mine.iterdir())) == 3
    assert not (folder / "browsers" / "b_linked" / "profile").is_symlink()


def test_one_that_cannot_be_deleted_does_not_keep_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B10: above all not the saved logins."""

    def refuses(path: object) -> None:
        raise PermissionError

    monkeypatch.setattr(shutil, "rmtree", refuses)
    (folder / "states" / "owner").mkdir()
    (folder / "states" / "owner" / ".a").mkdir()
    assert sweep(folder, 9_000) == {"browsers": 0, "downloads": 1, "pictures": 1, "states": 1}
