"""One viewer whose page's connection the desktop on this machine has: it is handed over, and judged from here."""

import asyncio
import contextlib
import json
import secrets
import socket
from pathlib import Path
from typing import Final

from starlette.websockets import WebSocket
from websockets.asyncio.server import broadcast
from websockets.exceptions import ConnectionClosed

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.view import PAGES_SOCKET, TAKEN
from user_handoff.gateway.live.judging import Check, Judge
from user_handoff.gateway.live.passing import put_away
from user_handoff.gateway.live.wire import UNIX, DesktopConnection, Wire

_SECONDS: Final = 3.0


def key_for(wire: Wire | None, address: str) -> str | None:
    """A new key under which a page's connection is handed over; None where it cannot be.

    Args:
        wire: The page's connection.
        address: Where its desktop's view is.
    """
    return secrets.token_urlsafe(24) if wire is not None and wire.can_be_lent and address.startswith(UNIX) else None


async def hand_over(wire: Wire, address: str, key: str) -> bool:
    """Hand a page's open connection over to its desktop.

    Args:
        wire: The connection.
        address: Where its desktop's view is.
        key: Under which the desktop expects it.

    Returns:
        False where it is still here, as it was.

    Raises:
        Refused: `view_unavailable`: the desktop does not say whether it has it, and it was cut: the page comes again.
    """
    lent = wire.lend()
    if lent is None:
        return False
    with lent:
        try:
            taken = await _offer(lent, Path(address.removeprefix(UNIX)).with_name(PAGES_SOCKET), key)
        except TimeoutError as error:
            with contextlib.suppress(OSError):  # the page is gone as well
                lent.shutdown(socket.SHUT_RDWR)
            raise make_error(
                ErrorCode.VIEW_UNAVAILABLE,
                "The desktop's view does not answer.",
                holds="The hold is as it was; nobody was let in.",
                do_next="Try again; if it stays, look at the runner's log.",
            ) from error
    if not taken:
        wire.take_back()
    return taken


async def _offer(lent: socket.socket, path: Path, key: str) -> bool:
    """Whether the desktop has taken it.

    Raises:
        TimeoutError: It does not say so.
    """
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        try:
            offered = stack.enter_context(socket.socket(socket.AF_UNIX))
            offered.setblocking(False)
            async with asyncio.timeout(_SECONDS):
                await loop.sock_connect(offered, str(path))
            socket.send_fds(offered, [key.encode()], [lent.fileno()])
        except OSError:  # it was not even offered
            return False
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(_SECONDS):
                return await loop.sock_recv(offered, len(TAKEN)) == TAKEN
    return False


class Handed:
    """Judges what a page may, as long as its desktop has it."""

    def __init__(self, page: WebSocket, desktop: DesktopConnection, check: Check, check_seconds: float) -> None:
        """Prepare.

        Args:
            page: The person's page; not a word is sent to it from here any more.
            desktop: The desktop's view.
            check: Raises `HandoffError` where they may not look any more.
            check_seconds: How often that is asked.
        """
        self._page = page
        self._desktop = desktop
        self._judge = Judge(desktop, check, check_seconds, unsure=desktop.send, cut=self._cut)

    async def run(self) -> str:
        """Until one of the three ends.

        Returns:
            Why.
        """
        tasks = [asyncio.create_task(part) for part in (self._hear(), self._left(), self._judge.go_on_checking())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._cut(self._judge.why)
            await put_away((*tasks, *self._judge.asking))
        return self._judge.why or "gone"

    def _cut(self, why: str) -> None:
        """Have the desktop end it, and tell the page why; also where it does not answer, it is the end."""
        broadcast((self._desktop,), json.dumps({"t": "bye", "why": why}))
        self._desktop.transport.abort()

    async def _hear(self) -> None:
        """What the desktop may not decide by itself."""
        try:
            while await self._judge.on_text(await self._desktop.recv(decode=True)):
                pass
        except ConnectionClosed as closed:
            self._judge.why = self._judge.why or (closed.rcvd.reason if closed.rcvd else "") or "lost"

    async def _left(self) -> None:
        """Until the gateway ends."""
        while (await self._page.receive())["type"] != "websocket.disconnect":
            pass
