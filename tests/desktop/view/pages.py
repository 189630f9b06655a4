"""A page's end of a WebSocket whose handshake is done, frame by frame."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Any, Self

from websockets.frames import Close, Frame, Opcode
from websockets.protocol import Protocol, Side


class Page:
    """It answers nothing by itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._reader = reader
        self._protocol = Protocol(Side.CLIENT, max_size=None)
        self._frames: list[Frame] = []

    @classmethod
    async def on(cls, end: socket.socket) -> Self:
        """A page at this end of a connection."""
        return cls(*await asyncio.open_connection(sock=end))

    def say(self, *said: Frame | bytes | str) -> None:
        """Send all of it at once."""
        self.writer.write(b"".join(_frame(each).serialize(mask=True) for each in said))

    def tell(self, kind: str, **more: Any) -> None:
        """Say one of our texts."""
        self.say(json.dumps({"t": kind, **more}))

    async def frame(self) -> Frame:
        """The next one that comes."""
        async with asyncio.timeout(10):
            while not self._frames:
                data = await self._reader.read(64 * 1024)
                if not data:
                    raise EOFError
                self._protocol.receive_data(data)
                self._frames = [each for each in self._protocol.events_received() if isinstance(each, Frame)]
        return self._frames.pop(0)

    async def heard(self) -> bytes | str:
        """The next message; pings are passed over."""
        frame = await self.frame()
        while frame.opcode is Opcode.PING:
            frame = await self.frame()
        return bytes(frame.data).decode() if frame.opcode is Opcode.TEXT else bytes(frame.data)

    async def closed(self) -> tuple[int, str]:
        """The code and the reason of its end, once it has come."""
        frame = await self.frame()
        while frame.opcode is not Opcode.CLOSE:
            frame = await self.frame()
        close = Close.parse(bytes(frame.data))
        return close.code, close.reason

    async def cut(self) -> None:
        """Wait until the connection is gone; a reset is that as well."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                await self.frame()


def _frame(said: Frame | bytes | str) -> Frame:
    if isinstance(said, Frame):
        return said
    return Frame(Opcode.TEXT, said.encode()) if isinstance(said, str) else Frame(Opcode.BINARY, said)


@contextlib.asynccontextmanager
async def page_on(end: socket.socket) -> AsyncIterator[Page]:
    """A page that goes at the end."""
    page = await Page.on(end)
    try:
        yield page
    finally:
        page.writer.transport.abort()
        with contextlib.suppress(OSError):
            await page.writer.wait_closed()
