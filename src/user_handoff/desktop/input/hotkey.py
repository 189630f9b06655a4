"""One key combination that a person presses, grabbed on the display: whatever window has the focus, it comes here."""

import contextlib
from itertools import combinations
from typing import Any, Final

from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError, make_error
from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.keymap import Keymap

_MODIFIERS: Final = ("ctrl", "control", "alt", "shift", "super", "win", "meta")
_LOCKS: Final = ("Num_Lock", "Scroll_Lock")
"""Lights that may be on while a person presses, beside Caps Lock."""


class Hotkey:
    """A key with its modifiers, taken from all windows until it is closed. Not for several threads at once.

    Args:
        display: Where it is pressed.
        keys: Such as ``Ctrl+Alt+Space``: modifiers, at least one beside Shift, and then a key.

    Raises:
        Refused: `invalid_request`: these are no such keys.
        SetupError: `already_running`: another program has grabbed them. `no_display`.
    """

    def __init__(self, display: Display, keys: str) -> None:
        self._keys = keys
        self._display = display
        self._grabbed: frozenset[tuple[int, int]] = frozenset()
        self._released = -1
        self._x: Any = connect(display.name, display.xauthority)
        self._handle = int(self._x.fileno())  # known also when the connection is lost
        try:
            self._grab()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the keys back: the server does that with the connection."""
        with contextlib.suppress(Exception):  # the server may be gone
            self._x.close()

    def fileno(self) -> int:
        """What becomes readable when something has come."""
        return self._handle

    def pressed(self) -> bool:
        """True where it was pressed since this was asked before; a key that is kept down is pressed once.

        Raises:
            SetupError: `no_display`: the display is gone; or as at the start, where the keyboard was changed.
            Refused: Likewise.
        """
        from Xlib import error

        found = False
        try:
            while self._x.pending_events():
                found |= self._is_press(self._x.next_event())
        except (error.ConnectionClosedError, OSError) as problem:
            raise self._gone() from problem
        return found

    def forget(self) -> None:
        """Let nothing count that was pressed up to this moment, on the server's clock.

        Raises:
            SetupError: As `pressed`.
        """
        from Xlib import error

        try:
            self._x.sync()
        except (error.ConnectionClosedError, OSError) as problem:
            raise self._gone() from problem
        self.pressed()

    def _is_press(self, event: Any) -> bool:
        from Xlib import X

        if event.type == X.MappingNotify:
            self._x.refresh_keyboard_mapping(event)
            self._grab()
        if event.type not in (X.KeyPress, X.KeyRelease) or event.detail not in {key for key, _ in self._grabbed}:
            return False  # while it is down, every other key comes here, too
        if event.type == X.KeyRelease:
            self._released = event.time
            return False
        # A key that is kept down comes up and goes down again at one moment.
        return bool(event.time != self._released)

    def _grab(self) -> None:
        from Xlib import X, error

        wanted = _wanted(self._x, self._keys)
        if wanted == self._grabbed:
            return
        root, taken = self._x.screen().root, error.CatchError(error.BadAccess)
        for key, modifiers in self._grabbed - wanted:
            root.ungrab_key(key, modifiers)
        for key, modifiers in wanted - self._grabbed:
            root.grab_key(key, modifiers, False, X.GrabModeAsync, X.GrabModeAsync, onerror=taken)
        self._x.sync()
        if taken.get_error() is not None:
            raise _taken(self._keys)
        self._grabbed = wanted

    def _gone(self) -> SetupError:
        return SetupError(
            ErrorCode.NO_DISPLAY,
            f"The X display {self._display.name} is gone.",
            holds="The hotkey does nothing any more.",
            do_next="Start it again in a session with an X display.",
        )


def _wanted(x: Any, keys: str) -> frozenset[tuple[int, int]]:
    """The key code with each set of modifiers under which it counts: a lock that is on changes nothing."""
    *names, last = (part.strip().lower() for part in keys.split("+"))
    keymap, rows = Keymap(x, 0), [list(row) for row in x.get_modifier_mapping()]
    if not set(names) <= set(_MODIFIERS) or not set(names) - {"shift"} or last in _MODIFIERS:
        raise _no_combination(keys)
    stroke = keymap.character(last) if len(last) == 1 else None
    code = stroke.keycode if stroke else keymap.key(last)
    modifiers = 0
    for name in names:
        mask = _mask(rows, [keymap.key(name)])
        if not mask:
            raise _no_combination(keys)
        modifiers |= mask
    return frozenset((code, modifiers | locks) for locks in _locks(x, rows))


def _locks(x: Any, rows: list[list[int]]) -> set[int]:
    from Xlib import XK, X

    codes = [[int(code) for code, _ in x.keysym_to_keycodes(XK.string_to_keysym(name))] for name in _LOCKS]
    masks = {X.LockMask, *(_mask(rows, each) for each in codes)} - {0}
    return {sum(some) for count in range(len(masks) + 1) for some in combinations(masks, count)}


def _mask(rows: list[list[int]], codes: list[int]) -> int:
    """The bit of the modifier that one of these keys is; 0 where none is."""
    return next((1 << bit for bit, row in enumerate(rows) if set(codes) & set(row) - {0}), 0)


def _no_combination(keys: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST,
        f"{keys[:40]!r} is no combination of keys that can be a hotkey here.",
        holds="Nothing was grabbed.",
        do_next="Name modifiers (Ctrl, Alt, Super, Shift; not Shift alone) and one key, such as Ctrl+Alt+Space.",
    )


def _taken(keys: str) -> HandoffError:
    return make_error(
        ErrorCode.ALREADY_RUNNING,
        f"Another program on this display has grabbed {keys[:40]}: the desktop itself, or another `handoff hotkey`.",
        holds="That one has it; a press does nothing here.",
        do_next="Name other keys with --keys, or take these away from that program.",
    )
