"""A keyboard and a mouse on an X display, by XTEST: what a person's hands do, and nothing else."""

import time
from dataclasses import dataclass
from typing import Any

from Xlib import XK, X
from Xlib import display as xdisplay
from Xlib import error as xerror
from Xlib.ext import xtest
from Xlib.protocol import event as xevent

_KEY_SECONDS = 0.004
"""A pause after each key event: a fast person, and a pace at which no client drops one."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where a window is on the screen, in pixels."""

    x: int
    y: int
    width: int
    height: int


class Hands:
    """Native input on the display that DISPLAY and XAUTHORITY name.

    Raises:
        Xlib.error.DisplayError: The display cannot be reached.
    """

    def __init__(self, name: str | None = None) -> None:
        self._display: Any = xdisplay.Display(name)
        self._root = self._display.screen().root
        self._shift = self._display.keysym_to_keycode(XK.XK_Shift_L)

    def close(self) -> None:
        """Leave the display."""
        self._display.close()

    def geometry(self, window_id: int) -> Geometry:
        """Where a window is.

        Raises:
            LookupError: There is no such window.
        """
        window = self._display.create_resource_object("window", window_id)
        try:
            size = window.get_geometry()
            place = self._root.translate_coords(window, 0, 0)
        except xerror.XError:
            raise LookupError(f"no window {window_id:#x}") from None
        return Geometry(place.x, place.y, size.width, size.height)

    def raise_window(self, window_id: int) -> None:
        """Ask the window manager to put a window in front and give it the focus, as a task bar does."""
        window = self._display.create_resource_object("window", window_id)
        message = xevent.ClientMessage(
            window=window,
            client_type=self._display.intern_atom("_NET_ACTIVE_WINDOW"),
            data=(32, [2, X.CurrentTime, 0, 0, 0]),
        )
        self._root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self._display.sync()

    def click(self, x: int, y: int) -> None:
        """Press and release the first button at a place of the screen."""
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
        for kind in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self._display, kind, 1)
            self._settle()

    def press(self, key: str) -> None:
        """Press and release a key by its X name, such as ``Tab``, or keys together, such as ``Control_L+t``.

        Raises:
            LookupError: The keyboard has no such key.
        """
        codes = [self._code(name) for name in key.split("+")]
        for code in codes:
            self._event(X.KeyPress, code)
        for code in reversed(codes):
            self._event(X.KeyRelease, code)

    def _code(self, name: str) -> int:
        keysym = XK.string_to_keysym(name)
        code = int(self._display.keysym_to_keycode(keysym)) if keysym else 0
        if not code:
            raise LookupError(f"this keyboard has no key {name!r}")
        return code

    def type(self, text: str) -> None:
        """Type text, each character by its key with or without Shift.

        Raises:
            LookupError: A character is on no key of this keyboard; nothing was typed. It is not named.
        """
        strokes = [self._key_for(character) for character in text]
        for code, shifted in strokes:
            self._stroke(code, shifted=shifted)

    def _key_for(self, character: str) -> tuple[int, bool]:
        # Latin-1 keysyms are the code points themselves; levels 0 and 1 are without and with Shift.
        found = [(code, bool(level)) for code, level in self._display.keysym_to_keycodes(ord(character)) if level < 2]
        if not found:
            raise LookupError("a character of the text is on no key of this keyboard")
        return min(found, key=lambda stroke: stroke[1])

    def _stroke(self, code: int, *, shifted: bool) -> None:
        if shifted:
            self._event(X.KeyPress, self._shift)
        self._event(X.KeyPress, code)
        self._event(X.KeyRelease, code)
        if shifted:
            self._event(X.KeyRelease, self._shift)

    def _event(self, kind: int, code: int) -> None:
        xtest.fake_input(self._display, kind, code)
        self._settle()

    def _settle(self) -> None:
        self._display.sync()
        time.sleep(_KEY_SECONDS)
