"""Chromium's debugging pipe: JSON messages that end in a zero byte."""

import asyncio
import collections
import contextlib
import socket
from collections.abc import Callable

_READ_BYTES = 1 << 20


class BrowserPipe:
    """Writes commands in the order given, and hands each message on."""

    def __init__(self, writing: socket.socket, reading: socket.socket) -> None:
        self._writing = writing
        self._reading = reading
        self._queue: collections.deque[bytes] = collections.deque()
        self._queued = 0
        self._more = asyncio.Event()
        self._less = asyncio.Event()

    def put(self, message: bytes) -> None:
        """Queue one command."""
        self._queue.append(message)
        self._queued += len(message)
        self._more.set()

    async def room(self, limit: int) -> None:
        """Wait until fewer than `limit` bytes are queued: a client that floods is read no further."""
        while self._queued >= limit:
            self._less.clear()
            await self._less.wait()

    async def write(self) -> None:
        """Write what is queued until the pipe breaks or the task is cancelled."""
        with contextlib.suppress(ConnectionError):
            while True:
                while self._queue:
                    await self._write(self._queue.popleft())
                self._more.clear()
                await self._more.wait()

    async def read(self, handle: Callable[[bytes], None]) -> None:
        """Hand each message to `handle` until the browser closes the pipe."""
        loop = asyncio.get_running_loop()
        buffer = bytearray()
        while True:
            scanned = len(buffer)
            try:
                data = await loop.sock_recv(self._reading, _READ_BYTES)
            except ConnectionError:
                return
            if not data:
                return
            buffer += data
            end = buffer.find(0, scanned)
            start = 0
            while end >= 0:
                handle(bytes(buffer[start:end]))
                start = end + 1
                end = buffer.find(0, start)
            del buffer[:start]

    async def _write(self, message: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._writing, message + b"\0")
        self._queued -= len(message)
        self._less.set()

    def close(self) -> None:
        """Close both ends: Chromium ends by itself then."""
        self._writing.close()
        self._reading.close()
