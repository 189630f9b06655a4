"""The connection from a gateway to a desktop's view."""

import logging
import socket
from collections.abc import Callable
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.asyncio.server import broadcast
from websockets.exceptions import InvalidHandshake, InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.view import PAGE_HEADER, TICKET_HEADER

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

UNIX: Final = "unix:"
"""What the address of a view on this machine begins with."""

Take = Callable[[bytes], bool]
"""Takes a message; returns False where it has not taken it."""


class Wire(Protocol):
    """A page's connection: messages go in the moment in which they come, or another process goes on with it."""

    take: Take | None
    """Called with each binary message that comes while nothing older waits; what it does not take waits."""

    @property
    def can_be_lent(self) -> bool:
        """False where another process could make nothing of the connection: it is encrypted here."""

    def send_at_once(self, data: bytes) -> bool:
        """Send one binary message now; False where too much waits already, and nothing was sent."""

    def lend(self) -> socket.socket | None:
        """The connection for another process to go on with; None where something of it waits here.

        From now on not one byte is read from it or sent, whoever ends what; only `take_back` changes that.
        """

    def take_back(self) -> None:
        """Nobody has it: go on."""


class DesktopConnection(ClientConnection):
    """A connection to a desktop's view.

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
        """Send one binary message now; False where too much waits already, and nothing was sent."""
        if self.transport.get_write_buffer_size() > _LITTLE:
            return False
        broadcast((self,), data)
        return True


async def connect_to(address: str, ticket: str, key: str | None = None) -> DesktopConnection:
    """Connect to the view of a desktop.

    Args:
        address: As the desktop told it: ``unix:/path``, ``ws://host:port`` or ``wss://host/path``.
        ticket: Lets one viewer in, once.
        key: Under which the page's own connection will be handed over; None: it will not be.

    Raises:
        Refused: `view_unavailable`: it cannot be reached, or lets nobody in.
    """
    options: dict[str, Any] = {
        "create_connection": DesktopConnection,
        "additional_headers": {TICKET_HEADER: ticket} | ({PAGE_HEADER: key} if key else {}),
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
        if address.startswith(UNIX):
            return _ours(await unix_connect(address.removeprefix(UNIX), "ws://desktop/", **options))
        return _ours(await connect(address, proxy=None, **options))
    except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
        raise make_error(
            ErrorCode.VIEW_UNAVAILABLE,
            f"The desktop's view at {_place(address)} cannot be reached from this gateway ({type(error).__name__}).",
            holds="The hold is as it was.",
            do_next="Set HANDOFF_VIEW_LISTEN for the runner there, and HANDOFF_VIEW_ADDRESS where this gateway finds "
            "it by another name; or run this gateway on the desktop's machine, as the same user.",
        ) from error


def _ours(connection: ClientConnection) -> DesktopConnection:
    assert isinstance(connection, DesktopConnection)
    return connection


def _place(address: str) -> str:
    """An address without what only its two ends may know: a proxy's password, a path."""
    if address.startswith(UNIX):
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
