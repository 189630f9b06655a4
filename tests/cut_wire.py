"""A wire to a server that a test can cut, or let eat what the server says."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field


@dataclass
class CutWire:
    """A TCP forwarder on a port of its own."""

    host: str
    port: int
    cut: bool = False
    """Open connections are dropped and new ones get nothing."""
    mute: bool = False
    """What the server says is lost."""
    deaf: bool = False
    """What is said to the server is lost."""
    address: str = ""
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["CutWire"]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        self.address = f"{host}:{port}"
        try:
            yield self
        finally:
            server.close()
            self.drop()

    def drop(self) -> None:
        """End every connection, and lose nothing on the next ones."""
        self.mute = self.deaf = False
        for writer in self._open:
            writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.cut:
            writer.close()
            return
        up_reader, up_writer = await asyncio.open_connection(self.host, self.port)
        self._open |= {writer, up_writer}
        await asyncio.gather(self._copy(reader, up_writer, False), self._copy(up_reader, writer, True))
        self._open -= {writer, up_writer}

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, down: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not (self.mute if down else self.deaf):
                    writer.write(data)
                    await writer.drain()
        writer.close()
