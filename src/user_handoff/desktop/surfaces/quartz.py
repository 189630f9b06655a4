"""Windows of macOS, as the window server lists them (`CGWindowListCopyWindowInfo`).

Written from Apple's documentation and not yet run on a Mac. The list has the process, number, bounds and layer of
each window without any permission; titles alone need one, and are never read. pywinctl is not used here: it names a
window by its application and title, and its process is the first one of that name.
"""

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from user_handoff.desktop.surfaces.match import NativeWindow

_NORMAL_LAYER = 0
"""kCGNormalWindowLevel: where documents and dialogs are; menus and an open select are above it."""

_POPUP_LAYERS = range(1, 102)
"""Up to kCGPopUpMenuWindowLevel (101): floating panels, menus. Higher ones are the system's."""


def read_windows(listed: Iterable[Mapping[str, Any]]) -> list[NativeWindow]:
    """The windows in an answer of `CGWindowListCopyWindowInfo`, front to back as they were listed.

    Bounds are in points of the global display space: from the upper left of the main screen, for all screens and at
    any scale. These are Chromium's own pixels too, so no scale is applied. macOS tells no owner of a dialog: sheets and
    panels of the process count as its dialogs only where they are above the normal layer.
    """
    return [window for entry in listed if (window := _read(entry)) is not None]


def focused_window(listed: Iterable[Mapping[str, Any]], active_pid: int) -> int | None:
    """The frontmost ordinary window of the active application, in a list front to back; None where it has none."""
    for entry in listed:
        mine = entry.get("kCGWindowOwnerPID") == active_pid and entry.get("kCGWindowLayer") == _NORMAL_LAYER
        if mine and entry.get("kCGWindowIsOnscreen"):
            return int(entry["kCGWindowNumber"])
    return None


class QuartzSource:
    """The window server of this session."""

    backend: Literal["quartz"] = "quartz"

    def why_not(self) -> str:
        """Why its windows cannot be listed; empty where they can."""
        try:
            if _list() is None:
                return "this process has no window server: it runs outside of a person's session"
        except (ImportError, OSError) as error:
            return f"the window server cannot be asked ({type(error).__name__})"
        return ""

    def windows(self) -> list[NativeWindow]:
        """The windows of all processes of this session."""
        return read_windows(_list() or ())

    def focused(self) -> int | None:
        """The frontmost window of the active application."""
        if sys.platform != "darwin":
            return None
        active = importlib.import_module("AppKit").NSWorkspace.sharedWorkspace().frontmostApplication()
        return focused_window(_list() or (), int(active.processIdentifier())) if active else None

    def raise_window(self, window_id: int, pid: int) -> None:
        """Activate the application: without the accessibility permission a program cannot name one of its windows."""
        if sys.platform != "darwin":
            return
        kit = importlib.import_module("AppKit")
        application = kit.NSRunningApplication.runningApplicationWithProcessIdentifier_(pid)
        if application is not None:
            application.activateWithOptions_(kit.NSApplicationActivateIgnoringOtherApps)


def _list() -> list[Mapping[str, Any]] | None:
    """All windows: also minimised ones and those of other spaces, which "on screen only" would leave out."""
    if sys.platform != "darwin":
        raise OSError("not macOS")
    quartz = importlib.import_module("Quartz")  # pyobjc, which pywinctl installs there
    options = quartz.kCGWindowListOptionAll | quartz.kCGWindowListExcludeDesktopElements
    found: list[Mapping[str, Any]] | None = quartz.CGWindowListCopyWindowInfo(options, quartz.kCGNullWindowID)
    return found


def _read(entry: Mapping[str, Any]) -> NativeWindow | None:
    try:
        bounds = entry["kCGWindowBounds"]
        left, top, width, height = (round(float(bounds[name])) for name in ("X", "Y", "Width", "Height"))
        number, pid, layer = (int(entry[f"kCGWindow{name}"]) for name in ("Number", "OwnerPID", "Layer"))
    except (KeyError, TypeError, ValueError):
        return None  # all of these are documented as always there: what lacks one is no window that can be matched
    visible = float(entry.get("kCGWindowAlpha", 1)) > 0 and width > 1 and height > 1
    return NativeWindow(
        window_id=number,
        pid=pid,
        rectangle=(left, top, width, height),
        main=layer == _NORMAL_LAYER,
        popup=layer in _POPUP_LAYERS,
        shown=visible,
    )
