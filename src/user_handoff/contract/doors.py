"""Doors by which other programs drive a browser themselves, by CDP, behind its gate."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from user_handoff.contract.access import Sha256
from user_handoff.contract.base import Id, Model

DOOR_SECONDS: Final = 900.0
"""How long a door is open unless it says otherwise."""

MAX_DOOR_SECONDS: Final = 86_400.0

DoorName = Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""Who a door is for: it is shown and logged."""


class OpenDoor(Model):
    """Let a program drive a browser, for a while. The token's hash alone is sent."""

    browser_id: Id
    door_id: Id
    """Sent again under the same id, it is one door."""
    sha256: Sha256
    name: DoorName = ""
    tcp: bool = False
    """True: on a loopback port of the desktop's machine too, for programs that know no Unix sockets."""
    expires_in_seconds: float = Field(default=DOOR_SECONDS, gt=0, le=MAX_DOOR_SECONDS)
    grant_id: Id | None = None
    """The grant, of the browser's session, by which its program gets in: the door closes with it."""


class DoorOpened(Model):
    """Where the door is; without its token it lets nobody in."""

    door_id: Id
    browser_id: Id
    socket: str
    """The Unix socket on the desktop's machine."""
    port: int | None = None
    """The loopback port there; None where it was not asked for."""
    expires_at: datetime
    uploads: str
    """The one folder of which the program may give files to a page."""


class DoorRequest(Model):
    """Names a door of a browser."""

    browser_id: Id
    door_id: Id


class DoorView(Model):
    """A door that is open, without what would let anyone in."""

    door_id: Id
    browser_id: Id
    name: DoorName
    tcp: bool
    expires_at: datetime
    grant_id: Id | None = None
    connected: int
    """How many programs are connected by it now."""


class DoorViews(Model):
    """The doors of a browser that are open."""

    doors: tuple[DoorView, ...] = ()
