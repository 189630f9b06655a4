"""What programs are told of a handoff: every state that it enters, in order."""

from datetime import datetime
from typing import Final

from user_handoff.contract.base import Id, Model
from user_handoff.contract.boundary import Boundary
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import Answer, Result, RevokeReason
from user_handoff.contract.notices import EndpointInfo

MAX_NEWS: Final = 60
"""How much of one handoff is told; after so much the end alone."""

MAX_DAYS: Final = 7
"""How long a delivery waits for the end of its handoff."""


class News(Model):
    """A handoff entered a state, or was answered."""

    number: int
    """From 0 on, in order."""
    news_id: Id
    """Goes out as the webhook's id: the same in every attempt, at every endpoint."""
    what: Id
    """A state, or `answered`."""
    at: datetime
    over: bool = False
    """Nothing comes after it."""
    expires_at: datetime | None = None
    answer: Answer | None = None
    result: Result | None = None
    reason: RevokeReason | None = None
    code: ErrorCode | None = None


class Details(Model):
    """What is told to those endpoints alone that were chosen for it."""

    owner: str
    instructions: str
    boundary: Boundary | None = None


class Delivery(Model):
    """Deliver the news of one handoff."""

    handoff_id: str
    endpoints: tuple[EndpointInfo, ...]
    details: Details | None = None
    news: tuple[News, ...] = ()


class MoreNews(Model):
    """What came to pass since."""

    news: tuple[News, ...]


class Deliver(Model):
    """Deliver one piece of news to one endpoint."""

    endpoint: Id
    handoff_id: str
    news: News
    details: Details | None = None


class Delivered(Model):
    """What became of it."""

    taken: bool
    """False: the endpoint wants nothing more of anything, or is no longer configured."""
