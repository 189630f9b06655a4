"""The connection from a gateway to a desktop's view."""

import logging
from typing import Any, Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import InvalidHandshake, InvalidURI

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.view import TICKET_HEADER

SILENT: Final = logging.getLogger("user_handoff.gateway.live.silent")
"""For libraries that would log paths and headers: a person's link and a ticket are among them."""
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.disabled = True

_CONNECT_SECONDS: Final = 5.0
_ALIVE_SECONDS: Final = 5.0


async def connect_to(address: str, ticket: str) -> ClientConnection:
    """Connect to the view of a desktop.

    Args:
        address: As the desktop told it: ``unix:/path``, ``ws://host:port`` or ``wss://host/path``.
        ticket: Lets one viewer in, once.

    Raises:
        Refused: `view_unavailable`: it cannot be reached, or lets nobody in.
    """
    options: dict[str, Any] = {
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
            return await unix_connect(address.removeprefix("unix:"), "ws://desktop/", **options)
        if urlsplit(address).scheme in ("ws", "wss"):
            return await connect(address, proxy=None, **options)
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
