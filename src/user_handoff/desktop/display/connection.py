"""Connections to an X server: made on demand, never at import."""

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from user_handoff.contract.errors import ErrorCode, SetupError

NEEDED_XLIB = (0, 33)
"""The first python-xlib with X-Resource; the distribution python3-xlib (0.15) writes the same folder."""

MEND_XLIB = "pip install --force-reinstall --no-deps 'python-xlib==0.33'"

_LOCAL = re.compile(r"^(?:unix)?:(\d+)(?:\.\d+)?$")

_environment = threading.Lock()


def require_xlib() -> None:
    """See to it that the Xlib in use is python-xlib 0.33 or later.

    Raises:
        SetupError: `program_missing`: it is missing, or another distribution has overwritten it.
    """
    try:
        import Xlib
    except ImportError:
        found = "is not installed"
    else:
        version = tuple(Xlib.__version__)
        if version >= NEEDED_XLIB:
            return
        found = f"is {'.'.join(map(str, version))}, written over it by the distribution python3-xlib"
    raise SetupError(
        ErrorCode.PROGRAM_MISSING,
        f"python-xlib 0.33 is needed to find windows, and the Xlib in use {found}.",
        holds="Nothing was started.",
        do_next=f"Run: {MEND_XLIB}",
    )


def connect(name: str, xauthority: Path | None) -> Any:
    """Open a connection (`Xlib.display.Display`) with the cookies of one file, whatever the environment says.

    Args:
        name: The display, such as ``:7``.
        xauthority: The cookie file; None: the one that the environment names, or ``~/.Xauthority``.

    Raises:
        SetupError: `no_display`: it cannot be opened. `program_missing`: python-xlib is not the one needed.
    """
    require_xlib()
    from Xlib import display, error

    try:
        _knock(name)
        with _cookies(xauthority):
            return display.Display(name)
    except (error.DisplayError, error.ConnectionClosedError, error.XauthError, OSError, AssertionError) as problem:
        raise SetupError(
            ErrorCode.NO_DISPLAY,
            f"The X display {name!r} cannot be opened: {problem}.",
            holds="Nothing was started.",
            do_next="Start it, or correct DISPLAY and XAUTHORITY, or use a virtual display (--virtual).",
        ) from problem


@contextmanager
def connection(name: str, xauthority: Path | None) -> Iterator[Any]:
    """A connection for as long as the block runs; raises as `connect` does."""
    opened = connect(name, xauthority)
    try:
        yield opened
    finally:
        opened.close()


def _knock(name: str) -> None:
    """See that a local display listens: python-xlib would try TCP instead, and leave both sockets open."""
    local = _LOCAL.match(name)
    if local is None:
        return
    path = f"/tmp/.X11-unix/X{local[1]}"  # noqa: S108  (where X servers listen)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
        try:
            knock.connect(path)
        except OSError:
            knock.connect(f"\0{path}")


@contextmanager
def _cookies(xauthority: Path | None) -> Iterator[None]:
    """Let XAUTHORITY name this file for a moment: python-xlib reads it nowhere else."""
    if xauthority is None:
        yield
        return
    with _environment:
        before = os.environ.get("XAUTHORITY")
        os.environ["XAUTHORITY"] = str(xauthority)
        try:
            yield
        finally:
            if before is None:
                del os.environ["XAUTHORITY"]
            else:
                os.environ["XAUTHORITY"] = before
