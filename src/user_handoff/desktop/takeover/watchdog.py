"""The process that ends a takeover's lease where nobody else is left to do so. It lives until the lease is ended.

It never gives the browser back to the agent: what a person did is unknown to it, so the browser stays paused until a
runner comes back, looks, and compares.
"""

import argparse
import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.redact import log_to
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.virtual import PASSED_ON
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.state import write_private
from user_handoff.desktop.takeover.letting_go import let_go

log = logging.getLogger(__name__)

_LOG = "watchdog.log"
_LOOK_SECONDS = 0.1
_RELEASE_SECONDS = 0.3
"""So long after its end the keys are released, whoever else is about to do that."""

_PATIENCE_SECONDS = 5.0
"""How long a runner that lives has to end its lease itself."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a watchdog watches.

    Attributes:
        leases: The file of leases.
        subject: The lease's subject.
        lease_id: The lease.
        until: Its deadline by the wall clock, in seconds since 1970.
        runner: The process that ends it as a rule.
        record: What is written where this process ended it.
        display: The virtual display on which something may be pressed; None: a real one.
    """

    leases: Path
    subject: str
    lease_id: str
    until: float
    runner: ProcessIdentity
    record: Path
    display: Display | None


def start_watchdog(watched: Watched) -> subprocess.Popen[bytes]:
    """Start the watchdog in a session of its own: it outlives this process, its group and its terminal.

    Returns:
        Its starter, which says who the watchdog is and ends: see `met`.

    Raises:
        OSError: It cannot be started.
    """
    # fmt: off
    command = [
        sys.executable, "-P", "-m", "user_handoff.desktop.takeover", "--leases", str(watched.leases.resolve()),
        "--subject", watched.subject, "--lease-id", watched.lease_id, "--until", repr(watched.until),
        "--runner", str(watched.runner.pid), repr(watched.runner.started), "--record", str(watched.record.resolve()),
    ]
    # fmt: on
    if watched.display is not None:
        command += ["--display", watched.display.name, "--xauthority", str(watched.display.xauthority)]
        command += ["--rfb-socket", str(watched.display.rfb_socket)]
    log = os.open(watched.record.parent / _LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env={name: value for name, value in os.environ.items() if PASSED_ON.match(name)},
        )
    finally:
        os.close(log)


def met(starter: subprocess.Popen[bytes]) -> ProcessIdentity | None:
    """Wait until the starter has said who the watchdog is; None where it failed."""
    said, _ = starter.communicate()
    try:
        pid, started = said.split()
        return ProcessIdentity(int(pid), float(started))
    except ValueError:
        return None


def main() -> None:
    """Detach, watch until the lease is ended, and end the process."""
    watched = _options()
    if os.fork():
        os._exit(0)  # the runner reaps this one; the watchdog belongs to init
    log_to(names=False)
    me = ProcessIdentity.current()
    with contextlib.suppress(OSError):  # the runner may be dead already, which is what this process is for
        os.write(1, f"{me.pid} {me.started!r}\n".encode())
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # who waits for that line waits for its end
    watch(watched)
    os._exit(0)


def watch(watched: Watched, wall: Callable[[], float] = time.time) -> bool:
    """Wait for the lease's end; see to it that it is ended.

    Args:
        watched: Which lease.
        wall: The wall clock.

    Returns:
        True where this ended it; False where somebody else did.
    """
    leases = Leases(watched.leases)
    try:
        if not _wait_over(leases, watched, wall):
            return False
        log.warning("lease %s is over and nobody has ended it: ended here, the browser stays paused", watched.lease_id)
        _leave_word(watched)
        _end(leases, watched)
        return True
    finally:
        leases.close()


def _wait_over(leases: Leases, watched: Watched, wall: Callable[[], float]) -> bool:
    """True once it is over and whoever should end it does not; False where it was ended."""
    over_since: float | None = None
    released = False
    while watched.leases.exists():
        now = time.monotonic()
        match _standing(leases, watched, wall()):
            case "ended":
                return False
            case "live":
                over_since, released = None, False  # where it could not be read for a moment
            case _:
                over_since = now if over_since is None else over_since
                if not released and now - over_since >= _RELEASE_SECONDS:
                    _release(watched.display)
                    released = True
                if released and (not watched.runner.alive() or now - over_since >= _PATIENCE_SECONDS):
                    return True
        time.sleep(_LOOK_SECONDS)
    return False  # the state folder itself is gone


def _standing(leases: Leases, watched: Watched, wall: float) -> str:
    try:
        if not leases.remains(watched.subject, watched.lease_id):
            return "ended"
        lease = leases.current(watched.subject)
    except HandoffError:
        return "unreadable"
    return "live" if lease is not None and lease.lease_id == watched.lease_id and wall < watched.until else "over"


def _release(display: Display | None) -> None:
    if display is None:
        return
    try:
        if let_go(display):
            log.warning("what was still pressed is released")
    except Exception as error:
        log.warning("what is pressed could not be released: %s", type(error).__name__)


def _end(leases: Leases, watched: Watched) -> None:
    try:
        leases.end_by_id(watched.subject, watched.lease_id)
    except HandoffError as error:
        log.error("the lease could not be ended, and is over all the same: %s", error.what)


def _leave_word(watched: Watched) -> None:
    content = {"event": "takeover_recovered", "lease_id": watched.lease_id, "at": time.time()}
    try:
        write_private(watched.record, json.dumps(content).encode())
    except OSError as error:
        log.error("no word could be left: %s", type(error).__name__)


def _options() -> Watched:
    parser = argparse.ArgumentParser(prog="python -m user_handoff.desktop.takeover")
    parser.add_argument("--leases", type=Path, required=True)
    parser.add_argument("--subject", required=True)
    parser.add_argument("--lease-id", required=True)
    parser.add_argument("--until", type=float, required=True)
    parser.add_argument("--runner", nargs=2, required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--display")
    parser.add_argument("--xauthority", type=Path)
    parser.add_argument("--rfb-socket", type=Path)
    said = parser.parse_args()
    pid, started = said.runner
    display = None
    if said.display:
        display = Display(said.display, said.xauthority, virtual=True, keeper=None, rfb_socket=said.rfb_socket)
    return Watched(
        said.leases,
        said.subject,
        said.lease_id,
        said.until,
        ProcessIdentity(int(pid), float(started)),
        said.record,
        display,
    )
