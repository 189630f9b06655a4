"""The process that ends a lease when everything else is gone."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from Xlib import X
from Xlib.ext import xtest

from tests.desktop.takeover.support import Taker
from tests.waiting import until, until_blocking
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.lease.lease import Lease
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.takeover.watchdog import Watched, met, start_watchdog, watch


@pytest.fixture
def leases(tmp_path: Path) -> Iterator[Leases]:
    leases = Leases(tmp_path / "leases.db")
    yield leases
    leases.close()


@pytest.fixture
def dead() -> ProcessIdentity:
    """A process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = ProcessIdentity.of(process.pid)
    process.communicate()
    return found


def take(leases: Leases, ttl: float = 0.3) -> Lease:
    return leases.take("desktop", "t", "takeover/b/t", cause="takeover", seconds=60, ttl=ttl)


def watched(leases: Leases, lease: Lease, runner: ProcessIdentity, tmp_path: Path) -> Watched:
    record = tmp_path / f"{lease.lease_id}.json"
    return Watched(leases.path, "desktop", lease.lease_id, time.time() + 60, runner, record, None)


def test_it_ends_what_nobody_ended_and_leaves_word(leases: Leases, dead: ProcessIdentity, tmp_path: Path) -> None:
    """E4: the runner is dead."""
    lease = take(leases)
    mine = watched(leases, lease, dead, tmp_path)
    began = time.monotonic()
    assert watch(mine)
    assert lease.ends <= time.monotonic() < began + 3
    assert not leases.remains("desktop", lease.lease_id)
    assert json.loads(mine.record.read_text())["event"] == "takeover_recovered"


def test_a_pid_that_was_given_to_another_process_is_not_the_runner(leases: Leases, tmp_path: Path) -> None:
    """E2: the same number, another start."""
    me = ProcessIdentity.current()
    lease = take(leases, ttl=0.1)
    began = time.monotonic()
    assert watch(watched(leases, lease, replace(me, started=me.started - 100), tmp_path))
    assert time.monotonic() - began < 3


def test_it_goes_where_its_lease_was_ended_and_another_stands(
    leases: Leases, dead: ProcessIdentity, tmp_path: Path
) -> None:
    """K09: the next lease is not its business."""
    lease = take(leases)
    mine = watched(leases, lease, dead, tmp_path)
    leases.end(lease)
    after = take(leases, ttl=20)
    assert not watch(mine)
    assert leases.current("desktop") == after
    assert not mine.record.exists()


def test_the_wall_clock_ends_it_too(leases: Leases, dead: ProcessIdentity, tmp_path: Path) -> None:
    """E4: a machine that slept past the deadline."""
    lease = take(leases, ttl=20)
    mine = watched(leases, lease, dead, tmp_path)
    assert watch(mine, wall=lambda: time.time() + 3600)
    assert not leases.remains("desktop", lease.lease_id)


def test_a_file_that_cannot_be_read_is_the_end_as_well(leases: Leases, dead: ProcessIdentity, tmp_path: Path) -> None:
    """E2: it leaves word, and gives nobody anything."""
    lease = take(leases, ttl=20)
    mine = watched(leases, lease, dead, tmp_path)
    leases.close()
    for end in ("-wal", "-shm"):
        leases.path.with_name(leases.path.name + end).unlink(missing_ok=True)
    leases.path.write_bytes(b"no leases" * 1000)
    assert watch(mine)
    assert mine.record.exists()


def test_a_runner_that_dies_before_it_was_answered_is_watched_all_the_same(
    leases: Leases, dead: ProcessIdentity, tmp_path: Path
) -> None:
    """E4, F3: nobody reads any more who the watchdog is."""
    lease = take(leases)
    mine = watched(leases, lease, dead, tmp_path)
    starter = start_watchdog(mine)
    assert starter.stdout is not None
    starter.stdout.close()
    starter.wait()
    until_blocking(lambda: not leases.remains("desktop", lease.lease_id))
    assert mine.record.exists()


def test_it_lives_in_a_session_of_its_own(leases: Leases, tmp_path: Path) -> None:
    """E4: no end of a terminal or of a group of processes is its end."""
    lease = take(leases, ttl=20)
    found = met(start_watchdog(watched(leases, lease, ProcessIdentity.current(), tmp_path)))
    assert found is not None and found.alive()
    assert os.getsid(found.pid) != os.getsid(0)
    leases.end(lease)
    until_blocking(lambda: not found.alive())


async def test_one_that_is_killed_is_started_again(taker: Taker) -> None:
    """E4: three clocks, and each is missed."""
    await taker.take()
    watching = taker.takeovers._watching

    def watchdog() -> ProcessIdentity | None:
        task = watching._known.get(taker.lease_id)
        return task.result() if task is not None and task.done() else None

    await until(lambda: watchdog() is not None)
    first = watchdog()
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    await until(lambda: watchdog() not in (None, first))
    assert taker.record().phase is Phase.HELD


async def test_it_releases_what_a_dead_runner_left_pressed(
    desktop: Desktop, leases: Leases, dead: ProcessIdentity, tmp_path: Path
) -> None:
    """E3, E4: keys, right after the lease's end."""
    shift = 50
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        xtest.fake_input(x, X.KeyPress, shift)
        x.sync()
    lease = take(leases)
    mine = replace(watched(leases, lease, dead, tmp_path), display=desktop.display)
    await asyncio.to_thread(watch, mine)
    assert time.monotonic() - lease.ends < 3
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        assert not any(x.query_keymap())


async def test_the_buttons_of_a_viewer_who_is_gone_are_released(desktop: Desktop) -> None:
    """E3: the display keeps them, whatever becomes of the process that passed them on."""
    from user_handoff.desktop.takeover.letting_go import let_go
    from user_handoff.desktop.view.picture import Picture
    from user_handoff.desktop.view.rfb import pointer

    assert desktop.display.rfb_socket is not None
    picture = await Picture.open(desktop.display.rfb_socket)
    picture.write(pointer(1, 1200, 700).data)
    await until(lambda: _mask(desktop))
    picture.abort()
    assert await asyncio.to_thread(let_go, desktop.display)
    await until(lambda: not _mask(desktop))


def _mask(desktop: Desktop) -> int:
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        return int(x.screen().root.query_pointer().mask) & 0x1F00
