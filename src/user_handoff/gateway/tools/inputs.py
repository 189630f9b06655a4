"""What an agent can ask of each tool: closed models, one for each action."""

from typing import Annotated, Final, Literal

from pydantic import Field, PositiveFloat, StringConstraints, model_validator

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import Boundary, Rule
from user_handoff.contract.browser import SNAPSHOT_BYTES, Text, WebUrl
from user_handoff.contract.computer import ComputerAction
from user_handoff.contract.conditions import Completion, Condition
from user_handoff.contract.handoff import MAX_HOLD_SECONDS, Instructions
from user_handoff.contract.locking import MAX_LOCK_SECONDS
from user_handoff.contract.states import PRE_AUTHENTICATION, SSO_DOMAINS, PruneRule, Site

MAX_WAIT_SECONDS: Final = 600.0
MAX_SNAPSHOT_BYTES: Final = 200_000

SessionId = Annotated[
    Id | None,
    Field(description="Which session, for callers with a key: 'current' (the default) or an id. A grant has its own."),
]
EffectId = Annotated[
    Id | None,
    Field(
        description="Your own id of this effect. The same id again does nothing more and returns the same receipt, so "
        "that you can ask again when an answer was lost."
    ),
]
PageId = Annotated[str | None, Field(max_length=64, description="Which page; null: the one in front.")]
ElementId = Annotated[str, Field(max_length=200, description="An element id of the latest snapshot of that page.")]
HandoffId = Annotated[str, Field(max_length=210, description="The id that begin_user_handoff returned.")]


# --- a browser ---


class OfBrowser(Model):
    """What names a browser."""

    browser_id: Id


class OfPage(OfBrowser):
    """What names a page."""

    page_id: PageId = None


class PageAct(OfPage):
    """The base of what changes a page."""

    effect_id: EffectId = None
    timeout_seconds: PositiveFloat = Field(default=10, le=120)


class Open(Model):
    """Start a managed, visible browser, and go to a URL."""

    action: Literal["open"]
    url: WebUrl = "about:blank"
    rules: tuple[Rule, ...] = Field(default=(), max_length=50)
    """Where you must stop, beside the rules of the desktop, which hold in any case."""
    read_only: bool = False
    """Go to pages and look; every click, key and download is refused."""
    confirm_before_submit: bool = False
    """What submits is refused until a person has confirmed it, in a handoff with the boundary of that refusal."""
    idle_seconds: PositiveFloat = 1800
    lifetime_seconds: PositiveFloat = 14_400
    state: Id | None = None
    """The name of a state that save_state saved: the browser has that login. Refused where the login is over."""
    effect_id: EffectId = None


class Snapshot(OfPage):
    """Look at a page as text with element ids; editable values are withheld. A `boundary` in it: stop, hand over."""

    action: Literal["snapshot"]
    max_bytes: int = Field(default=SNAPSHOT_BYTES, ge=1_000, le=MAX_SNAPSHOT_BYTES)
    depth: int | None = Field(default=None, ge=1, le=100)
    region: str | None = Field(default=None, max_length=200)
    """An element id of an earlier snapshot: look at that part only."""


class Screenshot(OfPage):
    """Take a picture, which stays on the desktop; its place and digest are returned."""

    action: Literal["screenshot"]


class Info(OfBrowser):
    """State and pages of a browser."""

    action: Literal["info"]


class Click(PageAct):
    """Click an element."""

    action: Literal["click"]
    element_id: ElementId


class Fill(PageAct):
    """Replace an editable element's value. Never with a secret: those are a person's to type."""

    action: Literal["fill"]
    element_id: ElementId
    text: Text


class Press(PageAct):
    """Press a key or chord, such as Enter or Control+A, on an element or on what has the focus."""

    action: Literal["press"]
    key: Annotated[str, StringConstraints(min_length=1, max_length=50)]
    element_id: ElementId | None = None


class Select(PageAct):
    """Choose options of a select element by their labels."""

    action: Literal["select"]
    element_id: ElementId
    labels: tuple[Annotated[str, StringConstraints(max_length=1_000)], ...] = Field(max_length=100)


class Navigate(PageAct):
    """Go to a URL (http, https or about:blank)."""

    action: Literal["navigate"]
    url: WebUrl
    timeout_seconds: PositiveFloat = Field(default=30, le=120)


class Back(PageAct):
    """Go back one entry."""

    action: Literal["back"]


class Download(PageAct):
    """Click an element and wait for the download that it starts; the file stays on the desktop."""

    action: Literal["download"]
    element_id: ElementId
    timeout_seconds: PositiveFloat = Field(default=30, le=300)


class ClosePage(PageAct):
    """Close one page."""

    action: Literal["close_page"]


class CloseBrowser(OfBrowser):
    """Close a browser, also while a person has it: the handoff ends `closed` then."""

    action: Literal["close_browser"]


class LockUi(OfBrowser):
    """Drop what a person types through the live view, for a moment; they end that by one click. Needs `ui:lock`."""

    action: Literal["lock_ui"]
    seconds: float = Field(default=15, ge=0, le=MAX_LOCK_SECONDS)
    """0 ends it."""


