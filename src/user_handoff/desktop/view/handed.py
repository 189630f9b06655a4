"""A page whose connection its gateway has handed over: input and picture take no way around by the gateway."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Final, Self

from websockets.exceptions import ConnectionClosed

from user_handoff.contract.view import ENDED, LONGEST_WORD, read_word
from user_handoff.desktop.view.connection import LITTLE, Take, ViewerConnection
from user_handoff.desktop.view.page_wire import PageWire

_OURS: Final = ("text", "override")
"""What a page may tell a desktop. Everything else goes to the gateway: it decides, and a ping shows that it can."""
_MOST: Final = 64
"""Messages that wait here; a page that sends more waits itself."""
_MOST_ASKED: Final = 8
"""The same for what the gateway is to decide."""
_DOUBT_SECONDS: Final = 0.5
"""So long the gateway may take to answer a page's ping before input waits for it, as if it went through it."""
_LOST_SECONDS: Final = 2.5
"""And so long after that, before the view ends."""


class HandedPage:
    """A page that is connected here, and the gateway that says whether it still may be; a `Socket`.

    Attributes:
        take: As in `Socket`.
    """

    def __init__(self, gateway: ViewerConnection) -> None:
        """Prepare; `adopt` makes one.

        Args:
            gateway: The connection to the gateway.
        """
        self.take: Take | None = None
        self._gateway = gateway
        self._page = PageWire(self._on_message, lambda: self._end("gone"))
        self._said: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        """What waits; None: it is over."""
        self._asked: asyncio.Queue[str] = asyncio.Queue()
        self._over = False
        self._waiting = 0
        self._why = ""
        self._doubt: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def adopt(cls, gateway: ViewerConnection, page: socket.socket) -> Self:
        """Go on with a page's connection.

        Args:
            gateway: Who has handed it over, and goes on to say what the page may.
            page: The connection; it is this one's from now on.
        """
        handed = cls(gateway)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: handed._page, page)
        handed._tasks = [asyncio.create_task(part) for part in (handed._listen(), handed._ask())]
        return handed

    def handled(self) -> None:
        """As in `Socket`."""
        self._waiting -= 1
        self._read_on()

    async def send(self, data: bytes | str, /) -> None:
        """As in `Socket`."""
        await self._page.send(data)

    def send_at_once(self, data: bytes, /) -> bool:
        """As in `Socket`."""
        return self._page.send_at_once(data)

    async def __aiter__(self) -> AsyncIterator[bytes | str]:
        """As in `Socket`. What waits when it ends is dropped."""
        while (said := await self._said.get()) is not None:
            yield said

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """As in `Socket`; the page is told why."""
        self._end(reason)
        try:
            await asyncio.gather(self._page.until_gone(), self._gateway.close(code, self._why))
        finally:
            for task in self._tasks:
                task.cancel()

    def _end(self, why: str) -> None:
        """From now on nothing comes from there any more, and nothing goes there."""
        self._why = self._why or why
        self.take, self._over = None, True
        self._trust()
        while not self._said.empty():
            self._said.get_nowait()
        self._said.put_nowait(None)
        self._page.end(ENDED, self._why)

    def _keep(self, data: bytes | str) -> None:
        self._waiting += 1
        self._said.put_nowait(data)
        if self._waiting >= _MOST or len(data) > LITTLE:
            self._page.pause()

    def _on_message(self, data: bytes | str) -> None:
        if not isinstance(data, str):
            if self._waiting or self.take is None or not self.take(data):
                self._keep(data)
        elif (kind := read_word(data).get("t")) in _OURS:
            self._keep(data)
        else:
            self._have_decided(data, kind)

    def _have_decided(self, text: str, kind: object) -> None:
        self._asked.put_nowait(text if len(text) <= LONGEST_WORD else "")  # nothing that is too long is anything
        if self._asked.qsize() >= _MOST_ASKED:
            self._page.pause()
        if kind == "ping" and self._doubt is None:
            self._doubt = asyncio.get_running_loop().call_later(_DOUBT_SECONDS, self._hold_back)

    def _hold_back(self) -> None:
        self._page.pause()
        self._doubt = asyncio.get_running_loop().call_later(_LOST_SECONDS, self._end, "lost")

    def _trust(self) -> None:
        """The gateway is there."""
        if self._doubt is not None:
            self._doubt.cancel()
            self._doubt = None
            self._read_on()

    def _read_on(self) -> None:
        if not self._waiting and self._asked.qsize() < _MOST_ASKED and self._doubt is None:
            self._page.resume()

    async def _ask(self) -> None:
        """Tell the gateway what it is to decide, at its pace."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self._gateway.send(await self._asked.get())
                self._read_on()

    async def _listen(self) -> None:
        """Until the gateway is gone, however it goes; nothing here waits for the page."""
        try:
            async for said in self._gateway:
                self._gateway.handled()
                self._trust()
                self._obey(said)
        except ConnectionClosed:
            pass
        finally:
            self._end("lost")

    def _obey(self, said: bytes | str) -> None:
        """The gateway ends the view, or has the page told something, or has decided."""
        word = read_word(said) if isinstance(said, str) else {}
        if word.get("t") == "bye":
            why = word.get("why")
            self._end(why if why and isinstance(why, str) else "lost")
        elif word.get("t") == "unsure":
            self._page.send_at_once(said)
        elif not self._over:
            self._keep(said)
