"""What a person is told of a handoff, and by which channels. None of it holds an address, a link or a secret."""

from datetime import datetime
from enum import StrEnum

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import Boundary


class ChannelInfo(Model):
    """A way to tell a person, as workflows know it."""

    name: Id
    dedupes: bool = False
    """Whoever is behind it drops what comes twice, so that it may be sent again after a lost receipt."""


class EndpointInfo(Model):
    """A program that is told of every state, as workflows know it."""

    name: Id
    details: bool = False
    """It is told who asks for what and where, too."""


class TellPerson(Model):
    """Tell a person by one channel. The link, where the channel gets one, is made by whoever sends it."""

    notice_id: Id
    """The same for every attempt: what is told once under it is not told again."""
    channel: Id
    number: int = 0
    """0 when they are asked; from 1 on, the reminders."""
    handoff_id: str
    owner: str
    instructions: str
    boundary: Boundary | None = None
    expires_at: datetime


class How(StrEnum):
    """What became of one notice."""

    SENT = "sent"
    FAILED = "failed"
    """It was not sent."""
    UNKNOWN = "unknown"
    """It was begun and its end not seen; it is not sent again."""
    OVER = "over"
    """It was not sent, since nobody was waited for any more."""


class Told(Model):
    """That a person was told, or was not."""

    channel: Id
    number: int
    how: How
    at: datetime
