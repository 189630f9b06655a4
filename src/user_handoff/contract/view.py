"""Looking at a held browser from elsewhere: who is let in, and where the picture is served."""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints

from user_handoff.contract.base import Id, Model

ViewMode = Literal["watch", "control"]
"""What a viewer may do: only look, or also ask for control."""

TICKET_SECONDS = 15.0
"""How long a ticket can be used: it is used at once, by who asked for it."""

TICKET_HEADER = "X-Handoff-Ticket"
"""The header in which a gateway shows the ticket to the desktop. It appears in no address, and so in no log."""

PAGE_HEADER = "X-Handoff-Page"
"""The header in which a gateway announces that it hands over a page's own connection, and under which key."""

PAGES_SOCKET = "page"
"""The socket of a desktop on which such a connection comes, beside the one of its view."""

TAKEN = b"1"
"""What the desktop answers there once the connection is its own."""

ENDED = 4410
"""The code with which a page's WebSocket is closed when a view is over; the reason says why."""

LONGEST_WORD = 64 * 1024
"""As many characters a page or its gateway says at once beside picture and input; what is longer is nothing."""


def read_word(text: str) -> dict[str, Any]:
    """What a page or its gateway says in text: ``t`` names what it is about; empty where it says nothing."""
    try:
        said = json.loads(text) if len(text) <= LONGEST_WORD else {}
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


class AdmitViewer(Model):
    """Let one viewer in. The ticket itself stays with the gateway: only its hash comes along."""

    handoff_id: str
    browser_id: Id
    viewer_id: Id
    """Minted by the gateway for this one connection. It lets nobody in: the ticket does."""
    ticket_sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    mode: ViewMode = "control"
    expires_in_seconds: float = Field(default=TICKET_SECONDS, gt=0, le=60)

    @classmethod
    def of(cls, handoff_id: str, browser_id: str, viewer_id: str, ticket: str, mode: ViewMode = "control") -> Self:
        """Ask for a viewer who will show this ticket."""
        digest = hashlib.sha256(ticket.encode()).hexdigest()
        return cls(handoff_id=handoff_id, browser_id=browser_id, viewer_id=viewer_id, ticket_sha256=digest, mode=mode)


class ViewerAdmitted(Model):
    """The desktop waits for this viewer."""

    viewer_id: Id
    address: str
    """Where the picture is served: ``unix:/path``, ``ws://host:port`` or ``wss://host/path``."""
