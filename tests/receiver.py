"""A real HTTP receiver on a port of its own, which answers as it is told to and keeps what it was sent."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks.webhooks import Webhook
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from user_handoff.gateway.serving import serve

SECRET = "whsec_" + "c2VjcmV0LW9mLXRoZS1lbmRwb2ludC1hdC1sZWFzdDI0"


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def verify(self, secret: str = SECRET) -> Any:
        """The body, if the signature and the time are right."""
        return Webhook(secret).verify(self.body, self.headers)


Answers = Callable[[Received], Response | int]


@dataclass
class Receiver:
    """Attributes:
    requests: All that came, in order.
    answers: What it answers to the next ones; after that 204.
    gate: It answers only while this is set.
    """

    base_url: str = ""
    requests: list[Received] = field(default_factory=list)
    answers: list[Response | int] = field(default_factory=list)
    answer: Answers | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: Request) -> Response:
        received = Received(request.url.path, dict(request.headers), await request.body())
        self.requests.append(received)
        given = self.answer(received) if self.answer else self.answers.pop(0) if self.answers else 204
        await self.gate.wait()
        return given if isinstance(given, Response) else Response(status_code=given)

    def types(self) -> list[str]:
        """The types of the webhooks that came."""
        return [received.json["type"] for received in self.requests]


@contextlib.asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver that listens."""
    receiver, stop = Receiver(), asyncio.Event()
    receiver.gate.set()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    app = Starlette(routes=[Route("/{path:path}", receiver.take, methods=["POST", "GET"])])
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, stop, ready=port.set_result))
    receiver.base_url = f"http://127.0.0.1:{await port}"
    try:
        yield receiver
    finally:
        receiver.gate.set()
        stop.set()
        await serving
