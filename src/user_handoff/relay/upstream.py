"""One request to the server behind an HTTP relay, and what comes back of it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Final, Self

import httpx2
from starlette.requests import Request

from user_handoff.contract.errors import HandoffError
from user_handoff.relay.calls import Call
from user_handoff.relay.door import Door, Pass
from user_handoff.relay.messages import encode, parse
from user_handoff.relay.sse import Event, collect, events

log = logging.getLogger(__name__)

_HOP: Final = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding")
)
_NOT_ON: Final = _HOP | {"host", "origin", "referer", "content-length", "accept-encoding", "cookie"}
_NOT_BACK: Final = _HOP | {"content-length", "content-encoding", "location", "set-cookie", "date", "server"}
_AHEAD: Final = 16
"""Blocks that are read before the client has taken them."""


def passed_back(headers: httpx2.Headers) -> dict[str, str]:
    """The headers of an answer that are the client's business."""
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_BACK}


class Upstream:
    """The server behind the relay."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=10), follow_redirects=False, limits=httpx2.Limits(max_connections=None)
        )
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *why: Any) -> None:
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.__aexit__(*why)

    def stop(self) -> None:
        """End what is open: streams are meant to last."""
        for task in self._tasks:
            task.cancel()

    async def send(self, request: Request, door: Door, passing: Pass | None) -> "Exchange":
        """Pass one request on.

        Raises:
            httpx2.HTTPError: There is no answer.
        """
        headers = {name.decode("latin-1"): value for name, value in request.headers.raw if _goes_on(name)}
        headers["accept-encoding"] = b"identity"
        if passing is not None:
            _mirror(headers, passing.message)
        sent = self._client.build_request(
            request.method,
            self._url,
            params=None,
            headers=[(name.encode("latin-1"), value) for name, value in headers.items()],
            content=None if passing is None else encode(passing.message).rstrip(),
        )
        response = await self._client.send(sent, stream=True)
        exchange = Exchange(response, door, None if passing is None else passing.call)
        if exchange.streams:
            task = asyncio.create_task(exchange.read())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return exchange


def _goes_on(name: bytes) -> bool:
    return name.decode("latin-1").lower() not in _NOT_ON


def _mirror(headers: dict[str, bytes], message: dict[str, Any]) -> None:
    """Have headers that repeat the message say what it says, for servers that go by them; else they are left out."""
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    for key, value in {"mcp-method": message.get("method"), "mcp-name": name}.items():
        if key in headers and isinstance(value, str):
            if value.isascii():
                headers[key] = value.encode("ascii")
            else:
                del headers[key]


class Exchange:
    """One answer. It is read to its end though nobody waits for it any more: a permit stands until then."""

    def __init__(self, response: httpx2.Response, door: Door, call: Call | None) -> None:
        self.response = response
        self._door = door
        self._call = call
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_AHEAD)
        self._left = asyncio.Event()

    @property
    def streams(self) -> bool:
        """True where it is a stream of events."""
        return self.response.headers.get("content-type", "").partition(";")[0].strip() == "text/event-stream"

    async def body(self) -> bytes | None:
        """The answer where it is no stream; None where nothing of it may pass."""
        try:
            body = await collect(self.response.aiter_raw())
            if not body or self.response.status_code >= HTTPStatus.BAD_REQUEST:
                return body  # a refusal of the transport
            found = None if self._call is None else self._door.arrive(parse(body)).answer
        except HandoffError:
            found = None
        finally:
            await self.response.aclose()
            lost = self._lost()
        answers = [found] if found is not None else lost
        return encode(answers[0]).rstrip() if answers else None

    def _lost(self) -> list[dict[str, Any]]:
        if self._call is None:
            return []
        return [settled.answer for settled in self._door.lost(self._call) if settled.answer is not None]

    async def read(self) -> None:
        """Read the stream to its end."""
        resumable = False
        try:
            async for event in events(self.response.aiter_raw()):
                resumable = resumable or event.resumable
                found = self._event(event)
                if found is not None:
                    await self._put(found.encode())
        except HandoffError as error:
            log.warning("a stream of the server was cut: %s", error.code)
        except httpx2.HTTPError as error:
            log.warning("a stream of the server broke: %s", type(error).__name__)
        finally:
            # one that may be taken up again has its answer still to come, and the permit stands until then
            for answer in () if resumable else self._lost():
                await self._put(Event((), encode(answer).rstrip()).encode())
            await self._put(None)
            await self.response.aclose()

    def _event(self, event: Event) -> Event | None:
        if not event.data:
            return event
        try:
            message = parse(event.data)
        except HandoffError:
            log.warning("an event of the server that is no message was dropped")
            return None
        found = self._door.arrive(message).answer
        if found is message:
            return event
        return None if found is None else event.saying(encode(found).rstrip())

    async def _put(self, block: bytes | None) -> None:
        """Give it to the client; nothing where the client has left."""
        if self._left.is_set():
            return
        putting, leaving = asyncio.ensure_future(self._queue.put(block)), asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait({putting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            putting.cancel()
            leaving.cancel()

    async def blocks(self) -> AsyncIterator[bytes]:
        """What the client gets, as it comes."""
        try:
            while (block := await self._queue.get()) is not None:
                yield block
        finally:
            self._left.set()
