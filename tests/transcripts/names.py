"""Readable names in the place of ids, and a last look for what must stand on no page."""

import re
from collections.abc import Iterable, Mapping

_ID = re.compile(r"\b([a-z]{1,3})_[0-9a-f]{8,64}\b")
_WINDOW = re.compile(r"\b0x[0-9a-f]{5,}\b")
_PROCESS = re.compile(r"\bprocess \d+\b")
_PAGE = re.compile(r"\b[0-9A-F]{32}\b")
_ELEMENT = re.compile(r"\b[A-Za-z0-9_-]+\.(?:f\d+)?e\d+\b")
_LINK = re.compile(r"/j/[^\s|\"]+")
_SECRETS = re.compile(r"\bh[kg]_\w|Bearer \w|127\.0\.0\.1|\?\w+=|/j/\w|password=|fence [\w-]{20}", re.IGNORECASE)


class Names:
    """The names of one transcript: each id gets the next one of its kind.

    Args:
        places: Readable names for addresses.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._known: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def plain(self, text: str) -> str:
        """The text with names in the place of ids, addresses, links, windows and processes."""
        for address, name in self._places.items():
            text = text.replace(address, name)
        text = _LINK.sub("/j/…", text)
        text = _ELEMENT.sub(lambda m: self._name(m[0], "el"), text)
        text = _PAGE.sub(lambda m: self._name(m[0], "p"), text)
        text = _WINDOW.sub(lambda m: self._name(m[0], "w"), text)
        text = _PROCESS.sub(lambda m: f"process {self._name(m[0], 'pid')}", text)
        return _ID.sub(lambda m: self._name(m[0], m[1]), text)

    def _name(self, found: str, kind: str) -> str:
        if found not in self._known:
            self._count[kind] = self._count.get(kind, 0) + 1
            self._known[found] = f"{kind}_{self._count[kind]}"
        return self._known[found]


def leaks(text: str, planted: Iterable[str] = ()) -> list[str]:
    """What must not be on a page: kinds of tokens and addresses, and any of some secrets. Never the secret itself."""
    found = [match[0][:4] for match in _SECRETS.finditer(text)]
    return [*found, *("a planted secret" for secret in planted if secret in text)]
