"""Where gateways knock for viewers: a WebSocket on a private socket, or on an address that the operator chose."""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from websockets.asyncio.server import Server, ServerConnection, serve, unix_serve
from websockets.http11 import Request, Response

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.view import PAGE_HEADER, TICKET_HEADER
from user_handoff.desktop.view.connection import SILENT, Socket, ViewerConnection
from user_handoff.desktop.view.handed import HandedPage
from user_handoff.desktop.view.pages import Pages
from user_handoff.desktop.view.tickets import Tickets, Viewer

Serve = Callable[[Viewer, Socket], Awaitable[None]]

_LONGEST = 1024 * 1024
_ALIVE_SECONDS = 5.0
_BUFFER = 128 * 1024


class Door:
    """Lets in who shows a ticket, once."""

    def __init__(self, tickets: Tickets, viewing: Serve) -> None:
        """Prepare.

        Args:
            tickets: Which tickets count.
            viewing: Serves a viewer until they are gone.
        """
        self._tickets = tickets
        self._viewing = viewing
        self._server: Server | None = None
        self._admitted: WeakKeyDictionary[ServerConnection, Viewer] = WeakKeyDictionary()  # a handshake may not end
        self._pages = Pages()

    async def open_socket(self, path: Path) -> str:
        """Listen on a Unix socket (0600) in a folder that only this user can enter.

        Returns:
            The address.
        """
        await asyncio.to_thread(path.unlink, missing_ok=True)
        self._server = await unix_serve(self._serve, str(path), **self._options())
        await asyncio.to_thread(path.chmod, 0o600)
        await self._pages.open(path)
        return f"unix:{path}"

    async def open_address(self, host: str, port: int) -> str:
        """Listen on the network, without encryption.

        Raises:
            SetupError: `port_taken`: it cannot listen there.

        Returns:
            The address.
        """
        try:
            self._server = await serve(self._serve, host, port, **self._options())
        except OSError as error:
            raise SetupError(
                ErrorCode.PORT_TAKEN,
                f"The live view cannot listen on {host}, port {port}.",
                holds="The runner does not run.",
                do_next="Choose another address for HANDOFF_VIEW_LISTEN.",
            ) from error
        taken = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://{f'[{host}]' if ':' in host else host}:{taken}"

    async def close(self) -> None:
        """Let nobody in any more, and end what is open."""
        await self._pages.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def _options(self) -> dict[str, Any]:
        return {
            "create_connection": ViewerConnection,
            "process_request": self._check,
            "compression": None,
            "max_size": _LONGEST,
            "write_limit": _BUFFER,
            "ping_interval": _ALIVE_SECONDS,
            "ping_timeout": _ALIVE_SECONDS,
            "close_timeout": 2,
            "server_header": None,
            "logger": SILENT,
        }

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        shown = request.headers.get_all(TICKET_HEADER)
        viewer = self._tickets.use(shown[0]) if len(shown) == 1 else None
        if viewer is None:
            return connection.respond(HTTPStatus.UNAUTHORIZED, "This ticket lets nobody in.\n")
        self._admitted[connection] = viewer
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        assert isinstance(connection, ViewerConnection) and connection.request is not None
        viewer, keys = self._admitted.pop(connection), connection.request.headers.get_all(PAGE_HEADER)
        page = await self._pages.wait_for(keys[0]) if len(keys) == 1 else None
        if page is None:
            await self._viewing(viewer, connection)  # the gateway passes on what the page says
            return
        handed = await HandedPage.adopt(connection, page)
        try:
            await self._viewing(viewer, handed)
        finally:
            await handed.close()
