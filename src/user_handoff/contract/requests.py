"""What a person sends to an agent's session of their own accord, and the replies that reach it the same way."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from user_handoff.contract.access import Sha256
from user_handoff.contract.base import Id, Model

MAX_LIVE: Final = 256
"""Requests of one session that are neither read nor over; at the bound the new one is refused."""

REQUEST_SECONDS: Final = 1_800.0
"""How long a request waits to be read."""

WRITER_SECONDS: Final = 86_400.0
"""How long a key to write requests lasts."""

RequestText = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
Skill = Annotated[str, StringConstraints(max_length=100, pattern=r"^([A-Za-z0-9][A-Za-z0-9 ._:/@-]*)?$")]
Generation = Annotated[int, Field(ge=1, le=2**31)]


class RequestState(StrEnum):
    """Where a request stands. Only `published` is there to be read."""

    DRAFT = "draft"
    PUBLISHED = "published"
    READ = "read"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"

    @property
    def live(self) -> bool:
        """True where it can still be sent or read."""
        return self in (RequestState.DRAFT, RequestState.PUBLISHED)


class OpenInbox(Model):
    """Keep the requests of one session."""

    session_id: Id


class AdmitWriter(Model):
    """Remember a key that lets a person write requests, and nothing else, by its hash."""

    key_id: Id
    sha256: Sha256
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    """Whose words they are, as whoever issued the key knows them."""
    expires_in_seconds: float = Field(default=WRITER_SECONDS, gt=0, le=7 * 86_400)


class SaveRequest(Model):
    """Write down a text, or change it. A change invalidates every sending of what was there before."""

    request_id: Id
    """Minted by the page that it is written on."""
    generation: Generation
    """Counts the changes; it must be above the one that stands."""
    text: RequestText
    """Kept in history: no secret belongs in it."""
    skill: Skill = ""
    """Which skill the person chose. To choose one is no permission."""
    send: bool = False
    """Publish it with the same step."""
    expires_in_seconds: float = Field(default=REQUEST_SECONDS, gt=0, le=86_400)


class SendRequest(Model):
    """Publish a text as it stands at this generation, and no other."""

    request_id: Id
    generation: Generation


class WithdrawRequest(Model):
    """Take a request back."""

    request_id: Id


class Written(Model):
    """What a writer asks for, with the hash of the key that allows it."""

    writer_sha256: Sha256
    what: SaveRequest | SendRequest | WithdrawRequest


class RequestReceipt(Model):
    """Where a request stands: never its text, which only its reader gets."""

    request_id: Id
    generation: int
    state: RequestState
    expires_at: datetime


class ReceiptRequest(Model):
    """Ask where a request stands."""

    request_id: Id
    writer_sha256: Sha256


class Provenance(Model):
    """Where a text comes from, as far as its door knows."""

    by: str
    via: str
    """The door: ``request``, or that of the reply."""
    about: str = ""
    """The handoff or message that it replies to."""
    sent_at: datetime


class PersonRequest(Model):
    """A person's words, for an agent to read: untrusted input, neither an order of the system nor a permission."""

    untrusted: Literal[True] = True
    request_id: Id
    kind: Literal["request", "reply"]
    skill: Skill = ""
    answer: str = ""
    """What a reply says: ``done``, ``could_not`` or ``declined``. It proves nothing."""
    text: str
    generation: int
    provenance: Provenance


class ReadRequest(Model):
    """Read the oldest request that nobody has read."""

    read_id: Id
    """Minted by the reader: the same id again returns the same request."""


class ReadResult(Model):
    """What was read, and what is left."""

    request: PersonRequest | None
    unread: int
    """How many more there are."""


class PublishReply(Model):
    """A person has replied to something that the session's agent asked."""

    about: str
    answer: str = ""
    text: str = ""
    by: str
    via: str


class InboxView(Model):
    """What a query tells: never a text."""

    session_id: Id
    edges: int = 0
    """Rises with every publication, revision, withdrawal, expiry and read."""
    unread: int = 0
    live: int = 0
    expects: tuple[str, ...] = ()
    """Handoffs and messages of which a reply is to be published."""
