"""A private virtual display: found again while it lives, else started."""

import asyncio
import contextlib
import fcntl
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.display.connection import connection, require_xlib
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.record import LOG, RECORD, WANTED, read_record
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import private_folder

IDLE_SECONDS = 4 * 3600 + 900.0
"""A display that nobody uses ends after this: the longest life of a browser, and a margin."""

_PROGRAMS = ("Xtigervnc", "openbox", "setpriv")
_GEOMETRY = re.compile(r"^[1-9]\d{2,4}x[1-9]\d{2,4}$")
PASSED_ON = re.compile(r"^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TMPDIR|XDG_\w+|PYTHON\w*|VIRTUAL_ENV)$")
"""What a process that outlives the runner inherits: a key for some service is none of its business."""


def missing_programs() -> list[str]:
    """The programs that a virtual display needs and that are not installed."""
    return [name for name in _PROGRAMS if shutil.which(name) is None]


async def ensure_virtual(
    folder: Path, geometry: str = "1280x800", timeout_seconds: float = 15, *, idle_seconds: float = IDLE_SECONDS
) -> Display:
    """The virtual display of this folder: the live one, else a new one in a process of its own.

    It survives the death of this process, and ends by itself after `idle_seconds` without any program on it and
    without `touch_virtual`.

    Args:
        folder: Where its record, cookie and log are kept; made when missing (0700).
        geometry: Width and height in pixels of a new one.
        timeout_seconds: How long a new one may take.
        idle_seconds: See above.

    Raises:
        SetupError: `program_missing`, `no_display` (it did not start; the log is named) or `state_unwritable`.
    """
    return await asyncio.to_thread(_ensure, folder, geometry, timeout_seconds, idle_seconds)


async def stop_virtual(folder: Path) -> None:
    """End the virtual display of this folder and all that is shown on it; nothing happens where there is none."""
    await asyncio.to_thread(_stop, folder)


def touch_virtual(folder: Path) -> None:
    """Say that the virtual display of this folder is still needed."""
    (folder / WANTED).touch(mode=0o600)


def _ensure(folder: Path, geometry: str, timeout_seconds: float, idle_seconds: float) -> Display:
    if not _GEOMETRY.match(geometry):
        raise SetupError(
            ErrorCode.INVALID_REQUEST,
            f"{geometry[:40]!r} is not a geometry.",
            holds="Nothing was started.",
            do_next="Give width and height in pixels, such as 1280x800.",
        )
    require_xlib()
    deadline = time.monotonic() + timeout_seconds
    with _alone(private_folder(folder), deadline):
        live = _live(folder)
        if live is None:
            _require_programs()
            _clear(folder)
            live = _start(folder, geometry, idle_seconds, deadline)
        touch_virtual(folder)
        return live


def _stop(folder: Path) -> None:
    if not folder.exists():
        return
    with _alone(folder, time.monotonic() + 30):
        _clear(folder)


def _require_programs() -> None:
    missing = missing_programs()
    if missing:
        raise SetupError(
            ErrorCode.PROGRAM_MISSING,
            f"A virtual display needs {', '.join(missing)}.",
            holds="Nothing was started.",
            do_next="On Debian: apt-get install tigervnc-standalone-server openbox util-linux",
        )


def _live(folder: Path) -> Display | None:
    record = read_record(folder)
    if record is None or not (record.keeper.alive() and record.server.alive()):
        return None
    display = record.display(folder)
    try:
        with connection(display.name, display.xauthority):
            return display
    except SetupError:
        return None


def _start(folder: Path, geometry: str, idle_seconds: float, deadline: float) -> Display:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as ready:
        try:
            starter = _spawn(folder, geometry, idle_seconds, writer)
        finally:
            os.close(writer)
        started = select.select([ready], [], [], max(0.0, deadline - time.monotonic()))[0] and ready.readline()
    record = read_record(folder) if started else None
    if record is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(starter.pid, signal.SIGTERM)  # the keeper stays in the group of its starter
        starter.wait()
        raise _not_started(folder)
    starter.wait()
    return record.display(folder)


def _spawn(folder: Path, geometry: str, idle_seconds: float, ready: int) -> subprocess.Popen[bytes]:
    # fmt: off
    command = [
        sys.executable, "-P", "-m", "user_handoff.desktop.display", "--folder", str(folder.resolve()),
        "--geometry", geometry, "--idle-seconds", str(idle_seconds), "--ready-fd", str(ready),
    ]
    # fmt: on
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(ready,),
            start_new_session=True,
            cwd="/",
            env={name: value for name, value in os.environ.items() if PASSED_ON.match(name)},
        )
    finally:
        os.close(log)


def _not_started(folder: Path) -> SetupError:
    return SetupError(
        ErrorCode.NO_DISPLAY,
        "The virtual display did not start in time.",
        holds="Nothing of it is left running.",
        do_next=f"Read {folder / LOG}, then try again.",
    )


def _clear(folder: Path) -> None:
    """End what a record still names, the keeper first, and remove the record."""
    record = read_record(folder)
    if record is not None:
        _end(record.keeper)
        _end(record.server)
    (folder / RECORD).unlink(missing_ok=True)


def _end(process: ProcessIdentity) -> None:
    """End exactly this process: by a descriptor of it, which no other process can come to stand for."""
    for number, seconds in ((signal.SIGTERM, 12), (signal.SIGKILL, 5)):
        try:
            handle = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return
        try:
            if not process.alive():
                return
            signal.pidfd_send_signal(handle, number)
            if select.select([handle], [], [], seconds)[0]:
                return
        except ProcessLookupError:
            return
        finally:
            os.close(handle)


@contextlib.contextmanager
def _alone(folder: Path, deadline: float) -> Iterator[None]:
    """Hold the folder's lock: two runners that start at once share one display."""
    handle = os.open(folder / "display.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise _not_started(folder) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)
