"""A CDP client without a framework: it does only what a test says."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed

from user_handoff.desktop.host.control import CDP_PATH


class RawClient:
    """Sends commands, and keeps the events that come."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.events: list[dict[str, Any]] = []
        self.came = asyncio.Event()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in self.connection:
                message = json.loads(text)
                if "id" in message:
                    self._answers.pop(message["id"]).set_result(message)
                else:
                    self.events.append(message)
                    self.came.set()

    async def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The answer, error or result."""
        id = next(self._ids)
        self._answers[id] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        await self.connection.send(json.dumps(message))
        return await asyncio.wait_for(self._answers[id], 30)

    async def attach(self, target: str) -> str:
        """A session with a target."""
        answer = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        session: str = answer["result"]["sessionId"]
        return session

    def named(self, method: str) -> list[dict[str, Any]]:
        """The events of one name."""
        return [event for event in self.events if event["method"] == method]


@contextlib.asynccontextmanager
async def raw_client(socket: Path, path: str = CDP_PATH) -> AsyncIterator[RawClient]:
    async with unix_connect(
        str(socket), f"ws://host{path}", compression=None, max_size=None, ping_interval=None
    ) as connection:
        client = RawClient(connection)
        reading = asyncio.create_task(client.read())
        yield client
        await connection.close()
        await reading
