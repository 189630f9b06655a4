"""A short way to write down what controls are called, and the pattern that it makes."""

import re

from user_handoff.contract.boundary.patterns import ours

_PRICE = r"[\d\W]{1,16}(?:eur|usd|gbp|chf|cad|aud|jpy|sek|nok|dkk|pln|kr|zł|kč|tl|руб|грн|円|元|원)?"
_MARKS = (
    (re.compile(r"([.+?()\\^$])"), r"\\\1"),
    (re.compile(r"^\[([^\]]*)\] "), r"(?:(?:\1) )?"),
    (re.compile(r"(?<=\) \)\?)\[([^\]]*)\] "), r"(?:(?:\1) )?"),
    (re.compile(r" \[([^\]]*)\]"), r"(?: (?:\1))?"),
    (re.compile(r"\[([^\]]*)\]"), r"(?:\1)?"),
    (re.compile(r"\{"), "(?:"),
    (re.compile(r"\}"), ")"),
)


def whole(phrases: str) -> str:
    """The pattern of labels that say one of the phrases and no more: marks and arrows around it do not count.

    Args:
        phrases: One in each line; a line that ends with ``|`` goes on. ``[a|b]`` may be there, ``{a|b}`` is one of
            them, ``*`` is up to 40 characters, ``#`` a price.
    """
    return ours(rf"^\W*(?:{'|'.join(_alternatives(phrases))})\W*$")


def starting(phrases: str) -> str:
    """The pattern of labels that begin with one of the phrases, as those of fields do."""
    return ours(rf"^\W*(?:{'|'.join(_alternatives(phrases))})(?!\w)")


def _alternatives(phrases: str) -> list[str]:
    found = []
    for line in phrases.strip().replace("|\n", "|").splitlines():
        phrase = line.strip()
        for mark, pattern in _MARKS:
            phrase = mark.sub(pattern, phrase)
        found.append(phrase.replace("*", ".{1,40}").replace(" #", "#").replace("#", _PRICE))
    return found
