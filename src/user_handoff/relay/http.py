"""The relay before a server that is reached by streamable HTTP."""

import asyncio
import contextlib
import ipaddress
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.desk import Desk
from user_handoff.gateway.serving import listen, serve
from user_handoff.relay.door import Door, Looks, Pass
from user_handoff.relay.messages import (
    FRAME_BYTES,
    INTERNAL,
    MOST_IN_BATCH,
    PARSE,
    Message,
    invalid,
    parse,
    refusal,
    too_large,
)
from user_handoff.relay.sse import events
from user_handoff.relay.tools import Judge
from user_handoff.relay.upstream import Exchange, Upstream, passed_back

log = logging.getLogger(__name__)

SESSION: Final = "mcp-session-id"
MOST_SESSIONS: Final = 1_000


class HttpRelay:
    """A local endpoint before another one. Each session of the protocol has a gate of its own."""

    def __init__(self, desk: Desk, judge: Judge, browser_id: str | None, url: str) -> None:
        """Make it.

        Args:
            desk: The desktop.
            judge: Knows the server's tools.
            browser_id: The one browser that the server drives; None: it may do anything on the desktop.
            url: The server's endpoint.

        Raises:
            HandoffError: There is no such desktop or browser, its gate is closed, or the address is none.
        """
        began = desk.epoch()
        if browser_id is not None:
            desk.require_browser(browser_id)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise _wrong("--url is not an address of http or https.", "Give the server's whole endpoint.")
        self._make: Callable[[Looks | None], Door] = lambda looks: Door(
            desk, judge, browser_id, began=began, looks=looks
        )
        self._looks = Looks(began)  # of all requests that belong to no session
        self._upstream = Upstream(url)
        self._doors: OrderedDict[str, Door] = OrderedDict()
        self._hosts: frozenset[str] = frozenset()
        self.path = parts.path if parts.path.strip("/") else "/mcp"

    def app(self, host: str, port: int) -> Starlette:
        """The application, for the address that it is reached at: requests for any other name are refused."""
        names = {host, "127.0.0.1", "localhost", "::1"} if _loopback(host) else {host}
        self._hosts = frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)

        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with self._upstream:
                yield

        route = Route(self.path, self._handle, methods=["POST", "GET", "DELETE"])
        app = Starlette(routes=[route], lifespan=lifespan)
        app.state.on_stop = self._upstream.stop
        return app

    async def _handle(self, request: Request) -> Response:
        try:
            self._check(request)
            if request.method == "POST":
                return await self._post(request)
            if request.method == "GET":
                return await self._get(request)
            return await self._delete(request)
        except HandoffError as error:
            status = HTTPStatus.FORBIDDEN if error.code is ErrorCode.FORBIDDEN else HTTPStatus.BAD_REQUEST
            return JSONResponse(refusal(None, error), status)
        except httpx2.HTTPError as error:
            return JSONResponse(refusal(None, _unreached(error), INTERNAL), HTTPStatus.BAD_GATEWAY)

    def _check(self, request: Request) -> None:
        """Pages of other sites, and names that lead here from elsewhere, are refused."""
        origin = request.headers.get("origin")
        ours = request.headers.get("host", "").lower() in self._hosts
        if not ours or (origin is not None and urlsplit(origin).netloc.lower() not in self._hosts):
            raise make_error(
                ErrorCode.FORBIDDEN,
                "This comes from a page, or for a name, that is not of this relay.",
                holds="Nothing was passed on.",
                do_next="Call the address that the relay told, from a program.",
            )

    def _door(self, session: str | None, message: Any = None) -> Door:
        """The gate of a session; without one, of this request alone, which may be the first of a session."""
        if session is None:
            first = isinstance(message, dict) and message.get("method") == "initialize"
            return self._make(Looks(self._looks.epoch) if first else self._looks)
        known = self._doors.get(session)
        return self._keep(session, self._make(Looks(self._looks.epoch)) if known is None else known)

    def _keep(self, session: str, door: Door) -> Door:
        self._doors[session] = door
        self._doors.move_to_end(session)
        for old in list(self._doors):
            if len(self._doors) <= MOST_SESSIONS:
                break
            if not self._doors[old].in_flight:
                del self._doors[old]
        return door

    async def _post(self, request: Request) -> Response:
        try:
            message = parse(await _body(request))
        except HandoffError as error:
            number = PARSE if error.code is ErrorCode.INVALID_REQUEST else None
            return JSONResponse(refusal(None, error, number), HTTPStatus.BAD_REQUEST)
        door = self._door(request.headers.get(SESSION), message)
        if isinstance(message, list):
            return await self._batch(request, door, message)
        return await self._one(request, door, message)

    async def _one(self, request: Request, door: Door, message: Any) -> Response:
        found = door.consider(message)
        if found is None:
            return Response(status_code=HTTPStatus.ACCEPTED)
        if not isinstance(found, Pass):
            return JSONResponse(found)
        if found.call is not None:
            refused = door.admit(found.call)
            if refused is not None:
                return JSONResponse(refused.answer) if refused.answer else Response(status_code=HTTPStatus.ACCEPTED)
        try:
            exchange = await self._upstream.send(request, door, found)
        except httpx2.HTTPError as error:
            if found.call is None:
                raise
            door.lost(found.call)
            return JSONResponse(refusal(found.call.request_id, _unreached(error), INTERNAL))
        except BaseException:
            if found.call is not None:
                door.lost(found.call)  # else its permit would stand for ever
            raise
        session = exchange.response.headers.get(SESSION)
        if session is not None:
            self._keep(session, door)
        return await _answered(exchange)

    async def _batch(self, request: Request, door: Door, messages: list[Any]) -> Response:
        """Pass the elements of a batch on one by one, and answer them in one array."""
        if not 0 < len(messages) <= MOST_IN_BATCH:
            raise invalid(f"A batch has 1 to {MOST_IN_BATCH} messages.")
        answers: list[Message] = []
        for message in messages:
            response = await self._one(request, door, message)
            if isinstance(response, StreamingResponse):
                answers += [each async for each in _messages(response) if "method" not in each]
            elif response.body:
                answers.append(parse(bytes(response.body)))
        return JSONResponse(answers) if answers else Response(status_code=HTTPStatus.ACCEPTED)

    async def _get(self, request: Request) -> Response:
        """The stream on which the server speaks of its own accord, or takes up one that was cut."""
        exchange = await self._upstream.send(request, self._door(request.headers.get(SESSION)), None)
        return await _answered(exchange)

    async def _delete(self, request: Request) -> Response:
        exchange = await self._upstream.send(request, self._make(None), None)
        answered = await _answered(exchange)
        door = self._doors.get(request.headers.get(SESSION, ""))
        if door is not None and answered.status_code < HTTPStatus.BAD_REQUEST:
            door.lost()
            del self._doors[request.headers[SESSION]]
        return answered


