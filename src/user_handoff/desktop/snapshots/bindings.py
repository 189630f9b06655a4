"""Element ids: bound to page, document, snapshot, role and name, so that an old one is never another element."""

import re
import secrets
from dataclasses import dataclass

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.snapshots.redact import plain

_LINE = re.compile(
    r'^(?P<head>\s*- (?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?: \[[^\]]*\])*?)'
    r" \[ref=(?P<ref>\w+)\](?P<rest>.*)$",
    re.MULTILINE,
)
_ESCAPED = re.compile(r"\\(.)")
_POINTER = " [cursor=pointer]"
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Binding:
    """What an element id stood for when its snapshot was taken."""

    ref: str
    role: str
    name: str
    text: str = ""
    """The text on the element's own line: what an element without role and name is recognised by."""
    clickable: bool = False
    """True where the pointer says that it can be clicked, whatever it is."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One snapshot's element ids.

    Attributes:
        snapshot_id: A short random name, not reused within a page's life.
        document: The loader id of the page's main document.
        elements: What each Playwright ref of the snapshot stood for.
    """

    snapshot_id: str
    document: str
    elements: dict[str, Binding]

    def resolve(self, element_id: str) -> Binding:
        """What an element id stands for.

        Raises:
            Stale: `stale_element`: it is of another snapshot, or of none.
        """
        snapshot_id, _, ref = element_id.partition(".")
        binding = self.elements.get(ref) if snapshot_id == self.snapshot_id else None
        if binding is None:
            raise stale(element_id)
        return binding


def stale(element_id: str) -> HandoffError:
    """The refusal of an element id that is dead."""
    return make_error(
        ErrorCode.STALE_ELEMENT,
        "The element id is not of the page's latest snapshot, or the element is no longer what it was.",
        holds="Nothing was done.",
        do_next="Take a fresh snapshot of the page and use an id from it.",
        element_id=element_id[:64],
    )


def bind(text: str, document: str) -> tuple[str, Bound]:
    """Rewrite Playwright's refs into ids of this snapshot alone.

    Args:
        text: The raw snapshot.
        document: The loader id of the page's main document.
    """
    snapshot_id = "".join(secrets.choice(_ALPHABET) for _ in range(6))
    elements: dict[str, Binding] = {}

    def rename(match: re.Match[str]) -> str:
        head, role, name, ref, rest = match.groups()
        if name and "\\" in name:
            name = _ESCAPED.sub(r"\1", name)
        text = plain(rest.rpartition("]")[2].strip().removeprefix(":")) if rest else ""
        elements[ref] = Binding(ref, role, name or "", text, rest.startswith(_POINTER))
        return f"{head} [id={snapshot_id}.{ref}]{rest}"

    return _LINE.sub(rename, text), Bound(snapshot_id, document, elements)
