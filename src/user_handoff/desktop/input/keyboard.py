"""Keys, by XTEST on a connection of its own."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.keymap import Keymap, Stroke, unknown_key
from user_handoff.desktop.input.plan import Keys, Paste, plan

_GROUP_SHIFT, _GROUP_BITS = 13, 3


class Keyboard:
    """The keyboard of a display. Not for several threads at once."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._connection: Any = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            with contextlib.suppress(Exception):  # the server may be gone
                self._connection.close()
        self._connection = None

    def plan(self, text: str, chunk: int) -> list[Keys | Paste]:
        """How to bring a text into a window, on the keymap that is loaded now.

        Args:
            text: The text.
            chunk: How many characters are typed at once.

        Raises:
            Refused: `invalid_request`: a character of it is no text. Nothing was typed.
        """
        keymap = self._keymap()
        return plan(text, keymap.character, chunk)

    def type(self, strokes: Sequence[Stroke]) -> None:
        """Type, with nothing else held down."""
        x = self._x()
        self._require_no_modifier()
        shift = self._keymap().shift
        for stroke in strokes:
            with self._down([shift] if stroke.shift else []):
                self._tap(stroke.keycode)
        x.sync()

    def press(self, keys: tuple[str, ...]) -> None:
        """Press keys together, in this order, and release them.

        Raises:
            Refused: `invalid_request`: a key is not there. `action_failed`: another is held down already.
        """
        keymap = self._keymap()
        codes: list[int] = []
        for key in keys:
            codes += _codes(keymap, key)
        if not codes:
            raise unknown_key("")
        self._require_no_modifier()
        with self._down(codes[:-1]):
            self._tap(codes[-1])
        self._x().sync()

    def _x(self) -> Any:
        if self._connection is None:
            self._connection = connect(self._display.name, self._display.xauthority)
        return self._connection

    def _keymap(self) -> Keymap:
        state = self._state()
        group = state >> _GROUP_SHIFT & _GROUP_BITS
        if group > 1:
            raise _unfit("its third or fourth layout is switched on")
        return Keymap(self._x(), group)

    def _state(self) -> int:
        return int(self._x().screen().root.query_pointer().mask)

    def _require_no_modifier(self) -> None:
        """With Caps Lock on, or a key that somebody holds down, other characters would come out."""
        from Xlib import X

        state = self._state()
        if state & X.LockMask:
            raise _unfit("Caps Lock is on")
        if state & (X.ShiftMask | X.ControlMask | X.Mod1Mask | X.Mod4Mask | X.Mod5Mask):
            raise _unfit("a key such as Shift or Control is held down")

    @contextlib.contextmanager
    def _down(self, codes: list[int]) -> Iterator[None]:
        """Keep keys down for as long as the block runs: whatever happens, they come up again."""
        from Xlib import X
        from Xlib.ext import xtest

        pressed: list[int] = []
        try:
            for code in codes:
                xtest.fake_input(self._x(), X.KeyPress, code)
                pressed.append(code)
            yield
        finally:
            for code in reversed(pressed):
                xtest.fake_input(self._x(), X.KeyRelease, code)

    def _tap(self, code: int) -> None:
        with self._down([code]):
            pass


def _codes(keymap: Keymap, key: str) -> list[int]:
    if len(key) != 1:
        return [keymap.key(key)]
    stroke = keymap.character(key)
    if stroke is None:
        raise unknown_key(key)
    return [keymap.shift, stroke.keycode] if stroke.shift else [stroke.keycode]


def _unfit(why: str) -> HandoffError:
    return make_error(
        ErrorCode.ACTION_FAILED,
        f"The keyboard cannot be used exactly now: {why}.",
        holds="Nothing more was pressed.",
        do_next="Have that key released, then try again.",
    )
