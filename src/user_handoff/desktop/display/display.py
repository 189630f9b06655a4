"""The display that browsers are shown on, and the id of its life."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.ids import ID_PATTERN, new_id
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.identity import ProcessIdentity

_DESKTOP_PROPERTY = "_USER_HANDOFF_DESKTOP"

_USE_VIRTUAL = "Start the runner with --virtual to use a private virtual display"


@dataclass(frozen=True, slots=True)
class Display:
    """An X11 display.

    Attributes:
        name: Such as ``:7``.
        xauthority: The file with its cookie; None: the user's own.
        virtual: True where we started it.
        keeper: The process that keeps a virtual display; None for a real one.
        rfb_socket: The Unix socket (0600) on which a virtual display serves its picture; None for a real one.
    """

    name: str
    xauthority: Path | None
    virtual: bool
    keeper: ProcessIdentity | None
    rfb_socket: Path | None = None

    def environment(self) -> dict[str, str]:
        """What a program needs in its environment to be shown here, and nowhere else."""
        found = {"DISPLAY": self.name, "XDG_SESSION_TYPE": "x11", "GDK_BACKEND": "x11", "WAYLAND_DISPLAY": ""}
        if self.xauthority is not None:
            found["XAUTHORITY"] = str(self.xauthority)
        return found

    def alive(self) -> bool:
        """True while it can be shown on: its keeper lives, or it can be opened."""
        if self.keeper is not None:
            return self.keeper.alive()
        try:
            with connection(self.name, self.xauthority):
                return True
        except SetupError:
            return False


def real_display(environ: Mapping[str, str]) -> Display:
    """The display that this environment names.

    Args:
        environ: Usually `os.environ`.

    Raises:
        SetupError: `no_display`: none is named, or it cannot be opened. `wayland_unsupported`: the session is Wayland,
            where windows of other programs can be neither found nor driven. `program_missing`: see `require_xlib`.
    """
    name = environ.get("DISPLAY", "")
    wayland = bool(environ.get("WAYLAND_DISPLAY"))
    if not name:
        raise _wayland("there is no X display beside it") if wayland else _no_display()
    xauthority = Path(environ["XAUTHORITY"]) if environ.get("XAUTHORITY") else None
    try:
        with connection(name, xauthority) as x:
            nested = _is_xwayland(x)
    except SetupError as error:
        if wayland and error.code is ErrorCode.NO_DISPLAY:
            raise _wayland(f"the X display {name!r} beside it cannot be opened") from error
        raise
    if nested:
        raise _wayland(f"the X display {name!r} is Xwayland")
    return Display(name, xauthority, virtual=False, keeper=None)


def desktop_id(display: Display) -> str:
    """The id of this life of the display, minted once and kept on its root window.

    A runner that restarts finds the same id; a display that was started anew gets a new one.

    Raises:
        SetupError: `no_display`: the display is gone.
    """
    with connection(display.name, display.xauthority) as x:
        from Xlib import Xatom

        root, atom = x.screen().root, x.intern_atom(_DESKTOP_PROPERTY)
        x.grab_server()  # two processes that ask at once get one answer
        try:
            found = root.get_full_property(atom, Xatom.STRING)
            value = bytes(found.value).decode("ascii", "replace") if found else ""
            if not re.match(ID_PATTERN, value):
                value = new_id("d")
                root.change_property(atom, Xatom.STRING, 8, value.encode())
        finally:
            x.ungrab_server()
            x.sync()
    return value


def _is_xwayland(x: Any) -> bool:
    """True on Xwayland: by its extension (since 23.1), or by how it names its outputs."""
    names = {name.upper() for name in x.list_extensions()}
    if "XWAYLAND" in names:
        return True
    if "RANDR" not in names:
        return False
    resources = x.screen().root.xrandr_get_screen_resources()
    return any(
        str(x.xrandr_get_output_info(output, resources.config_timestamp).name).upper().startswith("XWAYLAND")
        for output in resources.outputs
    )


def _no_display() -> SetupError:
    return SetupError(
        ErrorCode.NO_DISPLAY,
        "This session has no X display: DISPLAY is not set.",
        holds="Nothing was started.",
        do_next=f"{_USE_VIRTUAL}, or set DISPLAY.",
    )


def _wayland(why: str) -> SetupError:
    return SetupError(
        ErrorCode.WAYLAND_UNSUPPORTED,
        f"This session is Wayland, and {why}: the exact window of a browser cannot be found there.",
        holds="Nothing was started.",
        do_next=f"{_USE_VIRTUAL}, or log in to an X11 session.",
    )
