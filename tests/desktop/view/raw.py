"""A viewer without a page: it speaks RFB and our messages, byte by byte."""

import asyncio
import contextlib
import hashlib
import json
import secrets
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, unix_connect

from tests.waiting import until
from user_handoff.contract.ids import new_id
from user_handoff.contract.view import TICKET_HEADER, AdmitViewer, ViewMode
from user_handoff.desktop.view.rfb import key, pointer
from user_handoff.desktop.view.view import View

A, B, SHIFT = ord("a"), ord("b"), 0xFFE1
"""What X calls these keys."""


def ask(handoff_id: str, ticket: str, mode: ViewMode = "control", **more: Any) -> AdmitViewer:
    """What a gateway asks a desktop for a viewer."""
    said = {
        "handoff_id": handoff_id,
        "browser_id": handoff_id.split("/")[1],
        "viewer_id": new_id("v"),
        "ticket_sha256": hashlib.sha256(ticket.encode()).hexdigest(),
        "mode": mode,
    }
    return AdmitViewer.model_validate(said | more)


def knock(view: View, ticket: str) -> Any:
    """Connect with a ticket."""
    assert view.address is not None
    return unix_connect(
        view.address.removeprefix("unix:"),
        "ws://desktop/",
        additional_headers={TICKET_HEADER: ticket},
        compression=None,
        max_size=None,
    )


@dataclass
class RawViewer:
    """Somebody who looks; what the desktop says is kept."""

    socket: ClientConnection
    said: list[dict[str, Any]] = field(default_factory=list)
    picture: int = 0
    """Bytes of the picture that have come."""
    name: bytes = b""
    closed: str | None = None
    """Why the desktop ended it."""
    _reading: asyncio.Task[None] | None = None

    async def greet(self) -> None:
        """Say what a viewer says first, and ask for the picture."""
        assert await self.socket.recv() == b"RFB 003.008\n"
        await self.socket.send(b"RFB 003.008\n\x01\x00")
        told = b""
        while len(told) < 2 + 4 + 24 + 7:
            part = await self.socket.recv()
            if isinstance(part, str):
                self.said.append(json.loads(part))
            else:
                told += part
        self.name = told[30:]
        self._reading = asyncio.create_task(self._read())
        await self.raw(struct.pack(">BxH3i", 2, 3, 0, -258, -223) + struct.pack(">BBHHHH", 3, 0, 0, 0, 64, 64))

    async def _read(self) -> None:
        with contextlib.suppress(Exception):
            async for part in self.socket:
                if isinstance(part, str):
                    self.said.append(json.loads(part))
                else:
                    self.picture += len(part)
        self.closed = self.socket.close_reason

    async def raw(self, data: bytes) -> None:
        await self.socket.send(data)

    async def tell(self, **said: Any) -> None:
        await self.socket.send(json.dumps(said))

    async def press(self, *keysyms: int) -> None:
        """Press and release keys."""
        for keysym in keysyms:
            await self.raw(key(keysym, down=True).data + key(keysym, down=False).data)

    async def hold_down(self, keysym: int) -> None:
        await self.raw(key(keysym, down=True).data)

    async def click(self, x: int, y: int) -> None:
        for buttons in (0, 1, 0):
            await self.raw(pointer(buttons, x, y).data)

    def last(self, kind: str) -> dict[str, Any]:
        """The last of what was said of this kind; empty where nothing was."""
        return next((each for each in reversed(self.said) if each["t"] == kind), {})

    async def heard(self, kind: str, **like: Any) -> dict[str, Any]:
        """Wait until this was said last of its kind."""

        def meant(said: dict[str, Any]) -> bool:
            return bool(said) and like.items() <= said.items()

        return await until(lambda: self.last(kind), wanted=meant, what=f"{kind} {like}")

    async def take(self, **more: Any) -> dict[str, Any]:
        """Take control."""
        await self.tell(t="control", want=True, **more)
        return await self.heard("control", who="you")

    async def until_passed(self) -> None:
        """Wait until all that was sent before was dealt with."""
        number = secrets.randbelow(10**9)
        await self.tell(t="text", n=number, text="")
        await self.heard("typed", n=number)


@contextlib.asynccontextmanager
async def viewing(view: View, handoff_id: str, mode: ViewMode = "control") -> AsyncIterator[RawViewer]:
    """A viewer who was let in, and has the picture."""
    ticket = secrets.token_urlsafe(24)
    await view.admit(ask(handoff_id, ticket, mode))
    async with knock(view, ticket) as socket:
        viewer = RawViewer(socket)
        await viewer.greet()
        try:
            yield viewer
        finally:
            if viewer._reading is not None:
                viewer._reading.cancel()
