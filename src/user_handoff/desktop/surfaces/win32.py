"""Windows of Windows: HWND, owning process, bounds.

Written from Microsoft's documentation and not yet run on Windows. The calls are user32's own, by ctypes: pywinctl
gives the same HWND and process id, but neither the owner of a dialog, nor the restored bounds, nor a window's DPI.

All rectangles are in physical pixels: the thread that asks is made per-monitor DPI aware for the time of the call.
Otherwise Windows would answer a program that is not aware with numbers scaled for it alone.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from user_handoff.desktop.surfaces.match import NativeWindow

_CLASS = "Chrome_WidgetWin_1"
"""The class of Chromium's top-level windows; a page cannot choose it."""

_WS_POPUP = 0x80000000
_WS_CAPTION = 0x00C00000
_WS_EX_TOOLWINDOW = 0x00000080
_STANDARD_DPI = 96


class Edges(NamedTuple):
    """A RECT."""

    left: int
    top: int
    right: int
    bottom: int

    def moved(self, dx: int, dy: int) -> "Edges":
        """The same, elsewhere."""
        return Edges(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Screen(_Closed):
    """A MONITORINFO, with its effective DPI."""

    monitor: Edges
    work: Edges
    """Without the taskbar."""
    dpi: int


class Raw(_Closed):
    """What Windows says of one top-level window."""

    hwnd: int
    pid: int
    """GetWindowThreadProcessId."""
    class_name: str
    style: int
    ex_style: int
    owner: int
    """GetWindow(GW_OWNER); 0: none."""
    visible: bool
    """IsWindowVisible: also true where it is minimised, or on another virtual desktop (there it is only cloaked)."""
    iconic: bool
    rect: Edges
    """GetWindowRect: far off every screen while it is minimised."""
    normal: Edges
    """GetWindowPlacement's rcNormalPosition, from the upper left of the work area."""
    dpi: int
    """GetDpiForWindow."""
    screen: int
    """The index of its screen."""


def read_windows(raw: Sequence[Raw], screens: Sequence[Screen]) -> list[NativeWindow]:
    """The windows that Windows lists.

    Chromium divides places by the scale of each screen and lays the results side by side; the layout is its own. So a
    place can be compared on the primary screen, which starts at 0, and where all screens are of one scale. Elsewhere
    only the size is compared: two windows of one size are ambiguous there, and never confused.
    """
    one_scale = len({screen.dpi for screen in screens}) == 1
    found = []
    for window in raw:
        screen = screens[window.screen]
        rect = _restored(window, screen) if window.iconic else window.rect
        main = window.class_name == _CLASS and not window.owner and window.style & _WS_CAPTION == _WS_CAPTION
        found.append(
            NativeWindow(
                window_id=window.hwnd,
                pid=window.pid,
                rectangle=(rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top),
                main=main and not window.ex_style & _WS_EX_TOOLWINDOW,
                owner=window.owner or None,
                popup=not main and bool(window.style & _WS_POPUP),
                shown=window.visible,
                scale=window.dpi / _STANDARD_DPI,
                placed=one_scale or (screen.monitor.left, screen.monitor.top) == (0, 0),
            )
        )
    return found


class Win32Source:
    """The windows of this session's desktop."""

    backend: Literal["win32"] = "win32"

    def __init__(self) -> None:
        self._api: Any = None

    def why_not(self) -> str:
        """Why its windows cannot be listed; empty where they can."""
        try:
            self.windows()
        except (ImportError, OSError, AttributeError) as error:
            return f"Windows does not list its windows here ({type(error).__name__}); Windows 10 1703 is needed"
        return ""

    def windows(self) -> list[NativeWindow]:
        """The windows of all processes of this session."""
        return read_windows(*self._user32().snapshot())

    def focused(self) -> int | None:
        """The foreground window."""
        return self._user32().foreground() or None

    def raise_window(self, window_id: int, pid: int) -> None:
        """Ask for the foreground; Windows may flash the taskbar instead."""
        self._user32().to_foreground(window_id)

    def _user32(self) -> Any:
        if self._api is None:
            from user_handoff.desktop.surfaces.win32_calls import User32

            self._api = User32()
        return self._api


def _restored(window: Raw, screen: Screen) -> Edges:
    """Where it is when it is not minimised, on the screen: what the browser says of it."""
    if window.ex_style & _WS_EX_TOOLWINDOW:
        return window.normal  # tool windows alone have it in coordinates of the screen
    dx, dy = screen.work.left - screen.monitor.left, screen.work.top - screen.monitor.top
    return window.normal.moved(dx, dy)
