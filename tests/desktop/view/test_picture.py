"""The connection to the display's RFB server: what comes is handed on at once, and nothing is lost or overtaken."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from tests.waiting import until
from user_handoff.desktop.view.picture import Picture


@contextlib.asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[tuple[Picture, asyncio.StreamWriter]]:
    """A picture, and the server's end of it."""
    ends: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"RFB 003.008\n\x01\x01" + bytes(4) + b"\x00\x40\x00\x30" + bytes(16) + b"\x00\x00\x00\x01x")
        await reader.readexactly(14)
        ends.put_nowait(writer)

    server = await asyncio.start_unix_server(greet, folder / "rfb")
    picture = await Picture.open(folder / "rfb")
    end = await ends.get()
    yield picture, end
    end.close()
    await picture.close()
    server.close()


async def test_what_comes_is_handed_on_at_once(tmp_path: Path) -> None:
    async with connected(tmp_path) as (picture, server):
        taken = bytearray()

        def take(data: bytes) -> bool:
            taken.extend(data)
            return True

        picture.hand_on(take)
        server.write(b"first")
        await until(lambda: bytes(taken) == b"first")


async def test_what_is_not_taken_is_overtaken_by_nothing(tmp_path: Path) -> None:
    async with connected(tmp_path) as (picture, server):
        taken, offered = bytearray(), bytearray()
        room = False

        def take(data: bytes) -> bool:
            offered.extend(data)
            if room:
                taken.extend(data)
            return room

        picture.hand_on(take)
        server.write(b"first")
        await until(lambda: bytes(offered) == b"first")
        room = True
        server.write(b"second")
        await until(lambda: picture._wire.waiting == len(b"firstsecond"))
        assert (await picture.read(), bytes(taken)) == (b"firstsecond", b"")
        server.write(b"third")
        await until(lambda: bytes(taken) == b"third")


async def test_the_end_of_the_server_is_the_end_of_the_picture(tmp_path: Path) -> None:
    async with connected(tmp_path) as (picture, server):
        picture.hand_on(lambda _: True)
        server.close()
        assert await picture.read() == b""
