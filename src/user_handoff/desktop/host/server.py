"""The host's socket: who may connect, and what each path is."""

import asyncio
import contextlib
import http
import itertools
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.connection import ClientConnection
from user_handoff.desktop.host.doors import Door
from user_handoff.desktop.host.downloads import Downloads
from user_handoff.desktop.host.gate import Gate
from user_handoff.desktop.host.pipe import BrowserPipe
from user_handoff.desktop.host.policy import Role
from user_handoff.desktop.host.router import BrowserEnded, CdpError, Router
from user_handoff.desktop.host.wire import Command, InvalidMessage, parse_command, result

logger = logging.getLogger(__name__)

FRAME_BYTES = 16 << 20
"""The largest message that a client may send."""
OPTIONS: dict[str, Any] = {
    "create_connection": ClientConnection,
    "compression": None,
    "max_size": FRAME_BYTES,
    "ping_interval": None,  # the kernel tells of a dead peer, and a stopped one is bounded by its queue
    "server_header": None,
    "close_timeout": 1,
}
"""How every socket of the host is served."""
_PIPE_BYTES = 32 << 20
_PEERCRED = struct.Struct("3i")


class CdpServer:
    """Serves CDP to each client that connects."""

    def __init__(self, pipe: BrowserPipe, router: Router, gate: Gate, downloads: Downloads) -> None:
        self._pipe = pipe
        self._router = router
        self._gate = gate
        self._downloads = downloads
        self._names = itertools.count(1)

    async def serve(self, connection: ServerConnection) -> None:
        """Serve the runner until it goes."""
        root = await self._attach()
        if root is not None:
            await self._serve(connection, CdpClient(connection, self._name("supervisor"), Role.SUPERVISOR, root))

    async def serve_agent(self, connection: ServerConnection, door: Door, may_enter: Callable[[], bool]) -> None:
        """Serve an agent until it goes; not at all where its door has closed, or others have come, meanwhile."""
        root = await self._attach()
        if root is None:
            return
        if may_enter():
            await self._serve(connection, AgentClient(connection, self._name("agent"), root, door.door_id))
        else:
            self._router.call("Target.detachFromTarget", {"sessionId": root})

    async def _attach(self) -> str | None:
        try:
            attached = await self._router.call("Target.attachToBrowserTarget")
        except (CdpError, BrowserEnded):
            return None
        return str(attached["sessionId"])

    def _name(self, role: str) -> str:
        return f"{role}-{next(self._names)}"

    async def _serve(self, connection: ServerConnection, client: CdpClient) -> None:
        self._router.add(client)
        logger.info("client %s connected", client.name)
        writing = asyncio.create_task(client.write())
        assert isinstance(connection, ClientConnection)
        connection.take = partial(self._take, client)
        try:
            await self._read(connection, client)
        finally:
            connection.take = None
            writing.cancel()
            await self._leave(client)

    def _take(self, client: CdpClient, message: str) -> bool:
        """Handle a message at once; False where it has to wait."""
        if client.is_cut or self._pipe.is_full(_PIPE_BYTES) or self._gate.may_wait(client):
            return False
        try:
            command = _parsed(client, message)
            if command is not None and not self._is_of_downloads(client, command):
                self._gate.handle(client, command)
        except Exception as error:  # asyncio would log what it quotes
            logger.error("client %s is cut off: its message failed: %s", client.name, type(error).__name__)
            client.cut()
        return True

    async def _read(self, connection: ClientConnection, client: CdpClient) -> None:
        """Handle what had to wait, in its order."""
        with contextlib.suppress(ConnectionClosed):
            async for message in connection:
                await self._pipe.room(_PIPE_BYTES)
                command = _parsed(client, message)
                if command is not None and not self._is_of_downloads(client, command):
                    await self._gate.turn(client, command)
                    if client.is_cut:
                        return
                    self._gate.handle(client, command)
                connection.waiting -= 1

    def _is_of_downloads(self, client: CdpClient, command: Command) -> bool:
        if not self._downloads.take(client, command):
            return False
        client.put(result(command))
        return True

    async def _leave(self, client: CdpClient) -> None:
        await self._gate.leave(client)
        detached = self._router.call("Target.detachFromTarget", {"sessionId": client.root})
        self._downloads.forget(client)
        self._router.remove(client)
        with contextlib.suppress(CdpError, BrowserEnded):
            await detached
        logger.info("client %s gone", client.name)


def _parsed(client: CdpClient, message: str | bytes) -> Command | None:
    try:
        return parse_command(message)
    except InvalidMessage as invalid:
        client.put(invalid.reply)
        return None


Handler = Callable[[ServerConnection], Awaitable[None]]


@contextlib.asynccontextmanager
async def listen(path: Path, handlers: Mapping[str, Handler]) -> AsyncIterator[None]:
    """Serve each path of the socket by its handler for as long as the block runs.

    The socket is 0600, and a peer must be of the same user; no token is needed, and so none can be found in a file.
    """

    async def handle(connection: ServerConnection) -> None:
        assert connection.request is not None
        await handlers[connection.request.path](connection)

    def check(connection: ServerConnection, request: Request) -> Response | None:
        refused = _refused(connection, request, handlers)
        return None if refused is None else connection.respond(refused, "")

    with private_socket(path) as listening:
        async with unix_serve(handle, sock=listening, process_request=check, **OPTIONS):
            yield


@contextlib.contextmanager
def private_socket(path: Path) -> Iterator[socket.socket]:
    """A Unix socket that listens for this user alone, and is gone after the block."""
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listening.bind(str(path))
    finally:
        os.umask(mask)
    try:
        yield listening
    finally:
        path.unlink(missing_ok=True)


def _refused(connection: ServerConnection, request: Request, paths: Mapping[str, object]) -> http.HTTPStatus | None:
    # a browser page always sends an Origin; no client of ours does
    if not same_user(connection.transport.get_extra_info("socket")) or "Origin" in request.headers:
        return http.HTTPStatus.FORBIDDEN
    return None if request.path in paths else http.HTTPStatus.NOT_FOUND


def same_user(peer: socket.socket) -> bool:
    """True for a peer that runs as this process's user."""
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEERCRED.size)
    _, uid, _ = _PEERCRED.unpack(credentials)
    return bool(uid == os.getuid())
