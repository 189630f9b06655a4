"""Acting on a browser and observing it: requests and what comes back."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import Boundary, Refused, Rule
from user_handoff.contract.takeover import HeldBy, Resumed

SNAPSHOT_BYTES = 64 * 1024
"""The default bound of a snapshot's text: it lands in the caller's own history."""

Text = Annotated[str, StringConstraints(max_length=20_000)]
WebUrl = Annotated[str, StringConstraints(max_length=4_000)]


class OpenBrowser(Model):
    """Start a managed, visible, persistent browser."""

    browser_id: Id
    """Minted by the caller, so that a lost receipt is asked again under the same id; never reused."""
    session_id: Id
    owner: str
    """The principal that may act on it."""
    url: WebUrl = "about:blank"
    rules: tuple[Rule, ...] = ()
    """Where its agent must stop, beside the rules of the desktop, which hold in any case."""
    read_only: bool = False
    """Its agent may go to pages and look; a click, a key or a download is refused."""
    confirm_before_submit: bool = False
    """What submits is refused until a person has confirmed it, by a handoff with the boundary of that refusal."""
    idle_seconds: PositiveFloat = 1800
    lifetime_seconds: PositiveFloat = 14_400
    navigation_timeout_seconds: PositiveFloat = 30
    visible: bool = True
    """False: headless. Nobody can be handed a browser that they cannot see."""
    state: Id | None = None
    """The name of a saved state of the owner's, which it gets before its first page; refused where that is over."""
    persistent: bool = True
    """False: its profile is removed with it. Such a browser cannot be handed over: what a person did would be lost."""


class PageInfo(Model):
    """One page (tab or popup)."""

    page_id: str
    url: str
    """Without query and fragment."""
    title: str
    """Chosen by the page: never trust it."""
    needs_snapshot: bool
    """True after a handoff until this page was looked at: until then its effects are refused."""
    code_ran: bool = False
    """Told when a person is given the browser. True: the code of a program that came by a door has run in the document
    that this page shows, and may still do something. Loading the page anew ends that."""


class BrowserInfo(Model):
    """One managed browser."""

    browser_id: Id
    client_id: Id
    desktop_id: Id
    queue: str
    state: Literal["open", "held", "recovering", "gone"]
    pid: int
    """Chromium's own process id: the same before and after anything else restarts."""
    pages: tuple[PageInfo, ...]
    idle_seconds_left: float
    lifetime_seconds_left: float
    owner: str = ""
    """The principal that it was opened for."""
    session_id: str = ""
    """The session that it was opened under."""
    held_by: HeldBy | None = None
    """Who has it, where its state is ``held``."""


class BrowserRequest(Model):
    """What names a browser."""

    browser_id: Id


class CloseBrowser(BrowserRequest):
    """Close a browser."""

    unless_held: bool = False
    """True: not while somebody has it, nor while an expired hold keeps it paused."""


class PageRequest(BrowserRequest):
    """What names a page."""

    page_id: str | None = None
    """None: the page that the browser shows in front."""


class SnapshotRequest(PageRequest):
    """Look at a page."""

    max_bytes: int = Field(default=SNAPSHOT_BYTES, ge=1_000, le=1_000_000)
    depth: int | None = Field(default=None, ge=1, le=100)
    region: str | None = None
    """An element id of an earlier snapshot of the page: look at that part only."""


_ELEMENT = re.compile(
    r'^\s*- (?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<attrs>(?: \[[^\]]*\])*)', re.MULTILINE
)
_ID = re.compile(r"\[id=([^\]]+)\]")


class ElementRef(Model):
    """An element of one snapshot. The id is dead after the next navigation, change of label, or handoff."""

    element_id: str
    role: str
    name: str


class Snapshot(Model):
    """A page as text: an accessibility tree in which editable values are withheld."""

    browser_id: Id
    page: PageInfo
    snapshot_id: str
    text: str
    truncated: bool = False
    """True where the text was cut at the bound: look closer with `depth` or `region`."""
    boundary: Boundary | None = None
    """The first rule that this page meets: stop, and hand over."""
    refused: tuple[Refused, ...] = ()
    """The elements of this snapshot on which effects are refused, with the rule: they are a person's to use."""
    pages: tuple[PageInfo, ...] = ()
    """Every page of the browser, popups included."""
    resumed: Resumed | None = None
    """What there is to say of a person's takeover that has just ended: with the first look after it, and once."""

    def elements(self) -> tuple[ElementRef, ...]:
        """The elements of this snapshot that have an id, in document order."""
        found = []
        for match in _ELEMENT.finditer(self.text):
            ref = _ID.search(match["attrs"])
            if ref:
                name = re.sub(r"\\(.)", r"\1", match["name"] or "")
                found.append(ElementRef(element_id=ref[1], role=match["role"], name=name))
        return tuple(found)

    def find(self, *, role: str, name: str | None = None) -> str:
        """The id of the one element of this role and exact name.

        Raises:
            LookupError: None or several match; the message says which.
        """
        found = [e for e in self.elements() if e.role == role and (name is None or e.name == name)]
        if len(found) != 1:
            wanted = role if name is None else f"{role} {name!r}"
            raise LookupError(f"{len(found)} elements match {wanted} in snapshot {self.snapshot_id}")
        return found[0].element_id


class ScreenshotRequest(PageRequest):
    """Take a picture of a page into the desktop's evidence folder; text in inputs is made invisible."""


class Picture(Model):
    """A picture that stays on the desktop: only its place and digest travel."""

    path: str
    sha256: str
    width: int
    height: int


class EffectOutcome(StrEnum):
    """At most once: which of the three it was."""

    NOT_STARTED = "not_started"
    COMPLETED = "completed"
    OUTCOME_UNKNOWN = "outcome_unknown"


class PageEffect(PageRequest):
    """The base of everything that changes a page."""

    effect_id: Id
    """Minted by the caller: the same id is never done twice, and returns the same receipt."""
    timeout_seconds: PositiveFloat = 10


class Click(PageEffect):
    """Click an element."""

    element_id: str


class Fill(PageEffect):
    """Replace an editable element's value. Not for secrets: those are a person's to type."""

    element_id: str
    text: Text


class Press(PageEffect):
    """Press a key or chord, such as ``Enter`` or ``Control+A``, on an element or on what has the focus."""

    key: Annotated[str, StringConstraints(min_length=1, max_length=50)]
    element_id: str | None = None


class Select(PageEffect):
    """Choose options of a select element by their labels."""

    element_id: str
    labels: tuple[str, ...]


class Navigate(PageEffect):
    """Go to a URL (http, https or about:blank)."""

    url: WebUrl
    timeout_seconds: PositiveFloat = 30


class Back(PageEffect):
    """Go back one entry."""


class Download(PageEffect):
    """Click an element and wait for the download that it starts."""

    element_id: str
    timeout_seconds: PositiveFloat = 30


class ClosePage(PageEffect):
    """Close one page."""


class EffectReceipt(Model):
    """What became of one effect."""

    effect_id: Id
    outcome: EffectOutcome
    page: PageInfo | None = None


class DownloadReceipt(EffectReceipt):
    """A downloaded file, kept on the desktop."""

    path: str
    bytes: int
    sha256: str
