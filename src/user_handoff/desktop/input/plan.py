"""How a text reaches a window: by keys where there are keys for it, else through the clipboard."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.input.keymap import Stroke

_BREAKS = "\n\r\t"
"""Never pasted where there is a key: a single-line field would drop them."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Characters to type.

    Attributes:
        strokes: One for each.
    """

    strokes: tuple[Stroke, ...]

    @property
    def count(self) -> int:
        """How many characters."""
        return len(self.strokes)


@dataclass(frozen=True, slots=True)
class Paste:
    """Characters to paste.

    Attributes:
        text: All of them.
    """

    text: str

    @property
    def count(self) -> int:
        """How many characters."""
        return len(self.text)


def plan(text: str, stroke: Callable[[str], Stroke | None], chunk: int) -> list[Keys | Paste]:
    """Split a text into what is typed and what is pasted, in order.

    Within a line everything from the first to the last character without a key is pasted at once.

    Args:
        text: The text.
        stroke: The key of a character, or None.
        chunk: How many characters are typed at once.

    Raises:
        Refused: `invalid_request`: a character of it is neither text, nor a line break, nor a tab.
    """
    wrong = sum(unicodedata.category(c) in ("Cc", "Cs") and c not in _BREAKS for c in text)
    if wrong:
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"{wrong} of {len(text)} characters are control characters, which are no text.",
            holds="Nothing was typed.",
            do_next="Leave them out, or press the keys that you mean.",
            wrong=wrong,
        )
    parts: list[Keys | Paste] = []
    waiting: list[Stroke] = []

    def flush() -> None:
        parts.extend(Keys(tuple(waiting[at : at + chunk])) for at in range(0, len(waiting), chunk))
        waiting.clear()

    for line in _lines(text):
        strokes = [stroke(character) for character in line]
        missing = [at for at, found in enumerate(strokes) if found is None]
        first, last = (missing[0], missing[-1] + 1) if missing else (len(line), len(line))
        waiting += [found for found in strokes[:first] if found]
        if missing:
            flush()
            parts.append(Paste(line[first:last]))
        waiting += [found for found in strokes[last:] if found]
    flush()
    return parts


def _lines(text: str) -> Iterator[str]:
    """The text cut before and after each break."""
    start = 0
    for at, character in enumerate(text):
        if character in _BREAKS:
            yield text[start:at]
            yield character
            start = at + 1
    yield text[start:]
