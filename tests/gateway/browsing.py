"""A person at a browser of their own: a real Chromium, on a phone or at a desk."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
EXPECTED: Final = (
    "Failed to load resource",
    "Failed when connecting",
    "WebSocket connection to",
    "Got data while disconnected",  # noVNC still drew a picture when the view ended, with another one behind it
)
DESK: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 860}}


@contextlib.asynccontextmanager
async def running_chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        # Chromium refuses to run as root with its sandbox; these pages are our own.
        arguments = ["--no-sandbox", "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]  # as cheap as it gets
        browser = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        yield browser
        await browser.close()


@contextlib.asynccontextmanager
async def at_browser(
    chromium: Browser, *, expected: tuple[str, ...] = (), **options: Any
) -> AsyncIterator[BrowserContext]:
    """A browser of its own; a complaint on the console, as of the content policy, fails the test unless expected."""
    async with await chromium.new_context(**options) as context:
        complaints: list[str] = []
        context.on("console", lambda message: complaints.append(message.text))
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        yield context
        # That a request was refused is what some tests are about, and noVNC notes where there is nothing to see.
        complaints = [each for each in complaints if not each.startswith(EXPECTED + expected)]
        assert complaints == [], complaints


@contextlib.asynccontextmanager
async def person(chromium: Browser, link: str, **options: Any) -> AsyncIterator[Page]:
    """A person with a page open."""
    async with at_browser(chromium, **options) as context:
        page = await context.new_page()
        await page.goto(link)
        yield page


async def violations(page: Page) -> list[str]:
    """What axe finds wrong with a page, in words."""
    found = (await Axe().run(page)).response["violations"]
    return [f"{each['id']}: {json.dumps([node['html'] for node in each['nodes']])}" for each in found]
