"""Which language a person reads: each has one module of sentences, of the same names."""

from types import ModuleType
from typing import Final

from starlette.requests import HTTPConnection

from user_handoff.gateway import texts, texts_de

CATALOGUES: Final[dict[str, ModuleType]] = {"en": texts, "de": texts_de}
"""By the primary tag of a language. A new language is a new module, and a line here."""

_FIRST: Final = "en"


def words_for(request: HTTPConnection) -> ModuleType:
    """The sentences in the first language that this person's browser asks for and that is here; else in English."""
    return CATALOGUES[choose(request.headers.get("accept-language", ""))]


def choose(accepted: str) -> str:
    """The tag of a catalogue for an Accept-Language header.

    Args:
        accepted: Such as ``de-AT,de;q=0.9,en;q=0.5``; what cannot be read counts as not there.
    """
    ranked: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted[:500].split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight or 1)
        except ValueError:
            continue
        primary = tag.partition("-")[0].lower()
        if quality > 0 and primary in CATALOGUES:
            ranked.append((-quality, place, primary))
    return min(ranked)[2] if ranked else _FIRST
