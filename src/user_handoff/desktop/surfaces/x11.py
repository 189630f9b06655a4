"""Surfaces on X11: by the process that the X server knows, the window's class and role, and its place."""

from typing import Any

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces import match
from user_handoff.desktop.surfaces.base import WindowBounds
from user_handoff.desktop.surfaces.x11_windows import X11Windows

_PAGER = 2
"""The source of a request to a window manager that it must not second-guess."""


class X11Surfaces:
    """Finds windows through one X connection."""

    backend = "x11"

    def __init__(self, display: Display) -> None:
        self._windows = X11Windows(display)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        self._windows.close()

    def capability(self) -> tuple[bool, str]:
        """Whether the X server itself can say whose a window is, and if not, why."""
        try:
            why = self._windows.why_not()
        except HandoffError as error:
            why = error.what
        return not why, why

    def resolve(self, process: ProcessIdentity, bounds: WindowBounds, window_class: str) -> Surface:
        """The one window of this process, of this class, at these bounds.

        A process with a single window of the class has that one, wherever it is just being moved to.

        Raises:
            Refused: `surface_not_found` or `surface_ambiguous`.
            SetupError: `no_display`: the X server is gone.
        """
        windows = self._windows.of_process(process.pid)
        of_class = [window for window in windows if not window_class or window_class in window.classes]
        return match.surface("x11", match.pick(of_class, process.pid, bounds, alone=True), process)

    def exists(self, surface: Surface) -> bool:
        """True while exactly this window of exactly this process is there."""
        alive = ProcessIdentity(surface.pid, surface.process_started).alive()
        return alive and any(w.window_id == surface.window_id for w in self._windows.of_process(surface.pid))

    def family(self, surface: Surface) -> tuple[int, ...]:
        """Its dialogs, theirs in turn, and the open popups of its process; of other processes none."""
        if not ProcessIdentity(surface.pid, surface.process_started).alive():
            return ()
        return match.family(self._windows.of_process(surface.pid), surface.window_id, [surface.pid])

    def focused(self) -> int | None:
        """The window that has the keyboard; None where none has."""
        return self._windows.focused()

    def raise_window(self, surface: Surface) -> None:
        """Bring it to the front and give it the keyboard; nothing happens where it is gone."""
        with self._windows.connected() as x:
            from Xlib import X, error
            from Xlib.protocol import event

            window = x.create_resource_object("window", surface.window_id)
            gone = error.CatchError(error.BadWindow, error.BadMatch)
            if self._has_window_manager(x):
                root = x.screen().root
                ask = event.ClientMessage(
                    window=window,
                    client_type=x.get_atom("_NET_ACTIVE_WINDOW"),
                    data=(32, [_PAGER, X.CurrentTime, 0, 0, 0]),
                )
                mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
                root.send_event(ask, event_mask=mask, onerror=gone)
            else:
                window.configure(stack_mode=X.Above, onerror=gone)
                window.set_input_focus(X.RevertToParent, X.CurrentTime, onerror=gone)
            x.sync()

    def _has_window_manager(self, x: Any) -> bool:
        """True where one lives: the property of a dead one stays on the root window."""
        name = "_NET_SUPPORTING_WM_CHECK"
        named = self._windows.numbers(x.screen().root, name)[:1]
        return bool(named) and self._windows.numbers(x.create_resource_object("window", named[0]), name)[:1] == named
