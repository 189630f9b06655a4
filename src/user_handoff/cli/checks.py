"""What can be wrong with this machine or its configuration, looked at one by one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

from user_handoff.cli.engine import temporal_program
from user_handoff.cli.ports import require_free
from user_handoff.cli.temporal import configured
from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError
from user_handoff.desktop.display.connection import require_xlib
from user_handoff.desktop.display.display import real_display
from user_handoff.desktop.display.virtual import missing_programs
from user_handoff.desktop.host.launch import chromium_path
from user_handoff.desktop.state import private_folder

DISK_BYTES = 500_000_000
"""A browser profile, its downloads and the engine's database want this much at least."""

DRIVER_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        name: What was looked at.
        ok: False where it would stop `handoff up`.
        found: What is there.
        mend: What to do; empty where nothing is to do.
        code: The code that `handoff up` would refuse with; None where all is well.
    """

    name: str
    ok: bool
    found: str
    mend: str = ""
    code: ErrorCode | None = None


def look(name: str, check: Callable[[], str]) -> Finding:
    """Make a finding of a check that returns what it found or raises what is wrong."""
    try:
        return Finding(name, True, check())
    except HandoffError as error:
        return Finding(name, False, error.what, error.do_next, error.code)


def python() -> str:
    """The Python that runs this."""
    return f"{sys.version.split()[0]} ({sys.executable})"


def xlib() -> str:
    """The Xlib that is imported: two distributions write the same folder."""
    require_xlib()
    return "python-xlib 0.33 or later"


def desktop(virtual: bool | None, name: str | None) -> str:
    """The display that a runner would use.

    Raises:
        SetupError: `no_display`, `wayland_unsupported` or `program_missing`.
    """
    environ = dict(os.environ) | ({"DISPLAY": name} if name else {})
    if virtual is None:
        virtual = not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
    if not virtual:
        return f"the X display {real_display(environ).name}"
    missing = missing_programs()
    if missing:
        raise SetupError(
            ErrorCode.NO_DISPLAY,
            f"There is no X display, and a virtual one cannot be started without {', '.join(missing)}.",
            holds="Nothing was started.",
            do_next="Run: apt-get install --no-install-recommends tigervnc-standalone-server openbox util-linux",
        )
    return "a private virtual display (Xtigervnc, openbox)"


def chromium(sandbox: bool) -> str:
    """The Chromium that would be started.

    Raises:
        SetupError: `chromium_missing`, or `chromium_failed` where root did not switch the sandbox off.
    """
    path = chromium_path()
    if sandbox and os.geteuid() == 0:
        raise SetupError(
            ErrorCode.CHROMIUM_FAILED,
            "This is root, and Chromium does not start with its sandbox as root.",
            holds="Nothing was started.",
            do_next="Run as another user; or, where the machine is yours to risk, add --no-sandbox.",
        )
    return str(path)


def driver() -> str:
    """The program through which pages are driven.

    Raises:
        SetupError: `program_missing`: it does not start.
    """
    node = compute_driver_executable()[0]
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=DRIVER_SECONDS)
        if done.returncode == 0:
            return f"node {done.stdout.strip()} of Playwright"
        why = done.stderr.strip().rpartition("\n")[2]
    except (OSError, subprocess.TimeoutExpired) as error:
        why = type(error).__name__
    raise SetupError(
        ErrorCode.PROGRAM_MISSING,
        f"Playwright's driver does not start: {why}.",
        holds="Nothing was started.",
        do_next="Install the library that it names (Debian: apt-get install libatomic1), or install playwright again.",
    )


def state_folder(state: Path) -> str:
    """The state folder, made where it is missing.

    Raises:
        SetupError: `state_unwritable`.
    """
    private_folder(state)
    return f"{state} (0700)"


def disk(state: Path) -> str:
    """Free space.

    Raises:
        SetupError: `state_unwritable`: too little.
    """
    free = shutil.disk_usage(state).free
    if free < DISK_BYTES:
        raise SetupError(
            ErrorCode.STATE_UNWRITABLE,
            f"Only {free // 1_000_000} MB are free at {state}.",
            holds="Nothing was started.",
            do_next=f"Free {DISK_BYTES // 1_000_000} MB, or name another state folder with --state.",
        )
    return f"{free // 1_000_000} MB free"


def engine() -> str:
    """Which Temporal would be used.

    Raises:
        SetupError: `program_missing`, or `temporal_unreachable` for a configuration that cannot be read.
    """
    config = configured()
    if config is not None:
        return f"the configured server {config['target_host']}"
    return f"the embedded server, by {temporal_program()}"


def port(number: int, what: str, option: str) -> str:
    """A port that has to be free.

    Raises:
        SetupError: `port_taken`.
    """
    require_free(number, what, option)
    return f"{number} is free"


def require(state: Path, *, virtual: bool | None, display: str | None, sandbox: bool) -> None:
    """Refuse what would stop `handoff up`.

    Raises:
        SetupError: The first thing that is wrong.
    """
    engine()
    xlib()
    disk(state)
    driver()
    chromium(sandbox)
    desktop(virtual, display)
