"""Pages that a test writes, with the status and headers that it wants, and what reached their server."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator

_REASONS = {200: "OK", 302: "Found", 401: "Unauthorized", 403: "Forbidden", 407: "Proxy Authentication Required"}


class Pages:
    """A server of such pages. ``localhost`` and ``127.0.0.1`` are different sites to a browser.

    Attributes:
        asked: The method and path of every request, in order.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._answers: dict[str, tuple[int, str, tuple[str, ...]]] = {}
        self._numbers = itertools.count()
        self._url = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["Pages"]:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()

    def put(self, body: str, path: str = "", *, status: int = 200, headers: tuple[str, ...] = ()) -> str:
        """The URL of a page with this body."""
        path = path or f"/page{next(self._numbers)}"
        self._answers[path] = (status, f"<!doctype html><meta charset=utf-8><title>Test</title>{body}", headers)
        return self._url + path

    def elsewhere(self, body: str) -> str:
        """The same under another site."""
        return self.put(body).replace("127.0.0.1", "localhost")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            method, path, _ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
            path = path.partition("?")[0]
            self.asked.append(f"{method} {path}")
            status, body, headers = self._answers.get(path, (200, "<h1>Here</h1>", ()))
            content = body.encode()
            lines = (
                f"HTTP/1.1 {status} {_REASONS[status]}",
                "Content-Type: text/html; charset=utf-8",
                f"Content-Length: {len(content)}",
                "Connection: close",
                *headers,
            )
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
            await writer.drain()
        writer.close()
