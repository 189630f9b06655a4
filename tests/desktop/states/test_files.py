"""The files of saved states: written whole and private, and read only while they are what was written."""

import json
import os
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.desktop.states.conftest import CONTENT, OWNER, manifest_of
from user_handoff.codec.keys import KeyRing
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.states import SavedState
from user_handoff.desktop.states.files import StateFiles, owner_folder, saved_files
from user_handoff.desktop.states.sealing import Sealer

KEY, OTHER = KeyRing.generate("k1"), KeyRing.generate("k2")


@pytest.fixture
def files(tmp_path: Path) -> StateFiles:
    return StateFiles(tmp_path / "states", Sealer(None))


def path_of(tmp_path: Path) -> Path:
    (found,) = saved_files(tmp_path / "states")
    return found


def refused(files: StateFiles, owner: str = OWNER, state_id: str = "portal") -> ErrorCode:
    with pytest.raises(HandoffError) as caught:
        files.read(owner, state_id)
    assert "very-secret-cookie" not in str(caught.value.to_dict())
    return caught.value.code


def test_a_state_is_read_back_as_it_was_written(files: StateFiles, manifest: SavedState) -> None:
    """B6."""
    files.write(OWNER, manifest, CONTENT)
    kept = files.read(OWNER, "portal")
    assert (kept.manifest, kept.content) == (manifest, CONTENT)


def test_it_is_private_at_every_moment_whatever_the_umask(files: StateFiles, tmp_path: Path) -> None:
    """K43: saved twice under umask 022, watched all the while."""
    modes: set[int] = set()
    over = threading.Event()

    def watch() -> None:
        folder = tmp_path / "states" / owner_folder(OWNER)
        while not over.is_set():
            for path in [folder, *(folder.iterdir() if folder.exists() else ())]:
                try:
                    modes.add(stat.S_IMODE(path.stat().st_mode))
                except FileNotFoundError:
                    continue

    before, watcher = os.umask(0o022), threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(40):
            files.write(OWNER, manifest_of(cookies=number), CONTENT)
    finally:
        os.umask(before)
        over.set()
        watcher.join()
    assert modes <= {0o700, 0o600}
    assert stat.S_IMODE(path_of(tmp_path).stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_state_from_before(
    files: StateFiles, manifest: SavedState, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """K43."""
    files.write(OWNER, manifest, CONTENT)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(OWNER, manifest_of(cookies=2), {"cookies": [], "origins": []})
    monkeypatch.undo()
    assert files.read(OWNER, "portal").content == CONTENT
    assert len(list(path_of(tmp_path).parent.iterdir())) == 1


def test_names_are_each_owners_own(files: StateFiles, manifest: SavedState) -> None:
    files.write(OWNER, manifest, CONTENT)
    assert refused(files, owner="agent:other") is ErrorCode.UNKNOWN_STATE
    files.write("agent:other", manifest, {"cookies": [], "origins": []})
    assert files.read(OWNER, "portal").content == CONTENT


def test_a_file_put_among_another_owners_is_not_theirs(files: StateFiles, manifest: SavedState, tmp_path: Path) -> None:
    files.write(OWNER, manifest, CONTENT)
    foreign = tmp_path / "states" / owner_folder("agent:other")
    foreign.mkdir(mode=0o700)
    path_of(tmp_path).rename(foreign / "portal.state")
    assert refused(files, owner="agent:other") is ErrorCode.NOT_OWNER


def test_what_was_never_saved_is_unknown(files: StateFiles) -> None:
    assert refused(files) is ErrorCode.UNKNOWN_STATE


def test_a_state_is_unknown_once_its_time_is_over(tmp_path: Path) -> None:
    """B10."""
    files = StateFiles(tmp_path / "states", Sealer(None), keep_seconds=60)
    files.write(OWNER, manifest_of(saved_at=datetime.now(UTC) - timedelta(seconds=61)), CONTENT)
    assert refused(files) is ErrorCode.UNKNOWN_STATE


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    found = json.loads(path.read_text())
    found["manifest"]["probe"]["url"] = "https://evil.example/"
    path.write_text(json.dumps(found))


def other_version(path: Path) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 2}))


def other_name(path: Path) -> None:
    path.write_text(path.read_text().replace('"state_id": "portal"', '"state_id": "others"'))


def a_list(path: Path) -> None:
    path.write_text("[1]")


def nested_too_deep(path: Path) -> None:
    path.write_text("[" * 100_000)


def readable_by_others(path: Path) -> None:
    path.chmod(0o644)


def writable_by_the_group(path: Path) -> None:
    path.chmod(0o620)


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "harm",
    [
        cut_off,
        emptied,
        changed,
        other_version,
        other_name,
        a_list,
        nested_too_deep,
        readable_by_others,
        writable_by_the_group,
        a_link,
        a_pipe,
    ],
)
def test_a_file_that_is_not_what_was_written_is_not_used(
    files: StateFiles, manifest: SavedState, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    """B6."""
    files.write(OWNER, manifest, CONTENT)
    harm(path_of(tmp_path))
    assert refused(files) is ErrorCode.STATE_UNREADABLE


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_used(files: StateFiles, manifest: SavedState, tmp_path: Path) -> None:
    files.write(OWNER, manifest, CONTENT)
    os.chown(path_of(tmp_path), 65534, -1)
    assert refused(files) is ErrorCode.STATE_UNREADABLE


def test_with_a_key_nothing_of_it_is_on_the_disk_in_plain_text(tmp_path: Path, manifest: SavedState) -> None:
    """B6, B7."""
    files = StateFiles(tmp_path / "states", Sealer(KEY))
    files.write(OWNER, manifest, CONTENT)
    written = path_of(tmp_path).read_bytes()
    assert b"very-secret-cookie" not in written
    assert b"dmVyeS1zZWNyZXQtY29va2ll" not in written
    assert files.read(OWNER, "portal").content == CONTENT


def test_an_older_key_still_reads_and_a_missing_one_is_said(tmp_path: Path, manifest: SavedState) -> None:
    StateFiles(tmp_path / "states", Sealer(KEY)).write(OWNER, manifest, CONTENT)
    both = KeyRing.parse(f"{OTHER.text},{KEY.text}")
    assert StateFiles(tmp_path / "states", Sealer(both)).read(OWNER, "portal").content == CONTENT
    for keys in (OTHER, None):
        assert refused(StateFiles(tmp_path / "states", Sealer(keys))) is ErrorCode.CODEC_KEY_UNKNOWN


def test_another_key_under_the_same_id_opens_nothing(tmp_path: Path, manifest: SavedState) -> None:
    StateFiles(tmp_path / "states", Sealer(KEY)).write(OWNER, manifest, CONTENT)
    other = StateFiles(tmp_path / "states", Sealer(KeyRing.generate("k1")))
    assert refused(other) is ErrorCode.STATE_UNREADABLE
