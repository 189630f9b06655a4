"""A desktop runner's presence."""

from datetime import datetime

from user_handoff.contract.base import Id, Model

BROWSER_USER_HANDOFF = "browser_user_handoff"
"""The capability of handing a browser over: advertised only where its exact window can be found."""


class Capabilities(Model):
    """What a desktop can do, and why it cannot do the rest."""

    browser_user_handoff: bool
    surface_backend: str
    """``x11``, or why there is none."""
    virtual: bool
    reason: str = ""


class RunnerInfo(Model):
    """What a runner says of itself, at its start and with every heartbeat."""

    client_id: Id
    desktop_id: Id
    queue: str
    version: str
    capabilities: Capabilities
    browsers: tuple[str, ...] = ()
    view_address: str | None = None
    """Where a gateway finds the live view of this desktop; None where it has none."""


class RunnerView(Model):
    """What a query tells of a desktop machine."""

    info: RunnerInfo
    online: bool
    last_seen: datetime


class DesktopClaim(Model):
    """Which desktop answered: its own queue is where its browsers are driven."""

    client_id: Id
    desktop_id: Id
    queue: str


class RevokeDesktop(Model):
    """A desktop was replaced: every open handoff of it is over."""

    client_id: Id
    desktop_id: Id
