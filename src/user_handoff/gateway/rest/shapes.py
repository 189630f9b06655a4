"""What is sent and returned by REST: the models of the tools without what the path or a header says."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, RootModel, create_model

from user_handoff.contract.base import Id, Model
from user_handoff.contract.handoff import HandoffState, Summary
from user_handoff.contract.session import Message, MessageState, Scope, SessionRow, SessionView
from user_handoff.contract.takeover import MAX_TAKEOVER_SECONDS, Cause, Why
from user_handoff.gateway.tools import inputs

MAX_LIMIT: Final = 100
Cursor = Annotated[
    str | None, Field(max_length=2_000, description="`next_cursor` of the page before; none: the first.")
]
Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT, description="How many rows at most. A page may have fewer.")]


class _Described(Model):
    """For fields that bring their descriptions along: to look for them in the source takes long."""

    model_config = ConfigDict(use_attribute_docstrings=False)


def _without(model: type[Model], name: str, *left_out: str) -> type[Model]:
    """A closed model with the same fields but some."""
    fields: dict[str, Any] = {n: (f.annotation, f) for n, f in model.model_fields.items() if n not in left_out}
    return create_model(name, __base__=_Described, __doc__=model.__doc__, **fields)


# --- what is sent ---

_SessionScope = Literal[Scope.BROWSER_CONTROL, Scope.COMPUTER_READ, Scope.RUNTIME_READ]
"""What a session can be granted. A scope that is about no session would let its agents into what is not theirs."""


class Nothing(Model):
    """Nothing is asked for but what the path says."""


class NewSession(Model):
    """Open a session, which is your `current` one then."""

    scopes: Annotated[tuple[_SessionScope, ...], Field(max_length=3)] | None = None
    """What may be done under it; null: all that your key may, of what a handoff needs."""


class NewReply(Model):
    """A person's words about a message, as you heard them. The first reply stands; it resolves nothing."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]
    """Kept in history: no secret belongs in it."""
    by: Annotated[str, Field(min_length=1, max_length=200)] = "someone"
    """Who said it, as you know them."""


class Finish(Model):
    """Take the browser back by the exact fence that begin returned; each page then needs a fresh snapshot."""

    handoff_fence: Annotated[str, Field(min_length=1, max_length=200)]


class NewTakeover(Model):
    """Take a browser over from its agent. All of it is kept in history: no secret belongs in it."""

    browser_id: Id
    why: Why = ""
    """Your words for the agent: why you take over."""
    seconds: Annotated[float, Field(ge=1, le=MAX_TAKEOVER_SECONDS)] = MAX_TAKEOVER_SECONDS
    """It ends after so long at the latest."""
    preempt: bool = False
    """True: what the agent does now is cut off where it does not end by itself in five seconds."""
    cause: Cause = "person"
    """`automatic` where a rule takes it over and no person: refused unless the desktop's policy allows that."""


class EndTakeover(Model):
    """Give the browser back."""

    how: Literal["returned", "cancelled"] = "returned"
    note: Why = ""
    """Your words for the agent; `cancelled` has none."""


class PageQuery(Model):
    """Which page of a list."""

    cursor: Cursor = None
    limit: Limit = 20


class SessionQuery(PageQuery):
    """Which of your sessions."""

    open: bool | None = None
    """Only those that are open, or have ended."""


class MessageQuery(PageQuery):
    """Which messages."""

    state: MessageState | None = None


class HandoffQuery(PageQuery):
    """Which of your handoffs."""

    state: HandoffState | None = None
    session_id: Id | None = None
    """Only those of this session."""


NewMessage = _without(inputs.PostMessage, "NewMessage", "session_id")
NewHandoff = _without(inputs.BeginHandoff, "NewHandoff", "action", "effect_id")
NewBrowser: Any = create_model(
    "NewBrowser",
    __base__=_without(inputs.Open, "_Open", "action", "effect_id"),
    __doc__=inputs.Open.__doc__,
    session_id=(inputs.SessionId, None),
)
NewSnapshot = _without(inputs.Snapshot, "NewSnapshot", "action", "browser_id")
NewScreenshot = _without(inputs.Screenshot, "NewScreenshot", "action", "browser_id")
NewState = _without(inputs.SaveState, "NewState", "action", "browser_id", "effect_id")
NewLook = _without(inputs.ObserveComputer, "NewLook", "browser_id", "session_id")
NativeAction = _without(inputs.ControlComputer, "NativeAction", "browser_id", "session_id", "effect_id")

_ACTS: Final = tuple(
    _without(act, f"{act.__name__}Action", "browser_id", "effect_id")
    for act in (
        inputs.Click,
        inputs.Fill,
        inputs.Press,
        inputs.Select,
        inputs.Navigate,
        inputs.Back,
        inputs.Download,
        inputs.ClosePage,
    )
)
_Act: Any = _ACTS[0]
for _next in _ACTS[1:]:
    _Act = _Act | _next


class PageAction(RootModel[Annotated[_Act, Field(discriminator="action")]]):
    """One effect on a page, done at most once."""

    model_config = ConfigDict(frozen=True)


# --- what is returned ---


class SessionInfo(Model):
    """A session, without its messages."""

    session_id: str
    owner: str
    closed: bool
    scopes: tuple[Scope, ...]
    version: int
    """Rises with every message, reply, resolution and sign-in."""
    auth_version: int
    messages: int
    open_messages: int


class SessionPage(Model):
    """Sessions, the newest first."""

    items: tuple[SessionRow, ...]
    next_cursor: str | None = None
    """Ask with it for the next page; null: there is none."""


class MessagePage(Model):
    """Messages, in the order in which they were posted."""

    items: tuple[Message, ...]
    next_cursor: str | None = None


class HandoffPage(Model):
    """Handoffs: those that go on first, then those that ended, the latest first."""

    items: tuple[Summary, ...]
    next_cursor: str | None = None
    """A page may be short, or empty, and have a next one."""


class TakeoverStarted(Model):
    """You have the browser, as long as you renew that."""

    takeover_id: str
    url: str
    """The page with the live view, for who has signed in there with a key of the same name."""
    expires_at: datetime
    """When it ends at the latest, which no renewal moves."""
    expires_in_seconds: float
    ttl_seconds: float
    """Without a renewal it ends after this: renew three times as often."""


class Problem(Model):
    """A refusal or failure (RFC 9457): what happened, what holds now, what to do next."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    """Stable: the reference tells each."""
    holds: str
    do_next: str
    details: dict[str, Any]


def session_info(view: SessionView) -> SessionInfo:
    """What is told of a session."""
    return SessionInfo(
        session_id=view.session_id,
        owner=view.owner,
        closed=view.closed,
        scopes=view.scopes,
        version=view.version,
        auth_version=view.auth_version,
        messages=len(view.messages),
        open_messages=sum(message.state is MessageState.OPEN for message in view.messages),
    )
