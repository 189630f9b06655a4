"""Reads the labelled set, and writes its pages. The labels were written down before the list was measured on them."""

import hashlib
import html
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

HERE = Path(__file__).parent
NOTHING: Final = "-"
"""The label of what must not be refused."""

Half = Literal["tuned", "held_out"]

_ICON = '<svg width="16" height="16"><circle cx="8" cy="8" r="6"/></svg>'
_MARKUP: dict[str, str] = {
    "button": "<button type=button>{0}</button>",
    "link": '<a href="#x">{0}</a>',
    "submit": '<form onsubmit="return false"><input type=submit value="{0}"></form>',
    "icon": f'<button type=button aria-label="{{0}}">{_ICON}</button>',
    "title": f'<button type=button title="{{0}}">{_ICON}</button>',
    "div": '<div onclick="void 0" style="cursor:pointer">{0}</div>',
    "rolebutton": "<span role=button tabindex=0>{0}</span>",
    "menuitem": "<ul role=menu><li role=menuitem tabindex=0>{0}</li></ul>",
    "shadow": '<x-button data-label="{0}"></x-button>',
    "checkbox": "<label><input type=checkbox> {0}</label>",
    "field": "<label>{0} <input></label>",
    "pw": '<input type=password aria-label="{0}">',
    "otp": '<input autocomplete=one-time-code aria-label="{0}">',
    "cc": '<input autocomplete=cc-number aria-label="{0}">',
    "pwform": '<form onsubmit="return false"><button>{0}</button><input type=password></form>',
}
_SCRIPT = """<script>customElements.define("x-button",class extends HTMLElement{connectedCallback(){
const b=document.createElement("button");b.textContent=this.dataset.label;
this.attachShadow({mode:"open"}).append(b)}})</script>"""


@dataclass(frozen=True, slots=True)
class Control:
    """One control, and which category it belongs to.

    Attributes:
        category: The category, or `NOTHING`.
        language: The language of its label.
        kind: How it is made.
        label: What it is called.
    """

    category: str
    language: str
    kind: str
    label: str

    @property
    def half(self) -> Half:
        """Whether the list may be tuned on it."""
        return _half(f"{self.kind}/{self.language}/{self.label}")

    @property
    def is_field(self) -> bool:
        """True where text is put in rather than clicked."""
        return self.kind in ("field", "pw", "otp", "cc")

    def markup(self) -> str:
        """The control."""
        return _MARKUP[self.kind].format(html.escape(self.label))


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """One page, and the category of its boundary.

    Attributes:
        category: The category, or `NOTHING`.
        name: What it is.
        body: Its markup.
    """

    category: str
    name: str
    body: str

    @property
    def half(self) -> Half:
        """Whether the list may be tuned on it."""
        return _half(self.name)


def controls() -> list[Control]:
    """Every labelled control."""
    return [Control(*row) for row in _rows("controls.tsv")]


def pages() -> list[LabelledPage]:
    """Every labelled page."""
    return [LabelledPage(*row) for row in _rows("pages.tsv")]


def sheet(some: list[Control]) -> str:
    """A page with these controls, each in a region that is called by its number."""
    regions = (f'<section aria-label="c{number}">{each.markup()}</section>' for number, each in enumerate(some))
    return document("".join(regions) + _SCRIPT)


def document(body: str) -> str:
    """A whole page."""
    return f'<!doctype html><meta charset="utf-8"><title>Labelled</title>{body}'


def _half(name: str) -> Half:
    # by a hash, so that neither half was chosen
    return "tuned" if hashlib.sha256(name.encode()).digest()[0] % 2 else "held_out"


def _rows(file: str) -> list[list[str]]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]