async def _answered(exchange: Exchange) -> Response:
    headers = passed_back(exchange.response.headers)
    if exchange.streams:
        return StreamingResponse(exchange.blocks(), exchange.response.status_code, headers)
    body = await exchange.body()
    status = exchange.response.status_code
    if body is None:
        return Response(status_code=HTTPStatus.ACCEPTED)
    return Response(body, status, headers)


async def _messages(response: StreamingResponse) -> AsyncIterator[Message]:
    async def chunks() -> AsyncIterator[bytes]:
        async for chunk in response.body_iterator:
            yield chunk if isinstance(chunk, bytes) else bytes(str(chunk), "utf-8")

    async for event in events(chunks()):
        if event.data:
            yield parse(event.data)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FRAME_BYTES:
            raise too_large("It was not passed on.")
    return bytes(body)


def _unreached(error: httpx2.HTTPError) -> HandoffError:
    started = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN if started else ErrorCode.FAILED,
        f"The server behind the relay did not answer ({type(error).__name__}).",
        holds="What was asked for may have been done." if started else "Nothing was done.",
        do_next="See to it that it runs, and look before you act again.",
    )


def _wrong(what: str, do_next: str) -> HandoffError:
    return make_error(ErrorCode.INVALID_REQUEST, what, holds="Nothing was started.", do_next=do_next)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def address(listen: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``.

    Raises:
        Refused: `invalid_request`.
    """
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdigit() or int(port) > 65_535 or host in ("0.0.0.0", "::"):
        raise _wrong("--listen is not one host and port.", "Give one such as 127.0.0.1:8931, by the name it is called.")
    return host.lower(), int(port)


async def serve_http(relay: HttpRelay, listen_at: str, stop: asyncio.Event, say: Callable[[str], None]) -> None:
    """Serve until `stop` is set.

    Raises:
        SetupError: `port_taken`.
    """
    host, port = address(listen_at)
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        app = relay.app(host, port)
        ready = f"handoff relay is ready: http://{shown}:{port}{relay.path}"
        await serve(app, host, port, stop, ready=lambda _: say(ready), listener=listener)
