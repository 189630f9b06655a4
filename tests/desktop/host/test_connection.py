"""What a client sends is taken in the moment in which it comes, and in its order."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection as Client
from websockets.asyncio.client import unix_connect
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.exceptions import ConnectionClosedError

from tests.waiting import until
from user_handoff.desktop.host.connection import ClientConnection


class Other:
    """The other side: what it took at once, and what had to wait."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.waited: list[str | bytes] = []

    def take(self, text: str) -> bool:
        if text.startswith("wait"):
            return False
        self.taken.append(text)
        return True

    async def serve(self, connection: ServerConnection) -> None:
        assert isinstance(connection, ClientConnection)
        connection.take = self.take
        async for text in connection:
            self.waited.append(text)
            connection.waiting -= 1


@pytest.fixture
def other() -> Other:
    return Other()


@pytest.fixture
async def client(other: Other, sockets: Path) -> AsyncIterator[Client]:
    path = str(sockets / "connection")
    async with (
        unix_serve(other.serve, path, create_connection=ClientConnection),
        unix_connect(path, "ws://host/") as client,
    ):
        yield client


async def test_what_comes_after_one_that_waits_waits_too(other: Other, client: Client) -> None:
    for text in ("a", "wait", "b"):
        await client.send(text)
    await until(lambda: len(other.waited) == 2)
    await client.send("c")
    await until(lambda: len(other.taken) == 2)
    assert (other.taken, other.waited) == (["a", "c"], ["wait", "b"])


async def test_a_message_in_parts_and_a_binary_one_are_not_taken(other: Other, client: Client) -> None:
    await client.send(["in ", "parts"])
    await client.send(b"binary")
    await until(lambda: other.waited == ["in parts", b"binary"])
    assert other.taken == []


async def test_a_text_that_is_none_ends_the_connection(other: Other, client: Client) -> None:
    with pytest.raises(ConnectionClosedError) as closed:
        await client.send(b"\xff", text=True)
        await client.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert other.taken == []
