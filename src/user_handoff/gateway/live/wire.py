"""The connection from a gateway to a desktop's view."""

import logging
from collections.abc import Callable
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.asyncio.server import broadcast
from websockets.exceptions import InvalidHandshake, InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.view import TICKET_HEADER

SILENT: Final = logging.getLogger("user_handoff.gateway.live.silent")
"""For libraries that would log paths and headers: a person's link and a ticket are among them."""
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.disabled = True

_CONNECT_SECONDS: Final = 5.0
_ALIVE_SECONDS: Final = 5.0
_LITTLE: Final = 64 * 1024
"""As long as no more waits to be sent, a message is sent at once."""

PAGE_WIRE: Final = "page_wire"
"""Where a WebSocket's state names its `Wire`, when its server has one."""

Take = Callable[[bytes], bool]
"""Takes a message; returns False where it has not taken it."""


class Wire(Protocol):
    """One end of what is passed on: messages go in the moment in which they come, without a task in between."""

    take: Take | None
    """Called with each binary message that comes while nothing older waits; what it does not take waits."""

    def send_at_once(self, data: bytes) -> bool:
        """Send one binary message now; False where too much waits already, and nothing was sent."""


class DesktopConnection(ClientConnection):
    """A connection to a desktop's view; a `Wire`.

    Attributes:
        take: As in `Wire`.
        waiting: How many messages were not taken; whoever receives and passes on one counts it down.
    """

    take: Take | None = None
    waiting: int = 0

    def process_event(self, event: Event) -> None:
        """Have it taken, else keep it for `recv`."""
        if isinstance(event, Frame) and event.opcode is Opcode.BINARY:
            if event.fin and not self.waiting and self.take is not None and self.take(bytes(event.data)):
                return
            self.waiting += 1
        super().process_event(event)

    def send_at_once(self, data: bytes) -> bool:
        """As in `Wire`."""
        if self.transport.get_write_buffer_size() > _LITTLE:
            return False
        broadcast((self,), data)
        return True


async def connect_to(address: str, ticket: str) -> DesktopConnection:
    """Connect to the view of a desktop.

    Args:
        address: As the desktop told it: ``unix:/path``, ``ws://host:port`` or ``wss://host/path``.
        ticket: Lets one viewer in, once.

    Raises:
        Refused: `view_unavailable`: it cannot be reached, or lets nobody in.
    """
    options: dict[str, Any] = {
        "create_connection": DesktopConnection,
        "additional_headers": {TICKET_HEADER: ticket},
        "compression": None,
        "max_size": None,
        "max_queue": 8,
        "open_timeout": _CONNECT_SECONDS,
        "ping_interval": _ALIVE_SECONDS,
        "ping_timeout": _ALIVE_SECONDS,
        "close_timeout": 1,
        "user_agent_header": None,
        "logger": SILENT,
    }
    try:
        if address.startswith("unix:"):
            return _ours(await unix_connect(address.removeprefix("unix:"), "ws://desktop/", **options))
        if urlsplit(address).scheme in ("ws", "wss"):
            return _ours(await connect(address, proxy=None, **options))
    except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
        raise make_error(
            ErrorCode.VIEW_UNAVAILABLE,
            "The desktop's view cannot be reached from this gateway.",
            holds="The hold is as it was.",
            do_next="Run the gateway on the desktop's machine, or set HANDOFF_VIEW_LISTEN there.",
        ) from error
    raise make_error(
        ErrorCode.VIEW_UNAVAILABLE,
        "The desktop told an address that is none.",
        holds="The hold is as it was.",
        do_next="Correct HANDOFF_VIEW_ADDRESS there.",
    )


def _ours(connection: ClientConnection) -> DesktopConnection:
    assert isinstance(connection, DesktopConnection)
    return connection
