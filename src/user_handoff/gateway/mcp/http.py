"""MCP by streamable HTTP: ``/mcp`` with a bearer, and ``/agent/{token}``, whose address is the secret."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.gateway.bodies import read_body
from user_handoff.gateway.mcp.errors import as_protocol_error, invalid, typed_body
from user_handoff.gateway.mcp.server import SESSION_HEADER, McpServer
from user_handoff.gateway.metrics import TEMPLATE
from user_handoff.gateway.problems import status_of
from user_handoff.gateway.toolbox import Caller, Toolbox
from user_handoff.gateway.tools.callers import AccessDoor, caller_of, who

_LOG = logging.getLogger(__name__)

BODY_BYTES: Final = 1_000_000
MAX_SESSIONS: Final = 2_000
RECHECK_SECONDS: Final = 1.0
"""How often the caller of an open stream is looked at again."""

_TOKEN: Final = "handoff.token"  # noqa: S105  the name of a place, not a token


class McpDoor:
    """The endpoints. Sessions of the protocol are kept in this process, and nothing else is."""

    def __init__(self, toolbox: Toolbox, access: AccessDoor, base_url: str) -> None:
        """Make them.

        Args:
            toolbox: Does what is asked.
            access: Knows keys and grants.
            base_url: Where the gateway is reached: pages from elsewhere are refused.
        """
        self._access = access
        self._origin = urlsplit(base_url).netloc
        self._server = McpServer(toolbox, self._authenticate)
        self._manager = StreamableHTTPSessionManager(
            self._server.sdk, max_request_body_size=BODY_BYTES, max_sessions=MAX_SESSIONS
        )
        self._closing = asyncio.Event()
        self._open: set[tuple[str, str]] = set()
        self._runs = False

    def routes(self) -> list[BaseRoute]:
        """Where they are."""
        return [Route("/mcp", _Endpoint(self, "/mcp")), Route("/agent/{token}", _Endpoint(self, "/agent/{token}"))]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take requests for as long as a block runs."""
        async with self._manager.run():
            self._runs = True
            try:
                yield
            finally:
                self._runs = False
                self.close()
                self._server.watches.close()

    def close(self) -> None:
        """End the open streams."""
        self._closing.set()

    async def handle(self, request: Request, send: Send) -> None:
        """Answer one request.

        Raises:
            HandoffError: It is refused before the protocol sees it.
        """
        self._check_origin(request)
        token = _token(request)
        if request.method == "DELETE" and "token" in request.path_params and SESSION_HEADER not in request.headers:
            await self._access.revoke_grant(token)
            await Response(status_code=HTTPStatus.NO_CONTENT)(request.scope, request.receive, send)
            return
        body = await _body(request) if request.method == "POST" else b""
        try:
            caller = await caller_of(self._access, token)
            if not self._runs:
                raise _ending()
            scope = {**request.scope, "user": _user(caller), _TOKEN: token}
            with self._one_of_its_id(request, body):
                await self._guarded(scope, _replay(body, request.receive), _TypedSend(send), token)
        except HandoffError as error:
            await _refuse(request, send, error, body)

    @contextlib.contextmanager
    def _one_of_its_id(self, request: Request, body: bytes) -> Iterator[None]:
        """Refuse a second open request of one id: they would share one answer, and one would wait for ever."""
        session, number = request.headers.get(SESSION_HEADER), _id_of(body)
        if session is None or number is None:
            yield
            return
        key = (session, str(number))
        if key in self._open:
            raise invalid("A request of this id is still open.", "Give each request an id of its own.")
        self._open.add(key)
        try:
            yield
        finally:
            self._open.discard(key)

    async def _guarded(self, scope: Scope, receive: Receive, send: "_TypedSend", token: str) -> None:
        """Let the protocol answer, for as long as the caller may ask: a stream ends with its grant."""
        answering = asyncio.ensure_future(self._manager.handle_request(scope, receive, send))
        closing = asyncio.ensure_future(self._closing.wait())
        refusal: HandoffError | None = None
        try:
            while refusal is None:
                await asyncio.wait({answering, closing}, timeout=RECHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if answering.done():
                    await answering
                    return
                refusal = _ending() if closing.done() else await self._refusal(token)
        finally:
            closing.cancel()
            if not answering.done():
                answering.cancel()
                await asyncio.wait({answering})
        if not send.started:
            raise refusal
        await send.end()

    async def _refusal(self, token: str) -> HandoffError | None:
        """Why a caller who was let in may ask no more."""
        try:
            await caller_of(self._access, token)
        except HandoffError as error:
            # An outage takes no grant away.
            return None if error.code in (ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.OUTCOME_UNKNOWN) else error
        return None

    async def _authenticate(self, request: Request) -> Caller:
        return await caller_of(self._access, str(request.scope[_TOKEN]))

    def _check_origin(self, request: Request) -> None:
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc not in (request.headers.get("host"), self._origin):
            raise make_error(
                ErrorCode.FORBIDDEN,
                "This comes from a page of another site.",
                holds="Nothing was done.",
                do_next="Call from a program, or from this gateway's own pages.",
            )


class _Endpoint:
    """An ASGI endpoint that logs its template: never the path, which may be a secret."""

    def __init__(self, door: McpDoor, template: str) -> None:
        self._door = door
        self._template = template

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        scope[TEMPLATE] = self._template
        try:
            await self._door.handle(request, send)
        except HandoffError as error:
            await _refuse(request, send, error, b"")
        except HTTPException as error:
            await _refuse(
                request, send, invalid("The body is too large.", "Send at most 1 MB."), b"", error.status_code
            )
        _LOG.info("%s %s", request.method, self._template)


class _TypedSend:
    """Sends on; a refusal of the protocol gets a stable code, and a stream can be ended from outside."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._refusal: Message | None = None
        self._body = b""
        self.started = False
        self._ended = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            if message["status"] >= HTTPStatus.BAD_REQUEST:
                self._refusal = message
                return
        elif self._refusal is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_refusal(self._refusal)
            return
        else:
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """End a stream that was cut off."""
        if self._refusal is not None and not self._ended:
            await self._send_refusal(self._refusal)
        elif not self._ended:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_refusal(self, start: Message) -> None:
        body = typed_body(self._body, start["status"])
        dropped = (b"content-length", b"content-type")
        headers = [(k, v) for k, v in start["headers"] if k.lower() not in dropped]
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self._send({**start, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})
        self._ended = True


def _ending() -> HandoffError:
    return make_error(
        ErrorCode.TEMPORAL_UNREACHABLE,
        "This gateway does not take agents now.",
        holds="What was asked may have been done.",
        do_next="Ask again in a moment, under the same effect id.",
    )


def _token(request: Request) -> str:
    """The grant in the address, else the bearer."""
    if "token" in request.path_params:
        token = str(request.path_params["token"])
        return token if token.startswith("hg_") else ""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _user(caller: Caller) -> AuthenticatedUser:
    """Ties a session of the protocol to its caller: another one cannot use it."""
    return AuthenticatedUser(AccessToken(token="", client_id=who(caller), scopes=[]))


async def _body(request: Request) -> bytes:
    """The one message of a request.

    Raises:
        HTTPException: 413.
        Refused: ``invalid_request``: it is not one JSON-RPC message.
    """
    body = await read_body(request, BODY_BYTES)
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise invalid("The body is not JSON.") from None
    if isinstance(message, list):
        raise invalid("Batches are not taken.", "Send one message at a time.")
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except (ValidationError, RecursionError):
        raise invalid("The body is not a JSON-RPC message.") from None
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent or not body:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _id_of(body: bytes) -> Any:
    return json.loads(body).get("id") if body else None


async def _refuse(request: Request, send: Send, error: HandoffError, body: bytes, status: int | None = None) -> None:
    """Refuse as JSON-RPC: a request that has an id gets its answer, since its sender knows the caller's fault best."""
    request_id = _id_of(body)
    refused = as_protocol_error(error).error
    message = {
        "jsonrpc": "2.0",
        "id": request_id,
        "error": {"code": refused.code, "message": refused.message, "data": refused.data},
    }
    headers = {}
    if error.code is ErrorCode.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    elif request_id is not None and status is None:
        status = HTTPStatus.OK
    response = Response(
        json.dumps(message),
        status_code=status or status_of(error),
        media_type="application/json",
        headers=headers,
    )
    await response(request.scope, request.receive, send)
