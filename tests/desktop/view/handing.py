"""A desktop's door with a view that notes what comes, and a gateway and a page before it."""

import asyncio
import hashlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, unix_connect

from tests.desktop.view.pages import Page, page_on
from tests.waiting import until
from user_handoff.contract.view import PAGE_HEADER, TAKEN, TICKET_HEADER, AdmitViewer
from user_handoff.desktop.view.connection import Socket
from user_handoff.desktop.view.handed import HandedPage
from user_handoff.desktop.view.tickets import Tickets, Viewer


@dataclass
class Desk:
    """A desktop's door, with one view that notes what comes."""

    folder: Path
    tickets: Tickets = field(default_factory=Tickets)
    views: list[HandedPage] = field(default_factory=list)
    told: list[Any] = field(default_factory=list)
    busy: asyncio.Event | None = None
    """While it is there and not set, the view is at something else."""
    fails: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def view(self, viewer: Viewer, page: Socket) -> None:
        assert isinstance(page, HandedPage)
        self.views.append(page)
        if self.fails:
            raise OSError
        if self.busy is not None:
            await self.busy.wait()
        async for said in page:
            self.told.append(said)
            page.handled()
        self.over.set()
        await page.close()

    async def connect(self, ticket: str, key: str) -> ClientConnection:
        """As a gateway does."""
        digest = hashlib.sha256(ticket.encode()).hexdigest()
        request = AdmitViewer(handoff_id="handoff/b/s/m", browser_id="b", viewer_id="v_1", ticket_sha256=digest)
        self.tickets.expect(request)
        headers = {TICKET_HEADER: ticket, PAGE_HEADER: key}
        path = str(self.folder / "view")
        return await unix_connect(path, "ws://desktop/", additional_headers=headers, compression=None)

    async def hand_over(self, page: socket.socket, key: str) -> None:
        with socket.socket(socket.AF_UNIX) as offered:
            offered.setblocking(False)
            offered.connect(str(self.folder / "page"))
            socket.send_fds(offered, [key.encode()], [page.fileno()])
            assert await asyncio.get_running_loop().sock_recv(offered, 1) == TAKEN


@dataclass
class Stand:
    """All three."""

    desk: Desk
    gateway: ClientConnection
    page: Page

    @property
    def view(self) -> HandedPage:
        return self.desk.views[0]

    @property
    def told(self) -> list[Any]:
        return self.desk.told

    async def asked(self) -> Any:
        """What the gateway is asked next."""
        async with asyncio.timeout(5):
            return json.loads(await self.gateway.recv())

    async def until_held_back(self) -> None:
        """Nothing is read from the page."""
        transport = self.view._page._transport
        assert transport is not None
        await until(lambda: not transport.is_reading())
        assert not transport.is_closing()


@asynccontextmanager
async def standing(desk: Desk) -> AsyncIterator[Stand]:
    ours, theirs = socket.socketpair()
    async with await desk.connect("ticket", "key") as gateway, page_on(theirs) as page:
        with ours:
            await desk.hand_over(ours, "key")
        await until(lambda: desk.views)
        yield Stand(desk, gateway, page)
