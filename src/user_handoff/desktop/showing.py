"""Brings a held window to the front because its person asked, and never under the hands of somebody who types."""

import asyncio
import select
import time
from typing import Any, Final

from user_handoff.contract.handoff import Surface
from user_handoff.contract.showing import Shown, ShowWindow, WindowShown
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.handoff import refusals
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.surfaces.base import SurfaceFinder, not_found

IDLE_SECONDS: Final = 3.0
"""Who has touched nothing for so long is not in the middle of a word."""

LISTEN_SECONDS: Final = 1.5
"""How long a key is waited for where somebody was active just now: to ask for the window takes a click, and no key."""


class Showing:
    """Shows the windows of one desktop's holds."""

    def __init__(self, display: Display, surfaces: SurfaceFinder, holds: Holds) -> None:
        self._display = display
        self._surfaces = surfaces
        self._holds = holds

    async def show(self, request: ShowWindow) -> WindowShown:
        """Bring the window of a hold to the front.

        Raises:
            Gone: `unknown_handoff`: nobody has that browser by this handoff now.
            Refused: `surface_not_found`: the window is gone.
        """
        hold = self._holds.active(request.browser_id)
        if hold is None or hold.handoff_id != request.handoff_id or hold.phase not in (Phase.HELD, Phase.EXPIRED):
            raise refusals.no_hold(request.handoff_id)
        surface = hold.receipt().surface
        if not await asyncio.to_thread(self._surfaces.exists, surface):
            raise not_found("it was closed")
        return WindowShown(how=await asyncio.to_thread(show_window, self._display, self._surfaces, surface))


def show_window(display: Display, surfaces: SurfaceFinder, surface: Surface) -> Shown:
    """Raise exactly this window, once. It may take a moment: call it in a thread.

    Args:
        display: Where it is.
        surfaces: Knows the windows.
        surface: The window.

    Raises:
        SetupError: `no_display`: the display is gone.
    """
    if surfaces.focused() == surface.window_id:
        return Shown.IN_FRONT
    if surface.backend != "x11":
        return Shown.UNKNOWN
    with connection(display.name, display.xauthority) as x:
        if not all(x.has_extension(name) for name in ("MIT-SCREEN-SAVER", "XInputExtension")):
            return Shown.UNKNOWN
        if _idle_seconds(x) < IDLE_SECONDS and _types(x, LISTEN_SECONDS):
            return Shown.TYPING
    surfaces.raise_window(surface)
    return Shown.RAISED


def _idle_seconds(x: Any) -> float:
    return float(x.screen().root.screensaver_query_info().idle) / 1000


def _types(x: Any, seconds: float) -> bool:
    """Whether a key goes down, in whatever window, within so many seconds; which one it is, is not looked at."""
    from Xlib.ext import xinput

    root = x.screen().root
    x.xinput_query_version()
    root.xinput_select_events([(xinput.AllMasterDevices, xinput.RawKeyPressMask)])
    x.sync()
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        while x.pending_events():
            event = x.next_event()
            if getattr(event, "evtype", None) == xinput.RawKeyPress:
                return True
        select.select([x.fileno()], [], [], left)
    return False
