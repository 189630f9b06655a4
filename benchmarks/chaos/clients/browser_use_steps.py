"""browser-use, by its own actions and without a language model. It runs in a Python of its own."""

import asyncio
import os

os.environ |= {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_LOGGING_LEVEL": "result",
    "BROWSER_USE_CLOUD_SYNC": "false",
}

from browser_use import BrowserSession, Tools

from benchmarks.chaos.clients.steps import ADDRESSES, serve


class Steps:
    """What it is asked to do."""

    def __init__(self, session: BrowserSession) -> None:
        self._session = session
        self._tools = Tools()
        self._button: int | None = None

    async def look(self) -> str:
        """Its state of the page, with a number for each element."""
        state = await asyncio.wait_for(self._session.get_browser_state_summary(), 15)
        elements = state.dom_state.selector_map
        self._button = next((index for index, node in elements.items() if node.tag_name == "button"), self._button)
        return f"{len(elements)} elements"

    async def click(self) -> str:
        """Click the button by the number that it has."""
        return await self._act("click", index=self._button)

    async def work(self) -> str:
        """Look, then click."""
        await self.look()
        return await self.click()

    async def run(self) -> str:
        """Run code in the page."""
        page = await self._session.must_get_current_page()
        return str(await page.evaluate("() => document.title"))

    async def see(self) -> str:
        """Take a picture."""
        page = await self._session.must_get_current_page()
        return f"{len(await page.screenshot())} characters"

    async def go(self) -> str:
        """Go elsewhere."""
        return await self._act("navigate", url="about:blank", new_tab=False)

    async def _act(self, action: str, **arguments: object) -> str:
        result = await getattr(self._tools, action)(browser_session=self._session, **arguments)
        if result.error:
            raise RuntimeError(result.error)
        return str(result.extracted_content)


async def main() -> None:
    """Connect, and do what is asked."""
    session = BrowserSession(cdp_url=ADDRESSES["websocket"], keep_alive=True)
    await session.start()
    steps = Steps(session)
    await serve(
        {
            "work": steps.work,
            "click": steps.click,
            "locator": steps.look,
            "run": steps.run,
            "see": steps.see,
            "go": steps.go,
        }
    )


asyncio.run(main())
