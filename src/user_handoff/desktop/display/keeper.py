"""The process that keeps a virtual display alive while runners come and go, and ends it when nobody needs it."""

import argparse
import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import time
from asyncio.subprocess import Process
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from user_handoff.contract.redact import log_to
from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.cookie import write_cookie
from user_handoff.desktop.display.openbox import CONFIGURATION
from user_handoff.desktop.display.record import COOKIE, RECORD, WANTED, Record, write_record
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import private_folder, runtime_folder, write_private

log = logging.getLogger(__name__)

_WITH_KEEPER = ("setpriv", "--pdeathsig", "TERM", "--")
"""The kernel ends a child started so when the keeper dies, even by SIGKILL."""

_END_SECONDS = 5
_STEADY_SECONDS = 5
_WINDOW_MANAGER_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Options:
    """What the keeper is told.

    Attributes:
        folder: Where the record, the cookie and the log are (0700).
        geometry: Such as ``1280x800``.
        idle_seconds: It ends after this long without any program on the display and without a touch.
        ready: The descriptor to which one line is written when all stands.
    """

    folder: Path
    geometry: str
    idle_seconds: float
    ready: int


def main() -> None:
    """Detach, keep the display until it is not needed, and end the process."""
    options = _options()
    if os.fork():
        os._exit(0)  # the starter reaps this one; the keeper belongs to init
    log_to(names=False)
    os._exit(asyncio.run(_keep(options)))


def server_command(display_fd: int, cookie: Path, rfb_socket: Path, geometry: str) -> list[str]:
    """The X server: no TCP listener, its picture on a private socket alone, no clipboard, no changes from viewers."""
    # fmt: off
    return [
        *_WITH_KEEPER, "Xtigervnc", "-displayfd", str(display_fd), "-auth", str(cookie), "-geometry", geometry,
        "-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1", "-rfbunixpath", str(rfb_socket),
        "-rfbunixmode", "0600", "-AlwaysShared=1", "-AcceptCutText=0", "-SendCutText=0", "-AcceptSetDesktopSize=0",
        "-AllowOverride=", "-nolisten", "tcp", "-noreset", "-s", "0",
    ]
    # fmt: on


async def _keep(options: Options) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    record = options.folder / RECORD
    record.unlink(missing_ok=True)
    runtime = runtime_folder(f"display-{sha256(os.fsencode(options.folder.resolve())).hexdigest()[:12]}")
    server, found = await _start_server(options, runtime / "rfb")
    manager = asyncio.create_task(_keep_window_manager(runtime))
    try:
        x = await asyncio.to_thread(connect, found.name, options.folder / COOKIE)
        await _window_manager_stands(x)
        write_record(options.folder, found)
        _say_ready(options.ready)
        log.info("display %s stands, server %d", found.name, server.pid)
        reasons = {
            "the X server ended": server.wait(),
            "it was told to": stop.wait(),
            "nobody needs it": _until_unneeded(x, options),
        }
        log.info("ending: %s", await _first(reasons))
    finally:
        record.unlink(missing_ok=True)
        manager.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await manager
        await _end(server)
        shutil.rmtree(runtime, ignore_errors=True)
    return 0


async def _start_server(options: Options, rfb_socket: Path) -> tuple[Process, Record]:
    cookie = private_folder(options.folder) / COOKIE
    write_cookie(cookie)
    reader, writer = os.pipe()
    try:
        server = await asyncio.create_subprocess_exec(
            *server_command(writer, cookie, rfb_socket, options.geometry), pass_fds=(writer,)
        )
    finally:
        os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        number = (await asyncio.to_thread(pipe.readline)).strip()  # the server picks a free one itself
    if not number.isdigit():
        await _end(server)
        raise RuntimeError("the X server ended before it was ready")
    record = Record(
        name=f":{int(number)}",
        keeper=ProcessIdentity.current(),
        server=ProcessIdentity.of(server.pid),
        rfb_socket=rfb_socket,
    )
    os.environ.update(record.display(options.folder).environment())
    return server, record


async def _keep_window_manager(runtime: Path) -> None:
    configuration = runtime / "openbox.xml"
    write_private(configuration, CONFIGURATION.encode())
    command = (*_WITH_KEEPER, "openbox", "--sm-disable", "--config-file", str(configuration))
    while True:
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(*command)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            await _end(process)
            raise
        log.warning("openbox ended with %d and is started again", code)
        if time.monotonic() - started < _STEADY_SECONDS:
            await asyncio.sleep(1)  # one that cannot start must not spin


async def _window_manager_stands(x: Any) -> None:
    deadline = time.monotonic() + _WINDOW_MANAGER_SECONDS
    check = x.intern_atom("_NET_SUPPORTING_WM_CHECK")
    while x.screen().root.get_full_property(check, 0) is None:
        if time.monotonic() > deadline:
            raise RuntimeError("openbox did not start")
        await asyncio.sleep(0.02)


async def _until_unneeded(x: Any, options: Options) -> None:
    """Return after `idle_seconds`, by this process's own clock, without a program shown here and without a touch."""
    needed = time.monotonic()
    stamp = _stamp(options.folder)
    while time.monotonic() - needed < options.idle_seconds:
        await asyncio.sleep(min(30.0, options.idle_seconds / 4))
        seen, stamp = stamp, _stamp(options.folder)
        if seen != stamp or await asyncio.to_thread(_programs_shown, x):
            needed = time.monotonic()


def _programs_shown(x: Any) -> bool:
    """True while any client but this process and the window manager is connected."""
    from Xlib.ext import res

    bases = [client.resource_base for client in x.res_query_clients().clients]
    answer = x.res_query_client_ids([{"client": base, "mask": res.LocalClientPIDMask} for base in bases])
    pids = {int(found.value[0]) for found in answer.ids if found.value}
    return any(not _is_ours(pid) for pid in pids)


def _is_ours(pid: int) -> bool:
    """True for this process and its children, the server and the window manager."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True  # it has just ended
    match = re.search(r"\) \S (\d+) ", stat)
    return pid == os.getpid() or (match is not None and int(match[1]) == os.getpid())


def _stamp(folder: Path) -> int:
    try:
        return (folder / WANTED).stat().st_mtime_ns
    except OSError:
        return 0


async def _first(reasons: dict[str, Any]) -> str:
    tasks = {asyncio.ensure_future(reason): name for name, reason in reasons.items()}
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    return tasks[done.pop()]


async def _end(process: Process) -> None:
    for end in (process.terminate, process.kill):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            end()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _END_SECONDS)


def _say_ready(descriptor: int) -> None:
    with contextlib.suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as pipe:
        pipe.write(b"ready\n")


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m user_handoff.desktop.display")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--geometry", required=True)
    parser.add_argument("--idle-seconds", type=float, required=True)
    parser.add_argument("--ready-fd", type=int, required=True)
    parsed = parser.parse_args()
    return Options(parsed.folder, parsed.geometry, parsed.idle_seconds, parsed.ready_fd)
