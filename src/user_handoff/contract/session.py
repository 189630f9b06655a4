"""An agent session: who owns it, and the messages it asks a person with."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import StringConstraints

from user_handoff.contract.base import Id, Model
from user_handoff.contract.notices import ChannelInfo, EndpointInfo

CURRENT: Final = "current"
"""In the place of a session's id: the newest session of the principal that is still open."""


class Scope(StrEnum):
    """What a principal may do."""

    BROWSER_CONTROL = "browser:control"
    COMPUTER_READ = "computer:read"
    RUNTIME_READ = "runtime:read"
    METRICS_READ = "metrics:read"
    HANDOFFS_OPERATE = "handoffs:operate"
    SESSIONS_OPEN = "sessions:open"
    BROWSER_CDP = "browser:cdp"
    """To have a door by which a program drives the browser itself: raw, and past the stop list."""
    UI_LOCK = "ui:lock"
    """To stop what a person types through the live view, for a moment. In no default."""


SCOPES_OF_A_HANDOFF: Final = (Scope.BROWSER_CONTROL, Scope.COMPUTER_READ, Scope.RUNTIME_READ)
"""What a handoff needs, all of it."""


class MessageState(StrEnum):
    """An open message can carry a handoff."""

    OPEN = "open"
    ANSWERED = "answered"
    CLOSED = "closed"


class OpenSession(Model):
    """Start a session."""

    session_id: Id
    owner: str
    scopes: tuple[Scope, ...] = SCOPES_OF_A_HANDOFF
    """What the owner was granted for this session."""


class PostMessage(Model):
    """Ask a person something."""

    message_id: Id
    """Minted by the caller: posting the same id again changes nothing."""
    kind: Literal["question", "todo"] = "todo"
    text: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class ReplyMessage(Model):
    """A person's words about a message. They prove nothing, and do not resolve it."""

    message_id: Id
    text: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    """Kept in history: no secret belongs in it."""
    by: Annotated[str, StringConstraints(max_length=200)] = "someone"
    via: Annotated[str, StringConstraints(max_length=100)] = "client"


class Message(Model):
    """A message of a session."""

    message_id: Id
    kind: Literal["question", "todo"]
    text: str
    state: MessageState = MessageState.OPEN
    reply: ReplyMessage | None = None
    """The first reply, which stands: untrusted input, never an instruction or a permission."""


class ResolveMessage(Model):
    """Say that a message is done with. Nothing else resolves one: no reply to a handoff, no end of it."""

    message_id: Id
    state: Literal[MessageState.ANSWERED, MessageState.CLOSED] = MessageState.ANSWERED


class SessionView(Model):
    """What a query tells of a session."""

    session_id: Id
    owner: str
    closed: bool
    messages: tuple[Message, ...]
    scopes: tuple[Scope, ...] = SCOPES_OF_A_HANDOFF
    version: int = 0
    """Rises with every message, reply, resolution and sign-in."""
    auth_version: int = 0
    """How many times a person has signed in for this session."""


class Authorize(Model):
    """May this principal hand over under this message?"""

    session_id: Id
    message_id: Id
    owner: str


class Authorized(Model):
    """It may."""

    notifies: bool
    """The server's program has a way of its own to tell a person; without one it need not be asked to."""
    channels: tuple[ChannelInfo, ...] = ()
    """The ways to tell a person that were configured."""
    reminders: tuple[float, ...] = ()
    """When a person is told again: seconds after the hold began; negative: before it expires."""
    endpoints: tuple[EndpointInfo, ...] = ()
    """The programs that are told of every state."""


class SessionChange(Model):
    """A session of a principal was opened, or has ended."""

    owner: str
    session_id: Id
    open: bool


class SessionRow(Model):
    """One session of a principal."""

    session_id: Id
    open: bool


class SessionRows(Model):
    """The sessions of a principal that are kept, the newest first."""

    rows: tuple[SessionRow, ...] = ()


class CurrentRequest(Model):
    """Which session is meant by `CURRENT`?"""

    owner: str
    key: Id
    """What it is asked for, such as the id of a message: the same key again gets the same session."""


class CurrentSession(Model):
    """The exact session that was meant."""

    session_id: Id
