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
        self._queue: collections.deque[memoryview] = collections.deque()
        self._queued = 0
        self._more = asyncio.Event()
        self._less = asyncio.Event()

    def put(self, message: bytes) -> None:
        """Write one command, at once where nothing waits; what does not fit is queued."""
        data = memoryview(message + b"\0")
        if not self._queued:
            data = data[self._write_now(data) :]
        if data:
            self._queue.append(data)
            self._queued += len(data)
            self._more.set()

    def is_full(self, limit: int) -> bool:
        """True while `limit` bytes or more are queued."""
        return self._queued >= limit

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
        ended = loop.create_future()
        buffer = bytearray()

        def readable() -> None:
            try:
                more = self._read_into(buffer, handle)
            except Exception as error:
                if not ended.done():
                    ended.set_exception(error)
                more = False
            if not more:
                loop.remove_reader(self._reading)
                if not ended.done():
                    ended.set_result(None)

        # a reader that stays costs each message three system calls less than one read after another
        loop.add_reader(self._reading, readable)
        try:
            await ended
        finally:
            loop.remove_reader(self._reading)

    def _read_into(self, buffer: bytearray, handle: Callable[[bytes], None]) -> bool:
        """Read once and hand on what is whole; False at the end of the pipe."""
        scanned = len(buffer)
        try:
            data = self._reading.recv(_READ_BYTES)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        buffer += data
        end = buffer.find(0, scanned)
        start = 0
        while end >= 0:
            handle(bytes(buffer[start:end]))
            start = end + 1
            end = buffer.find(0, start)
        del buffer[:start]
        return bool(data)

    def _write_now(self, data: memoryview) -> int:
        try:
            return self._writing.send(data)
        except OSError:  # it is full or broken, which `write` sees as well
            return 0

    async def _write(self, data: memoryview) -> None:
        await asyncio.get_running_loop().sock_sendall(self._writing, data)
        self._queued -= len(data)
        self._less.set()

    def close(self) -> None:
        """Close both ends: Chromium ends by itself then."""
        self._writing.close()
        self._reading.close()
