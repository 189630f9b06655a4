"""One viewer whose page is connected here: what goes through the gateway, and for how long."""

import asyncio
import contextlib
import logging
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from user_handoff.contract.view import ENDED
from user_handoff.gateway.live.judging import Check, Ended, Judge
from user_handoff.gateway.live.wire import DesktopConnection, Wire

_LOG = logging.getLogger(__name__)

EXPECTED: Final = (Ended, ConnectionClosed, WebSocketDisconnect, OSError, RuntimeError)
"""How a part of a view may end."""


class Passing:
    """Passes on what belongs there."""

    def __init__(
        self, page: WebSocket, wire: Wire | None, desktop: DesktopConnection, check: Check, check_seconds: float
    ) -> None:
        """Prepare.

        Args:
            page: The person's page.
            wire: The same, where its server has one.
            desktop: The desktop's view.
            check: Raises `HandoffError` where they may not look any more.
            check_seconds: How often that is asked.
        """
        self._page = page
        self._desktop = desktop
        self._wire = wire
        self._judge = Judge(
            desktop, check, check_seconds, unsure=page.send_text, cut=lambda why: desktop.transport.abort()
        )

    async def run(self) -> str:
        """Until one of the three ends.

        Returns:
            Why.
        """
        if self._wire is not None:
            self._desktop.take, self._wire.take = self._wire.send_at_once, self._desktop.send_at_once
        tasks = [asyncio.create_task(part) for part in (self._down(), self._up(), self._judge.go_on_checking())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # First the desktop: input is dead before anything else happens.
            self._desktop.transport.abort()
            self._desktop.take = None
            if self._wire is not None:
                self._wire.take = None
            await put_away((*tasks, *self._judge.asking))
            with contextlib.suppress(RuntimeError, OSError):
                await self._page.close(ENDED, self._judge.why)
        return self._judge.why or "gone"

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
            self._judge.why = self._judge.why or (closed.rcvd.reason if closed.rcvd else "") or "lost"

    async def _up(self) -> None:
        while True:
            message = await self._page.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes")
            if data is not None:
                await self._desktop.send(data)
            elif not await self._judge.on_text(message["text"]):
                return


async def put_away(tasks: "tuple[asyncio.Task[None], ...]") -> None:
    """Cancel what a view was made of, and wait for it."""
    for task in tasks:
        task.cancel()
    for done in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(done, Exception) and not isinstance(done, EXPECTED):
            _LOG.error("a view ended unexpectedly: %s", type(done).__name__)
