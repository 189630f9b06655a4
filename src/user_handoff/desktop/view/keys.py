"""Which keys of a viewer are passed on as keys, and which as text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_UNICODE: Final = 0x01000000

_NAMED: Final = frozenset(
    {
        *(0xFF08, 0xFF09, 0xFF0D, 0xFF1B, 0xFFFF),  # backspace, tab, return, escape, delete
        *range(0xFF50, 0xFF58),  # home, arrows, pages, end
        *(0xFF63, 0xFF67),  # insert, menu
        *(0xFF8D, *range(0xFF95, 0xFFA0), *range(0xFFAA, 0xFFBA)),  # the keypad
        *range(0xFFBE, 0xFFCA),  # F1 to F12
        *(0xFFE1, 0xFFE2, 0xFFE3, 0xFFE4, 0xFFE9, 0xFFEA),  # shift, control, alt
    }
)
"""Keys without a character. Locks and layout switches are not among them: they would stay for whoever comes next."""

_BREAKS: Final = {"\n": 0xFF0D, "\t": 0xFF09}

CONTROL: Final = 0xFFE3
SHIFTS: Final = (0xFFE1, 0xFFE2)


@dataclass(frozen=True, slots=True)
class Strokes:
    """Characters that the keyboard has, as keysyms."""

    keysyms: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pasted:
    """Characters that it lacks: typed, some would be lost and others doubled."""

    text: str


def is_key(keysym: int) -> bool:
    """True for a key that the display's keyboard has."""
    return 0x20 <= keysym <= 0x7E or keysym in _NAMED


def is_letter(keysym: int) -> bool:
    """True for a letter that the display's keyboard has, of either case."""
    return 0x41 <= keysym <= 0x5A or 0x61 <= keysym <= 0x7A


def character(keysym: int) -> str | None:
    """The character of a keysym that the keyboard lacks; None where it has none."""
    if 0xA0 <= keysym <= 0xFF:
        return chr(keysym)
    code = keysym - _UNICODE
    if 0xA0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
        return chr(code)
    return None


def parts_of(text: str) -> Iterator[Strokes | Pasted]:
    """What is typed and what is pasted of a text, in order. Control characters are left out.

    Within a line everything between the first and the last character without a key is pasted at once.
    """
    line = ""
    for one in text.replace("\r\n", "\n").replace("\r", "\n"):
        if one in _BREAKS:
            yield from _of_line(line)
            yield Strokes((_BREAKS[one],))
            line = ""
        elif one >= " " and not "\x7f" <= one < "\xa0" and not "\ud800" <= one <= "\udfff":
            line += one
    yield from _of_line(line)


def _of_line(line: str) -> Iterator[Strokes | Pasted]:
    lacking = [at for at, one in enumerate(line) if one > "~"]
    first, last = (lacking[0], lacking[-1] + 1) if lacking else (len(line), len(line))
    if line[:first]:
        yield Strokes(tuple(map(ord, line[:first])))
    if lacking:
        yield Pasted(line[first:last])
    if line[last:]:
        yield Strokes(tuple(map(ord, line[last:])))
