"""One viewer: what goes through the gateway, and for how long."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from user_handoff.contract.errors import ErrorCode, HandoffError, OutcomeUnknown
from user_handoff.gateway.live.wire import PAGE_WIRE, DesktopConnection, Wire

_LOG = logging.getLogger(__name__)

_LONGEST: Final = 64 * 1024
_ENDED: Final = 4410

_UNSURE: Final = (ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.RUNNER_UNAVAILABLE)
"""Nobody could tell whether they may still look: nothing is renewed, and control ends by itself."""

Check = Callable[[], Awaitable[object]]


class _Ended(Exception):
    """They may not look any more."""


_EXPECTED: Final = (_Ended, ConnectionClosed, WebSocketDisconnect, OSError, RuntimeError)


class Passing:
    """Passes on what belongs there.

    The page cannot renew its control itself: it gives signs of life, and the gateway renews while the handoff's
    workflow says that the browser is held and the page is theirs.
    """

    def __init__(self, page: WebSocket, desktop: DesktopConnection, check: Check, check_seconds: float) -> None:
        """Prepare.

        Args:
            page: The person's page.
            desktop: The desktop's view.
            check: Raises `HandoffError` where they may not look any more.
            check_seconds: How often that is asked.
        """
        self._page = page
        self._desktop = desktop
        self._wire: Wire | None = page.scope.get("state", {}).get(PAGE_WIRE)
        self._check = check
        self._check_seconds = check_seconds
        self._alive = asyncio.Event()
        self._why = ""
        self._asking: asyncio.Task[None] | None = None

    async def run(self) -> str:
        """Until one of the three ends.

        Returns:
            Why.
        """
        if self._wire is not None:
            self._desktop.take, self._wire.take = self._wire.send_at_once, self._desktop.send_at_once
        tasks = [asyncio.create_task(part) for part in (self._down(), self._up(), self._go_on_checking())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # First the desktop: input is dead before anything else happens.
            self._desktop.transport.abort()
            self._desktop.take = None
            if self._wire is not None:
                self._wire.take = None
            if self._asking is not None:
                tasks.append(self._asking)
            for task in tasks:
                task.cancel()
            for done in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(done, Exception) and not isinstance(done, _EXPECTED):
                    _LOG.error("a view ended unexpectedly: %s", type(done).__name__)
            with contextlib.suppress(RuntimeError, OSError):
                await self._page.close(_ENDED, self._why)
        return self._why or "gone"

    async def _down(self) -> None:
        try:
            while True:
                data = await self._desktop.recv(decode=None)
                if isinstance(data, str):
                    await self._page.send_text(data)
                else:
                    await self._page.send_bytes(data)
                    self._desktop.waiting -= 1
        except ConnectionClosed as closed:
            self._why = self._why or (closed.rcvd.reason if closed.rcvd else "") or "lost"

    async def _up(self) -> None:
        while True:
            message = await self._page.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes")
            if data is not None:
                await self._desktop.send(data)
            elif not await self._on_text(message["text"]):
                self._why = "violation"
                return

    async def _on_text(self, text: str) -> bool:
        """Pass on what a page may say; False for anything else."""
        try:
            said: dict[str, Any] = json.loads(text) if len(text) <= _LONGEST else {}
            kind = said.get("t")
        except (ValueError, AttributeError, RecursionError):
            return False
        if kind == "beat":
            self._alive.set()
        elif kind in ("ping", "text", "override"):
            await self._desktop.send(text)
        elif kind == "control" and said.get("want") is True:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask_for_control(text))
        elif kind == "control":
            if self._asking is not None:
                self._asking.cancel()  # they want it no more: it does not come to them afterwards
                self._asking = None
            await self._desktop.send(text)
        else:
            return False
        return True

    async def _ask_for_control(self, text: str) -> None:
        """Control is given by the desktop, and only to who may look at this moment."""
        with contextlib.suppress(_Ended, ConnectionClosed):
            if await self._may():
                await self._desktop.send(text)

    async def _go_on_checking(self) -> None:
        """Ask again all the while; the page's sign of life alone makes a renewal of it."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._check_seconds):
                    await self._alive.wait()
            alive = self._alive.is_set()
            self._alive.clear()
            if await self._may() and alive:
                await self._desktop.send('{"t": "renew"}')
            await asyncio.sleep(min(1.0, self._check_seconds / 5))

    async def _may(self) -> bool:
        """Whether they may still look; ends it where they may not."""
        try:
            await self._check()
        except HandoffError as error:
            if error.code not in _UNSURE and not isinstance(error, OutcomeUnknown):
                self._why = str(error.code)
                self._desktop.transport.abort()
                raise _Ended from error
            await self._page.send_text('{"t": "unsure"}')
            return False
        return True
