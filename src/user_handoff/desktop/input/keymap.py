"""Which key gives which character, by the keymap that is loaded now."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

_UNICODE = 0x01000000
_CONTROLS = {"\n": "Return", "\r": "Return", "\t": "Tab"}
_LEGACY = {"€": 0x20AC}
"""A character whose keysym is neither its Latin-1 code nor its Unicode one."""

_NAMES = {
    **{"ctrl": "Control_L", "control": "Control_L", "shift": "Shift_L", "alt": "Alt_L"},
    **{"win": "Super_L", "meta": "Super_L", "super": "Super_L", "menu": "Menu"},
    **{"enter": "Return", "return": "Return", "tab": "Tab", "space": "space", "backspace": "BackSpace"},
    **{"esc": "Escape", "escape": "Escape", "delete": "Delete", "del": "Delete", "insert": "Insert"},
    **{"home": "Home", "end": "End", "pageup": "Prior", "pagedown": "Next"},
    **{"up": "Up", "down": "Down", "left": "Left", "right": "Right"},
    **{"arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right"},
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key, and whether Shift is needed with it."""

    keycode: int
    shift: bool


class Keymap:
    """The keymap of a display, read once: read it anew for each text."""

    def __init__(self, x: Any, group: int) -> None:
        """Read the keymap.

        Args:
            x: The connection.
            group: The layout in use: 0 or 1, the two that the core protocol shows.
        """
        first = x.display.info.min_keycode
        rows = x.get_keyboard_mapping(first, x.display.info.max_keycode - first + 1)
        self._strokes: dict[int, Stroke] = {}
        self._keys: dict[int, int] = {}
        for keycode, symbols in enumerate(rows, first):
            for level, symbol in enumerate(list(symbols)[2 * group : 2 * group + 2]):
                if symbol:
                    self._strokes.setdefault(symbol, Stroke(keycode, shift=level == 1))
            if len(symbols) and symbols[0]:
                self._keys.setdefault(symbols[0], keycode)
        self.shift = self.key("shift")

    def character(self, character: str) -> Stroke | None:
        """How to type a character; None where no key gives exactly it."""
        return next((self._strokes[symbol] for symbol in _symbols(character) if symbol in self._strokes), None)

    def key(self, name: str) -> int:
        """The key of a name such as ``enter``, ``ctrl`` or ``f5``, whatever its case.

        Raises:
            Refused: `invalid_request`: there is no such name, or no such key.
        """
        from Xlib import XK

        symbol = XK.string_to_keysym(_NAMES.get(name.lower(), ""))
        if symbol not in self._keys:
            raise unknown_key(name)
        return self._keys[symbol]


def unknown_key(name: str) -> HandoffError:
    """The refusal of a key that is not there."""
    return make_error(
        ErrorCode.INVALID_REQUEST,
        f"There is no key {name[:20]!r} on this keyboard.",
        holds="Nothing was pressed.",
        do_next="Use one character of the keymap, or a name such as enter, tab, esc, ctrl, shift, alt, up, f5.",
    )


def _symbols(character: str) -> Iterator[int]:
    from Xlib import XK

    code = ord(character)
    if character in _CONTROLS:
        yield XK.string_to_keysym(_CONTROLS[character])
    elif 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF:
        yield code
    elif code >= 0x100:
        if character in _LEGACY:
            yield _LEGACY[character]
        yield _UNICODE | code
