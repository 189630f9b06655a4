"""Stopping the input of a person's page for a moment: by an agent that may, with an owner and a time limit."""

from pydantic import Field

from user_handoff.contract.base import Id, Model

MAX_LOCK_SECONDS = 60
"""A lock of the page's input lasts at most this long. The person ends it at any time, by one click."""


class LockUi(Model):
    """Drop what is typed through the live view of a browser, for so long."""

    browser_id: Id
    owner: str
    """The principal that asks; it must own the browser."""
    seconds: float = Field(ge=0, le=MAX_LOCK_SECONDS)
    """0 ends the owner's own lock."""


class UiLocked(Model):
    """The lock as it stands."""

    browser_id: Id
    lock_id: str | None = None
    """None: there is none now."""
    seconds: float = 0
    """How long it lasts unless it ends before."""
