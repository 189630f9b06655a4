"""Where gateways on this machine hand over the connections of pages."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

from user_handoff.contract.view import PAGES_SOCKET, TAKEN

_SECONDS: Final = 2.0
"""So long a page that was announced is waited for."""
_AGAIN_SECONDS: Final = 0.5
_LONGEST: Final = 128


class Pages:
    """A Unix socket on which open connections come, each with the key under which its gateway has announced it."""

    def __init__(self) -> None:
        """Prepare; `open` listens."""
        self._expected: dict[str, asyncio.Future[socket.socket]] = {}
        self._listener: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, beside: Path) -> None:
        """Listen.

        Args:
            beside: The socket on which viewers come in, in a folder that only this user can enter.
        """
        path = beside.with_name(PAGES_SOCKET)
        await asyncio.to_thread(path.unlink, missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.setblocking(False)
        self._listener.bind(str(path))
        await asyncio.to_thread(path.chmod, 0o600)
        self._listener.listen()
        self._spawn(self._accept(self._listener))

    async def close(self) -> None:
        """Take nothing more."""
        for task in tuple(self._tasks):
            task.cancel()
        for page in self._expected.values():
            page.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._listener is not None:
            self._listener.close()

    async def wait_for(self, key: str) -> socket.socket | None:
        """What is handed over under this key; None where nothing comes in time, or another waits for the same."""
        if not key or key in self._expected:
            return None
        page: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self._expected[key] = page
        try:
            await asyncio.wait([page], timeout=_SECONDS)
        finally:
            del self._expected[key]
        return page.result() if page.done() and not page.cancelled() else None

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            except OSError:  # no handle is free at this moment
                await asyncio.sleep(_AGAIN_SECONDS)
                continue
            self._spawn(self._take_in(connection))

    async def _take_in(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), contextlib.ExitStack() as refused:
            async with asyncio.timeout(_SECONDS):
                await _readable(connection)
            said, handles, _, _ = socket.recv_fds(connection, _LONGEST, 1)
            pages = [refused.enter_context(_open(handle)) for handle in handles]
            expected = self._expected.get(said.decode(errors="replace"))
            if expected is None or expected.done() or not pages or pages[0].type != socket.SOCK_STREAM:
                return
            connection.send(TAKEN)
            refused.pop_all()
            expected.set_result(pages[0])


def _open(handle: int) -> socket.socket:
    """The socket behind a handle; anything else is closed.

    Raises:
        OSError: It is none.
    """
    os.set_inheritable(handle, False)
    try:
        return socket.socket(fileno=handle)
    except OSError:
        os.close(handle)
        raise


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(connection.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection.fileno())
