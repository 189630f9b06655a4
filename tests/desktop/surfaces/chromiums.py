"""Real browsers on a display, and what is asked of their windows."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Error, Page, Playwright

from user_handoff.contract.handoff import Surface
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.host.launch import chromium_path
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces.settle import resolve_settled
from user_handoff.desktop.surfaces.x11 import X11Surfaces

PAGE = "<title>Invoices</title><select><option>one<option>two</select><input type=file>"
OPEN = "features => { open('about:blank', '_blank', features) }"


@dataclass
class Window:
    """A page that has a window to itself."""

    page: Page
    cdp: CDPSession

    async def bounds(self) -> dict[str, Any]:
        return dict((await self.cdp.send("Browser.getWindowForTarget"))["bounds"])

    async def change(self, bounds: Mapping[str, Any]) -> None:
        number = (await self.cdp.send("Browser.getWindowForTarget"))["windowId"]
        await self.cdp.send("Browser.setWindowBounds", {"windowId": number, "bounds": dict(bounds)})


class Chromium:
    """One browser."""

    def __init__(self, context: BrowserContext, process: ProcessIdentity, token: str) -> None:
        self.context = context
        self.process = process
        self.token = token
        self.windows: list[Window] = []

    @property
    def first(self) -> Window:
        return self.windows[0]

    async def add(self, page: Page) -> Window:
        await page.set_content(PAGE)
        self.windows.append(Window(page, await self.context.new_cdp_session(page)))
        return self.windows[-1]

    @asynccontextmanager
    async def another(self, features: str = "width=500,height=400,left=200,top=150") -> AsyncIterator[Window]:
        """A window that the page opens, for as long as the block runs."""
        async with self.context.expect_page() as opened:
            await self.first.page.evaluate(OPEN, features)
        window = await self.add(await opened.value)
        try:
            yield window
        finally:
            self.windows.remove(window)
            await window.page.close()

    async def resolve(self, surfaces: X11Surfaces, window: Window | None = None) -> Surface:
        return await resolve_settled(surfaces, (window or self.first).bounds, self.process, self.token)


@asynccontextmanager
async def chromium(playwright: Playwright, display: Display, profile: Path, token: str) -> AsyncIterator[Chromium]:
    context = await playwright.chromium.launch_persistent_context(
        profile,
        headless=False,
        executable_path=str(chromium_path()),
        chromium_sandbox=False,
        no_viewport=True,
        args=[f"--class={token}"],
        env={**os.environ, **display.environment()},
    )
    try:
        assert context.browser
        session = await context.browser.new_browser_cdp_session()
        info = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        pid = next(int(entry["id"]) for entry in info if entry["type"] == "browser")
        browser = Chromium(context, ProcessIdentity.of(pid), token)
        await browser.add(context.pages[0])
        yield browser
    finally:
        with suppress(Error):  # a test may have killed it
            await context.close()
