"""The windows of a display, with the titles that programs give them. For looking only: surfaces never go by titles."""

from collections.abc import Callable
from typing import Any

from user_handoff.contract.computer import WindowInfo
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.surfaces.x11_windows import X11Windows

_TITLE = 5000
"""Longer than any browser makes one: what is in a field of a page is looked for in all of it, and cut later."""
_DEPTH = 4
_MANAGED = (1, 3)
"""WM_STATE: normal, iconic."""


class DisplayWindows:
    """Lists windows as the X server knows them, with any window manager or none: pywinctl needs one that tells."""

    def __init__(self, display: Display) -> None:
        self._windows = X11Windows(display)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._windows.close()

    def focused(self) -> int | None:
        """The window that has the keyboard; None where none has."""
        return self._windows.focused()

    def pid_of(self, window_id: int) -> int | None:
        """The process of a window; None where the window is gone or is another machine's."""
        return self._windows.pid_of(window_id)

    def look(self, withhold: Callable[[int | None], bool]) -> tuple[int | None, tuple[WindowInfo, ...]]:
        """The window that has the keyboard, and every one that is shown or minimised, the lowest first.

        Menus and the window manager's own windows are left out.

        Args:
            withhold: Whether the titles of a process's windows must not be told.
        """
        with self._windows.connected() as x:
            focused = self._windows.focused()
            root = x.screen().root
            found = [self._info(root, window, focused, withhold) for window in self._top_level(root, _DEPTH)]
        return focused, tuple(info for info in found if info is not None)

    def _top_level(self, window: Any, depth: int) -> list[Any]:
        """Windows that are managed, at any depth; with no window manager, the shown ones right below the root."""
        from Xlib import error

        try:
            children = window.query_tree().children
        except error.XError:
            return []
        found = []
        for child in children:
            state = self._windows.numbers(child, "WM_STATE")[:1]
            if state and state[0] in _MANAGED:
                found.append(child)
            elif depth > 1 and (below := self._top_level(child, depth - 1)):
                found += below
            elif depth == _DEPTH and self._is_bare(child):
                found.append(child)
        return found

    def _is_bare(self, window: Any) -> bool:
        """True for a program's window that no window manager has taken in; a frame has no title of its own."""
        from Xlib import X, error

        try:
            attributes = window.get_attributes()
        except error.XError:
            return False
        shown = attributes.map_state == X.IsViewable and attributes.win_class == X.InputOutput
        return shown and not attributes.override_redirect and bool(self._windows.text(window, "WM_CLASS"))

    def _info(
        self, root: Any, window: Any, focused: int | None, withhold: Callable[[int | None], bool]
    ) -> WindowInfo | None:
        from Xlib import error

        try:
            place, size = root.translate_coords(window, 0, 0), window.get_geometry()
        except error.XError:
            return None
        pid = self._windows.pid_of(window.id)
        withheld = withhold(pid)
        return WindowInfo(
            window_id=int(window.id),
            pid=pid,
            title="" if withheld else self._title(window),
            x=int(place.x),
            y=int(place.y),
            width=int(size.width),
            height=int(size.height),
            focused=window.id == focused,
            title_withheld=withheld,
        )

    def _title(self, window: Any) -> str:
        title = self._windows.text(window, "_NET_WM_NAME") or self._windows.text(window, "WM_NAME")
        return title[:_TITLE]