class SaveState(OfBrowser):
    """Keep what sites know of a login, for `open` with `state`. It stays on the desktop: only numbers are returned."""

    action: Literal["save_state"]
    state_id: Id
    """Its name; the same one again replaces what you saved under it."""
    sites: tuple[Site, ...] = Field(min_length=1, max_length=20)
    """Hosts such as portal.example; their subdomains are meant, too."""
    probe: Condition
    """What shows that the login stands: looked for now, and before a browser with this state is given out."""
    probe_seconds: float = Field(default=10, gt=0, le=60)
    sso: tuple[Site, ...] = Field(default=SSO_DOMAINS, max_length=50)
    """Where those sites let people sign in."""
    prune: tuple[PruneRule, ...] = Field(default=PRE_AUTHENTICATION, max_length=100)
    """What is left out: marks of a sign-in that has not ended."""
    effect_id: EffectId = None


class BeginHandoff(OfBrowser):
    """Hand the browser to a person. It returns once it is held; until it is taken back every effect is refused."""

    action: Literal["begin_user_handoff"]
    instructions: Instructions
    """What the person shall do. They see it, and it is kept: no secret belongs in it."""
    message_id: Id | None = None
    """An open message that carries the handoff; null posts a todo with the instructions."""
    boundary: Boundary | None = None
    """What was met, as the snapshot says it."""
    verify: Condition | None = None
    """What must be observable afterwards. Without it no outcome is `verified`."""
    verify_seconds: float = Field(default=15, gt=0, le=120)
    completion: Completion = Completion.PERSON
    """What ends the person's turn: their word, the condition observed while they have the browser, either, or both."""
    timeout_seconds: float = Field(default=MAX_HOLD_SECONDS, gt=0, le=MAX_HOLD_SECONDS)
    effect_id: EffectId = None

    @model_validator(mode="after")
    def _observable(self) -> "BeginHandoff":
        if self.completion is not Completion.PERSON and self.verify is None:
            raise ValueError("a completion that is observed needs verify")
        return self


class FinishHandoff(Model):
    """Take the browser back by the exact fence that begin returned; each page then needs a fresh snapshot."""

    action: Literal["finish_user_handoff"]
    handoff_id: HandoffId
    handoff_fence: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class HandoffSummary(Model):
    """What holds now for a handoff, also after its end. Nothing but `verified` says that the step is done."""

    action: Literal["handoff_summary"]
    handoff_id: HandoffId


PAGE_ACTS = Click | Fill | Press | Select | Navigate | Back | Download | ClosePage
Looking = Annotated[Snapshot | Screenshot | Info, Field(discriminator="action")]
Controlling = Annotated[
    Open
    | Snapshot
    | Screenshot
    | Info
    | Click
    | Fill
    | Press
    | Select
    | Navigate
    | Back
    | Download
    | ClosePage
    | CloseBrowser
    | SaveState
    | LockUi
    | BeginHandoff
    | FinishHandoff
    | HandoffSummary,
    Field(discriminator="action"),
]


class ControlBrowser(Model):
    """Drive a browser."""

    do: Controlling
    session_id: SessionId = None


class ObserveBrowser(Model):
    """Look at a browser."""

    do: Looking
    session_id: SessionId = None


# --- a desktop ---


class ControlComputer(Model):
    """One native effect on the desktop that a browser of yours is on."""

    browser_id: Id
    generation: Id
    """Of your latest observe_computer; this effect spends it."""
    do: ComputerAction
    effect_id: EffectId = None
    session_id: SessionId = None


class ObserveComputer(Model):
    """Look at the desktop that a browser of yours is on."""

    browser_id: Id
    screenshot: bool = False
    """Take a picture as well, which stays there. Refused while a person has a browser of the desktop."""
    session_id: SessionId = None


# --- a session ---


class PostMessage(Model):
    """Ask a person something."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    kind: Literal["question", "todo"] = "question"
    message_id: Id | None = None
    """Your own id of the message: posting it again changes nothing."""
    session_id: SessionId = None


class About(Model):
    """A handoff, or a message."""

    handoff_id: HandoffId | None = None
    message_id: Id | None = None

    @model_validator(mode="after")
    def _one(self) -> "About":
        if (self.handoff_id is None) == (self.message_id is None):
            raise ValueError("give exactly one of handoff_id and message_id")
        return self


class ReadReply(About):
    """What a person has answered to a handoff or a message."""

    session_id: SessionId = None


class Wait(Model):
    """Wait for a handoff to go on, for a reply to a message, or for a person's request."""

    handoff_id: HandoffId | None = None
    message_id: Id | None = None
    person_request: bool = False
    """Wait until there is something to read with read_person_request."""
    timeout_seconds: float = Field(default=50, gt=0, le=MAX_WAIT_SECONDS)
    """When to return without news. The waiting itself is not lost: call again to go on."""
    session_id: SessionId = None

    @model_validator(mode="after")
    def _one(self) -> "Wait":
        if (self.handoff_id is not None) + (self.message_id is not None) + self.person_request != 1:
            raise ValueError("give exactly one of handoff_id, message_id and person_request")
        return self


class IssueBrowserUrl(Model):
    """Make a link to the page on which a person answers a handoff."""

    handoff_id: HandoffId
    session_id: SessionId = None


class ReadPersonRequest(Model):
    """Read what a person has sent."""

    session_id: SessionId = None
