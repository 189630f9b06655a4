"""Agents that come through a door to the browser of `desk`."""

import contextlib
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Playwright

from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import RawClient, raw_client
from user_handoff.contract.doors import OpenDoor
from user_handoff.desktop.host.control import HostControl


@dataclass
class Door:
    """An open door with its token."""

    door_id: str
    token: str
    socket: Path
    port: int | None
    uploads: Path

    @property
    def path(self) -> str:
        """Where a client asks on the Unix socket."""
        return f"/agent/{self.token}"

    @property
    def endpoint(self) -> str:
        """For Playwright."""
        return f"ws+unix://{self.socket}:{self.path}"

    @property
    def http(self) -> str:
        """The loopback port."""
        return f"http://127.0.0.1:{self.port}/{self.token}"


async def open_door(control: HostControl, *, tcp: bool = True, seconds: float = 600, name: str = "test") -> Door:
    token, door_id = secrets.token_urlsafe(32), f"d_{secrets.token_hex(4)}"
    digest = hashlib.sha256(token.encode()).hexdigest()
    asked = OpenDoor(
        browser_id="b_desk", door_id=door_id, sha256=digest, name=name, tcp=tcp, expires_in_seconds=seconds
    )
    socket, port, uploads = await control.open_door(asked)
    return Door(door_id, token, Path(socket), port, Path(uploads))


@pytest.fixture(scope="session")
async def door(desk: Desk) -> Door:
    return await open_door(desk.control)


MakeRaw = Callable[[], AbstractAsyncContextManager[RawClient]]


@pytest.fixture
def raw(door: Door) -> MakeRaw:
    return lambda: raw_client(door.socket, door.path)


@contextlib.asynccontextmanager
async def playwright_agent(playwright: Playwright, door: Door) -> AsyncIterator[Browser]:
    browser = await playwright.chromium.connect_over_cdp(door.endpoint)
    try:
        yield browser
    finally:
        await browser.close()


@pytest.fixture
async def agent(playwright: Playwright, door: Door, held: Desk) -> AsyncIterator[Page]:
    """The page of the desk, as a Playwright that came through the door has it."""
    async with playwright_agent(playwright, door) as browser:
        yield browser.contexts[0].pages[0]


async def page_of(client: RawClient) -> str:
    """The target of the desk's page."""
    targets = (await client.call("Target.getTargets"))["result"]["targetInfos"]
    found: str = next(info["targetId"] for info in targets if info["type"] == "page")
    return found
