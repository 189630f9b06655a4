"""What a page repeats of a value, in whatever form: other letters, other groups of digits, quoted, or in an address."""

import json
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

from user_handoff.contract.redact import WITHHELD

_SHORTEST: Final = 3
"""A shorter value is not scrubbed elsewhere: it would blank out unrelated text."""
_ANY_CASE: Final = 4
"""One of so many characters is scrubbed in capitals and in small letters, too."""
_A_LINE: Final = 6
"""A line of a longer text is scrubbed on its own where it has so many characters."""
_DIGITS: Final = 6
"""One with so many digits, such as the number of a card, is scrubbed however it is grouped."""

_BETWEEN: Final = r"[\s\-./]?"
_SEPARATORS: Final = re.compile(r"[\s\-./]+")
_PLAIN: Final = re.compile(r"[a-z0-9]+")
_IN_PATHS: Final = "".join(set(string.punctuation) - set('"<>`{}%?#')) + string.ascii_letters + string.digits


class Echoes:
    """Those of some values that a text repeats."""

    def __init__(self, text: str, values: Iterable[str]) -> None:
        """Look for them.

        Args:
            text: Where.
            values: What was typed.
        """
        values = tuple(values)
        low = text.lower()
        found = {form for value in values for form in _forms(value, low) if _is_in(form, text, low)}
        grouped = {compact for value in values if (compact := _compact(value))}
        if grouped:
            bare = low
            for separator in " -./\u00a0\u202f":
                bare = bare.replace(separator, "")
            grouped = {compact for compact in grouped if compact in bare}
        self._low = tuple(form.lower() for form in found)
        self._grouped = re.compile("|".join(map(grouped_pattern, sorted(grouped))), re.IGNORECASE) if grouped else None
        patterns = [
            *map(grouped_pattern, sorted(grouped, key=len, reverse=True)),
            *map(_pattern, _longest_first(found)),
        ]
        self._pattern = re.compile("|".join(patterns)) if patterns else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def may_be_in(self, line: str) -> bool:
        """A quick look: most lines have none."""
        low = line.lower()
        return any(form in low for form in self._low) or (
            self._grouped is not None and bool(self._grouped.search(line))
        )

    def withheld(self, text: str) -> str:
        """The text without them."""
        return text if self._pattern is None else self._pattern.sub(WITHHELD, text)


def grouped_pattern(compact: str) -> str:
    """The pattern of a number, with or without something between its digits; the same in Python and JavaScript."""
    letters = (char if char.isdigit() else f"[{char.lower()}{char.upper()}]" for char in compact)
    return _BETWEEN.join(letters)


def _compact(value: str) -> str:
    """A value that is a number, or the like of an IBAN, without what groups it; empty for any other."""
    compact = _SEPARATORS.sub("", value).lower()
    digits = sum(char in string.digits for char in compact)
    return (
        compact if digits >= _DIGITS and digits * 2 > len(compact) and compact.isascii() and compact.isalnum() else ""
    )


def compact_of(values: Iterable[str]) -> set[str]:
    """Those of some values that are numbers, without what groups them."""
    return {compact for compact in map(_compact, values) if compact}


def _forms(value: str, low: str) -> Iterator[str]:
    """In what forms a page may repeat a value; none where it cannot be in the text, whatever the form."""
    lines = (line.strip() for line in value.split("\n"))
    folded = " ".join(value.split())
    for each in {value, folded, *(line for line in lines if len(line) >= _A_LINE)}:
        # plain letters and digits are the same in all of them
        if max(_PLAIN.findall(unicodedata.normalize("NFC", each).lower()), key=len, default="") not in low:
            continue
        yield each
        if each.isascii() and each.isalnum():
            continue
        yield from (json.dumps(each, ensure_ascii=False)[1:-1], json.dumps(each)[1:-1])
        yield from (unicodedata.normalize("NFC", each), unicodedata.normalize("NFD", each))
        # as an address has it: a part that a script has escaped, a path, a form's field
        yield from (quote(each), quote(each, safe=""), quote(each, safe="!'()*"), quote(each, safe=_IN_PATHS))
        yield quote_plus(each)


def _is_in(form: str, text: str, low: str) -> bool:
    if len(form) < _SHORTEST:
        return False
    return form.lower() in low if len(form) >= _ANY_CASE else form in text


def _longest_first(forms: Iterable[str]) -> list[str]:
    return sorted(forms, key=lambda form: (-len(form), form))


def _pattern(form: str) -> str:
    escaped = re.escape(form)
    return f"(?i:{escaped})" if len(form) >= _ANY_CASE else escaped
