"""The display's own RFB server, on its private socket."""

import array
import asyncio
import contextlib
import fcntl
import socket
import struct
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Self

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.view.rfb import NO_PASSWORD, VERSION

_CONNECT_SECONDS = 5.0
_SHARED = b"\x01"
_LONGEST_NAME = 4096
_READ = 256 * 1024
_LOOK_AGAIN = 0.001


class _Wire(asyncio.StreamReaderProtocol):
    """Hands on what comes in the moment in which it comes, as long as somebody takes it and nothing older waits."""

    take: Callable[[bytes], bool] | None = None
    waiting = 0
    """Bytes that were not taken, and are still to be read."""

    def data_received(self, data: bytes) -> None:
        if self.waiting or self.take is None or not self.take(data):
            self.waiting += len(data)
            super().data_received(data)


class Picture:
    """One connection to the display's RFB server, greeted and ready.

    Attributes:
        width: Of the display, in pixels.
        height: Likewise.
        format: How its pixels are made, as the server said it (16 bytes).
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wire: _Wire, told: bytes) -> None:
        self._reader = reader
        self._wire = wire
        self._wire.waiting = 0  # the greeting was read, and the server says nothing more before it is asked
        self._writer = writer
        self._socket: socket.socket = writer.get_extra_info("socket")
        self.width, self.height = struct.unpack(">HH", told[:4])
        self.format = told[4:20]

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Connect, and share the display with other viewers.

        Raises:
            Refused: `view_unavailable`: the display does not serve its picture, or not as expected.
        """
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(_READ)
                transport, wire = await loop.create_unix_connection(lambda: _Wire(reader), str(path))
                writer = asyncio.StreamWriter(transport, wire, reader, loop)
                try:
                    return cls(reader, writer, wire, await _greet(reader, writer))
                except BaseException:
                    writer.close()
                    raise
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            raise unavailable("the display does not serve its picture") from error

    def hand_on(self, take: Callable[[bytes], bool] | None) -> None:
        """Have what the server says taken in the moment in which it comes; what is not taken is for `read`.

        Args:
            take: Called with it; returns False where it has not taken it. None: nobody takes anything any more.
        """
        self._wire.take = take

    async def read(self) -> bytes:
        """What the server says next and nobody has taken; empty at its end."""
        try:
            data = await self._reader.read(_READ)
        except OSError:
            return b""
        self._wire.waiting -= len(data)
        return data

    def write(self, data: bytes) -> None:
        """Send; nothing happens once the connection is gone."""
        if not self._writer.is_closing():
            self._writer.write(data)

    @property
    def flows(self) -> bool:
        """True where nothing that was written waits on this side."""
        return not self._writer.is_closing() and not self._writer.transport.get_write_buffer_size()

    async def room(self) -> None:
        """Wait while too much waits for the server."""
        with contextlib.suppress(OSError):
            await self._writer.drain()

    @property
    def unread(self) -> bool:
        """True while the server has not yet read all that was sent."""
        if self._writer.is_closing():
            return False
        if self._writer.transport.get_write_buffer_size():
            return True
        waiting = array.array("i", [0])
        try:
            fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, waiting)
        except OSError:
            return False
        return waiting[0] > 0

    async def settled(self) -> None:
        """Wait until the server has read all that was sent: what waits in a socket cannot be taken back."""
        while self.unread:  # noqa: ASYNC110  (the kernel tells nobody)
            await asyncio.sleep(_LOOK_AGAIN)

    def abort(self) -> None:
        """End the connection at this moment."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The greeting of RFC 6143, 7.1 to 7.3; returns what the server tells of the display."""
    if await reader.readexactly(len(VERSION)) != VERSION:
        raise ValueError("the version")
    writer.write(VERSION)
    (count,) = await reader.readexactly(1)
    if NO_PASSWORD not in await reader.readexactly(count):
        raise ValueError("the security types")
    writer.write(bytes([NO_PASSWORD]))
    if await reader.readexactly(4) != bytes(4):
        raise ValueError("the security result")
    writer.write(_SHARED)
    told = await reader.readexactly(24)
    length = int.from_bytes(told[20:24])
    if length > _LONGEST_NAME:
        raise ValueError("the name")
    await reader.readexactly(length)  # it names the machine and its user, which is nobody's business
    return told[:20]


def unavailable(why: str, do_next: str = "Try again; if it stays, look at the runner's log.") -> HandoffError:
    """The refusal where there is nothing to see."""
    return make_error(
        ErrorCode.VIEW_UNAVAILABLE,
        f"The browser cannot be shown: {why}.",
        holds="The hold is as it was; nobody was let in.",
        do_next=do_next,
    )
