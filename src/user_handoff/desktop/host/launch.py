"""Starting browser hosts, and finding those that a runner before this one started."""

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import psutil

from user_handoff.contract.errors import ErrorCode, SetupError, from_dict
from user_handoff.desktop.host.chromium import inherited_environment
from user_handoff.desktop.host.spec import LOG_NAME, RECORD_NAME, HostRecord, HostSpec, artifacts_folder
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import private_folder

__all__ = ["HostRecord", "HostSpec", "artifacts_folder", "chromium_path", "find_hosts", "launch_host"]

logger = logging.getLogger(__name__)

CHROMIUM_VARIABLE = "HANDOFF_CHROMIUM"
"""The environment variable that names the browser to run."""

_NAMES = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser")
_END_SECONDS = 5
_SOCKET_BYTES = 100
"""A Unix socket's path may be 104 to 108 bytes long, depending on the system."""


def chromium_path() -> Path:
    """The browser to run: the one named by HANDOFF_CHROMIUM, else Chrome or Chromium on PATH.

    Raises:
        SetupError: `chromium_missing`.
    """
    named = os.environ.get(CHROMIUM_VARIABLE)
    found = [shutil.which(name) for name in ([named] if named else _NAMES)]
    for path in found:
        if path:
            return Path(path)
    what = f"{CHROMIUM_VARIABLE} names {named!r}, which cannot be run." if named else "No Chrome or Chromium was found."
    raise SetupError(
        ErrorCode.CHROMIUM_MISSING,
        what,
        holds="Nothing was started.",
        do_next=f"Install it (Debian: apt-get install chromium), or name one with {CHROMIUM_VARIABLE}.",
    )


async def launch_host(spec: HostSpec, timeout_seconds: float = 20) -> HostRecord:
    """Start a browser host; it goes on when this process ends.

    Raises:
        SetupError: `profile_in_use`, `no_display`, `chromium_failed`, `state_unwritable`: nothing is left running.
    """
    _check(spec)
    private_folder(spec.folder)
    reading, report = os.pipe()
    try:
        process = await _spawn(spec, report)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(report)
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _start(process, spec, report, reading)
    except TimeoutError:
        await _end_group(process.pid)
        raise _failed(f"The browser was not ready within {timeout_seconds:g} s.", spec) from None
    except BaseException:
        await _end_group(process.pid)
        raise


def find_hosts(browsers_folder: Path) -> list[HostRecord]:
    """The hosts, of every browser folder in a folder, that live with their browser."""
    found = []
    for path in sorted(browsers_folder.glob(f"*/{RECORD_NAME}")):
        try:
            record = HostRecord.read(path.parent)
        except FileNotFoundError:
            continue  # it ended in this moment
        except (OSError, KeyError, TypeError, ValueError) as error:
            logger.warning("the host record in %s cannot be read: %s", path.parent, type(error).__name__)
            continue
        if record.alive():
            found.append(record)
    return found


def _check(spec: HostSpec) -> None:
    if len(os.fsencode(spec.socket)) > _SOCKET_BYTES:
        raise _failed(f"The socket's path {spec.socket} is longer than {_SOCKET_BYTES} bytes.", spec)
    if spec.sandbox and os.geteuid() == 0:
        raise SetupError(
            ErrorCode.CHROMIUM_FAILED,
            "Chromium refuses to run as root with its sandbox.",
            holds="Nothing was started.",
            do_next="Run as a normal user, or switch the sandbox off explicitly.",
        )
    if not spec.display:
        raise SetupError(
            ErrorCode.NO_DISPLAY,
            "No display is named for the browser.",
            holds="Nothing was started.",
            do_next="Name an X display, or start a virtual one.",
        )


async def _spawn(spec: HostSpec, report: int) -> asyncio.subprocess.Process:
    log = os.open(spec.folder / LOG_NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "user_handoff.desktop.host",
            stdin=asyncio.subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=inherited_environment(),
            pass_fds=(report,),
            start_new_session=True,  # its process group is how a failed start is ended as a whole
        )
    finally:
        os.close(log)


async def _start(process: asyncio.subprocess.Process, spec: HostSpec, report: int, reading: int) -> HostRecord:
    loop = asyncio.get_running_loop()
    answer = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(answer), os.fdopen(reading, "rb", buffering=0)
    )
    try:
        await process.communicate(json.dumps({"report": report, "spec": spec.to_json()}).encode())
        text = await answer.read()
    finally:
        transport.close()
    if not text:
        raise _failed("The browser's host ended before it could answer.", spec)
    message = json.loads(text)
    if "error" in message:
        raise from_dict(message["error"])
    return HostRecord.from_dict(message["record"])


def _failed(what: str, spec: HostSpec) -> SetupError:
    return SetupError(
        ErrorCode.CHROMIUM_FAILED,
        what,
        holds="Nothing is left running.",
        do_next=f"See {spec.folder / LOG_NAME}.",
    )


async def _end_group(group: int) -> None:
    """Kill a host that failed, and its browser, and wait until they are gone."""
    with contextlib.suppress(ProcessLookupError):
        members = await asyncio.to_thread(_members, group)
        os.killpg(group, signal.SIGKILL)
        await asyncio.to_thread(_wait_for_end, members)


def _members(group: int) -> list[ProcessIdentity]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group:
                found.append(ProcessIdentity.of(process.pid))
    return found


def _wait_for_end(processes: list[ProcessIdentity]) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while any(process.alive() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)
