"""What a gateway has on both sides: another program in the place of a desktop, and a page whose bytes are seen."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.gateway.live.test_door import TOKEN, Stage
from tests.waiting import until


class Other:
    """Another program at the place where pages are handed over."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.setblocking(False)
        self._socket.bind(str(path))
        self._socket.listen()
        self._open: list[socket.socket] = [self._socket]

    async def take(self) -> socket.socket:
        """Somebody has handed over a page; it is kept."""
        loop = asyncio.get_running_loop()
        self.gateway, _ = await loop.sock_accept(self._socket)
        self._open.append(self.gateway)
        readable = asyncio.Event()
        loop.add_reader(self.gateway, readable.set)
        await readable.wait()
        loop.remove_reader(self.gateway)
        _, (handle,), _, _ = socket.recv_fds(self.gateway, 128, 1)
        page = socket.socket(fileno=handle)
        self._open.append(page)
        return page

    def close(self) -> None:
        for each in self._open:
            each.close()


@asynccontextmanager
async def raw_page(
    stage: Stage, early: bytes = b""
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A page whose bytes are seen; it is let in."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stage.port)
    here = f"127.0.0.1:{stage.port}"
    lines = (f"GET /j/{TOKEN}/view?tab=t1 HTTP/1.1", f"Host: {here}", f"Origin: http://{here}", "Upgrade: websocket")
    more = ("Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", "", "")
    if early:
        stage.answers = asyncio.Event()
    writer.write("\r\n".join((*lines, *more)).encode())
    if early and stage.answers is not None:
        await until(lambda: stage.tabs)
        writer.write(early)
        stage.answers.set()
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
