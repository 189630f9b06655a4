"""Bringing the window that a person was handed to the front of their own desktop, when they ask for it."""

from enum import StrEnum

from user_handoff.contract.base import Id, Model


class Shown(StrEnum):
    """What became of it."""

    RAISED = "raised"
    IN_FRONT = "in_front"
    """It had the keyboard already."""
    TYPING = "typing"
    """Somebody types in another window: nothing was changed."""
    UNKNOWN = "unknown"
    """This desktop cannot tell whether somebody types: nothing was changed."""


class ShowWindow(Model):
    """Show the window of a hold, once."""

    handoff_id: str
    browser_id: Id


class WindowShown(Model):
    """The receipt."""

    how: Shown
