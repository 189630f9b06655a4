"""A virtual display is private, outlives its runner, and leaves nothing behind."""

import asyncio
import contextlib
import gc
import os
import signal
import stat
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.desktop.surfaces.programs import program, window
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.display.virtual import (
    ensure_virtual,
    missing_programs,
    stop_virtual,
    touch_virtual,
)


def parts(display: Display) -> list[psutil.Process]:
    """The keeper, its X server and its window manager."""
    assert display.keeper
    keeper = psutil.Process(display.keeper.pid)
    return [keeper, *keeper.children()]


def all_gone(processes: list[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != "zombie" for p in processes)


def names(processes: list[psutil.Process]) -> set[str]:
    return {process.name() for process in processes}


def managers(keeper: psutil.Process) -> list[psutil.Process]:
    """The window managers that run; a process may end while it is looked at."""
    found = []
    for child in keeper.children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() == "openbox":
                found.append(child)
    return found


def test_every_file_of_it_is_private(shared: Display, shared_folder: Path) -> None:
    """K05: no other user can reach the display."""
    assert stat.S_IMODE(shared_folder.stat().st_mode) == 0o700
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in shared_folder.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert shared.rfb_socket
    assert stat.S_IMODE(shared.rfb_socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.rfb_socket.parent.stat().st_mode) == 0o700


def test_it_listens_on_no_network(shared: Display) -> None:
    """K05."""
    assert [c for part in parts(shared) for c in part.net_connections("inet")] == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_client_without_the_cookie_is_turned_away(shared: Display, tmp_path: Path) -> None:
    """K05."""
    empty = tmp_path / "none"
    empty.write_bytes(b"\0" * 10)
    with pytest.raises(SetupError) as error, connection(shared.name, empty):
        pass
    assert error.value.code is ErrorCode.NO_DISPLAY
    del error
    gc.collect()  # python-xlib leaves the socket of a refused connection open


async def test_no_secret_of_the_runner_reaches_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B7: what the keeper inherits is named, not everything."""
    monkeypatch.setenv("TEMPORAL_API_KEY", "canary")
    for part in parts(await ensure_virtual(folder)):
        assert "canary" not in part.environ().values()


async def test_the_live_one_is_found_again(shared: Display, shared_folder: Path) -> None:
    assert await ensure_virtual(shared_folder) == shared


async def test_two_that_start_at_once_share_one(folder: Path) -> None:
    first, second = await asyncio.gather(ensure_virtual(folder), ensure_virtual(folder))
    assert first == second


async def test_it_survives_the_death_of_the_runner_that_started_it(folder: Path) -> None:
    """F10: kill -9 of the runner and its whole process group."""
    code = f"""
import asyncio, os, pathlib, signal
from user_handoff.desktop.display.virtual import ensure_virtual
asyncio.run(ensure_virtual(pathlib.Path({str(folder)!r})))
os.killpg(0, signal.SIGKILL)
"""
    runner = await asyncio.create_subprocess_exec(sys.executable, "-c", code, start_new_session=True)
    assert await runner.wait() == -signal.SIGKILL
    record = read_record(folder)
    assert record
    assert record.keeper.alive()
    assert (await ensure_virtual(folder)).keeper == record.keeper


async def test_stopping_it_leaves_nothing_running(folder: Path) -> None:
    display = await ensure_virtual(folder)
    running = parts(display)
    assert {"Xtigervnc", "openbox"} < names(running)
    await stop_virtual(folder)
    assert all_gone(running)
    assert read_record(folder) is None
    assert display.rfb_socket
    assert not display.rfb_socket.parent.exists()
    await stop_virtual(folder)  # again is the same


async def test_the_keepers_death_ends_its_children(folder: Path) -> None:
    """No orphans, whatever happens to the keeper."""
    display = await ensure_virtual(folder)
    running = parts(display)
    running[0].send_signal(signal.SIGKILL)
    await until(lambda: all_gone(running))
    assert (await ensure_virtual(folder)).keeper != display.keeper


async def test_the_servers_death_ends_the_keeper(folder: Path) -> None:
    running = parts(await ensure_virtual(folder))
    record = read_record(folder)
    assert record
    os.kill(record.server.pid, signal.SIGKILL)
    await until(lambda: all_gone(running))
    assert read_record(folder) is None


async def test_a_window_manager_that_dies_is_started_again(folder: Path) -> None:
    keeper, *_ = parts(await ensure_virtual(folder))
    (manager,) = managers(keeper)
    manager.kill()
    await until(lambda: [each for each in managers(keeper) if each.pid != manager.pid])


async def test_it_ends_by_itself_when_nobody_needs_it(folder: Path) -> None:
    """By its own clock, from the last program that was shown on it or the last touch."""
    display = await ensure_virtual(folder, idle_seconds=0.6)
    running = parts(display)
    with program(display, window()):
        later = time.monotonic() + 1.5
        await until(lambda: time.monotonic() > later)
        assert not all_gone(running)
    touch_virtual(folder)
    await until(lambda: all_gone(running))
    assert read_record(folder) is None


async def test_a_program_that_is_missing_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_programs() == ["Xtigervnc", "openbox", "setpriv"]
    with pytest.raises(SetupError) as error:
        await ensure_virtual(folder)
    assert error.value.code is ErrorCode.PROGRAM_MISSING
    assert "apt-get install" in error.value.do_next


@pytest.mark.parametrize(("script", "seconds"), [("exit 1", 10.0), ("sleep 60", 1.0)])
async def test_a_server_that_does_not_start_leaves_nothing_running(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, seconds: float
) -> None:
    fake = tmp_path / "Xtigervnc"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(SetupError) as error:
        await ensure_virtual(folder, timeout_seconds=seconds)
    assert error.value.code is ErrorCode.NO_DISPLAY
    assert "keeper.log" in error.value.do_next
    await until(lambda: not keepers_of(folder))


@pytest.mark.parametrize("geometry", ["", "1280", "1280x", "1280x800 -ac", "0x0", "1e3x800"])
async def test_a_geometry_that_is_none_is_refused(folder: Path, geometry: str) -> None:
    with pytest.raises(SetupError) as error:
        await ensure_virtual(folder, geometry)
    assert error.value.code is ErrorCode.INVALID_REQUEST


def keepers_of(folder: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in argument for argument in process.info["cmdline"] or ())
    ]
