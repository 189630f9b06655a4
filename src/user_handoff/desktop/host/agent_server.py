"""Where agents connect: a Unix socket of their own, and a loopback port where one is asked for."""

import contextlib
import http
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from websockets.asyncio.server import Server, ServerConnection, serve, unix_serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.host.doors import Door, Doors
from user_handoff.desktop.host.gate import Gate
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.server import OPTIONS, private_socket, same_user
from user_handoff.desktop.host.wire import Json

logger = logging.getLogger(__name__)

MAX_AGENTS = 16
"""Agents that are connected at once."""

Serve = Callable[[ServerConnection, Door, Callable[[], bool]], Awaitable[None]]


class AgentServer:
    """Lets agents in by their doors.

    Attributes:
        port: The loopback port; None until a door asks for one.
    """

    def __init__(
        self, path: Path, browser_id: str, doors: Doors, gate: Gate, router: Router, serve_agent: Serve
    ) -> None:
        self.path = path
        self.port: int | None = None
        self._browser_id = browser_id
        self._doors = doors
        self._gate = gate
        self._router = router
        self._serve = serve_agent
        self._version: Json = {}
        self._stack = contextlib.AsyncExitStack()
        self._listening: Server | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """End everything with the block."""
        async with self._stack:
            yield

    async def listen(self, *, tcp: bool) -> None:
        """Listen, from the first door on."""
        if self._listening is None:
            self._version = await self._router.call("Browser.getVersion")
            listening = self._stack.enter_context(private_socket(self.path))
            handler = unix_serve(self._handle, sock=listening, process_request=self._check, **OPTIONS)
            self._listening = await self._stack.enter_async_context(handler)
        if tcp and self.port is None:
            handler = serve(self._handle, "127.0.0.1", 0, process_request=self._check_tcp, **OPTIONS)
            server = await self._stack.enter_async_context(handler)
            self.port = next(iter(server.sockets)).getsockname()[1]

    async def _handle(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        tcp = connection.transport.get_extra_info("socket").family != socket.AF_UNIX
        path = connection.request.path

        def may_enter() -> bool:
            return self._doors.enter(path, tcp=tcp) is not None and not self._full()

        entered = self._doors.enter(path, tcp=tcp)
        if entered is not None:
            await self._serve(connection, entered[0], may_enter)

    def _full(self) -> bool:
        return sum(len(self._doors.clients(door.door_id)) for door in self._doors.all()) >= MAX_AGENTS

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        if not same_user(connection.transport.get_extra_info("socket")):
            return _empty(http.HTTPStatus.FORBIDDEN)
        return self._answer(request, tcp=False)

    def _check_tcp(self, connection: ServerConnection, request: Request) -> Response | None:
        # a page can be made to ask any name that leads here: only our own is answered
        if request.headers.get_all("Host") not in ([f"127.0.0.1:{self.port}"], [f"localhost:{self.port}"]):
            return _empty(http.HTTPStatus.FORBIDDEN)
        return self._answer(request, tcp=True)

    def _answer(self, request: Request, *, tcp: bool) -> Response | None:
        if "Origin" in request.headers:
            return _empty(http.HTTPStatus.FORBIDDEN)
        entered = self._doors.enter(request.path, tcp=tcp)
        if entered is None:
            return _empty(http.HTTPStatus.NOT_FOUND)
        _, rest = entered
        if error := self._busy():
            return _json(http.HTTPStatus.SERVICE_UNAVAILABLE, error.to_dict())
        if rest in ("/json/version", "/json/list", "/json"):
            return _json(http.HTTPStatus.OK, self._discovery(request) if rest == "/json/version" else [])
        if rest in ("", f"/devtools/browser/{self._browser_id}"):
            return None
        return _empty(http.HTTPStatus.NOT_FOUND)

    def _busy(self) -> HandoffError | None:
        if self._gate.hold_id is not None:
            return make_error(
                ErrorCode.BROWSER_HELD,
                "A person is working in this browser.",
                holds="No connection was made.",
                do_next="Connect again when the handoff is over.",
            )
        if self._full():
            return make_error(
                ErrorCode.RATE_LIMITED,
                f"{MAX_AGENTS} programs are connected to this browser.",
                holds="No connection was made.",
                do_next="Let one end.",
            )
        return None

    def _discovery(self, request: Request) -> Json:
        token = request.path.split("/json/")[0]
        version = self._version
        return {
            "Browser": version["product"],
            "Protocol-Version": version["protocolVersion"],
            "User-Agent": version["userAgent"],
            "V8-Version": version["jsVersion"],
            "WebKit-Version": version["revision"],
            "webSocketDebuggerUrl": f"ws://{request.headers['Host']}{token}/devtools/browser/{self._browser_id}",
        }


def _empty(status: http.HTTPStatus) -> Response:
    return _response(status, b"", "text/plain")


def _json(status: http.HTTPStatus, body: object) -> Response:
    return _response(status, json.dumps(body).encode(), "application/json")


def _response(status: http.HTTPStatus, body: bytes, kind: str) -> Response:
    headers = Headers(
        [
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            ("Cache-Control", "no-store"),
        ]
    )
    return Response(status.value, status.phrase, headers, body)
