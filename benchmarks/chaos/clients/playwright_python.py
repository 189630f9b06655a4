"""Playwright for Python, by the Unix socket."""

import asyncio

from playwright.async_api import async_playwright

from benchmarks.chaos.clients.steps import ADDRESSES, serve


async def main() -> None:
    """Connect, and do what is asked."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(ADDRESSES["unix"])
        page = browser.contexts[0].pages[0]

        async def work() -> None:
            await page.title()
            await page.click("button", timeout=5000)

        await serve(
            {
                "work": work,
                "click": lambda: page.mouse.click(20, 20),
                "locator": lambda: page.click("button", timeout=1500),
                "run": lambda: page.evaluate("document.title"),
                "see": page.screenshot,
                "go": lambda: page.goto("about:blank", timeout=3000),
            }
        )


asyncio.run(main())
