"""A server of tools that drives a browser by CDP, asked by the official SDK: its command is in the arguments."""

import asyncio
import os
import re
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult

from benchmarks.chaos.clients.steps import ADDRESSES, serve

_ELEMENT = (re.compile(r'button "Count".*?\[ref=(\w+)\]'), re.compile(r'uid=(\S+) button "Count"'))


class Tools:
    """The tools of either server."""

    def __init__(self, session: ClientSession, *, devtools: bool) -> None:
        self._session = session
        self._devtools = devtools
        self._element = ""

    async def call(self, tool: str, **arguments: object) -> str:
        """Call one; what fails is raised."""
        more = {"pageId": 1} if self._devtools else {}
        result: CallToolResult = await self._session.call_tool(tool, {**more, **arguments})
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error:
            raise RuntimeError(text)
        return text

    async def look(self) -> str:
        """Look at the page, and find its button."""
        text = await self.call("take_snapshot" if self._devtools else "browser_snapshot")
        found = next((match for pattern in _ELEMENT if (match := pattern.search(text))), None)
        if found is None:
            raise RuntimeError(text[:300])
        self._element = found[1]
        return "shows the page"

    async def click(self) -> str:
        """Click the button."""
        if self._devtools:
            return await self.call("click", uid=self._element)
        return await self.call("browser_click", target=self._element, element="Count")

    async def work(self) -> None:
        """Look, then click."""
        await self.look()
        await self.click()

    async def run(self) -> str:
        """Run code in the page."""
        if self._devtools:
            return await self.call("evaluate_script", function="() => document.title")
        return await self.call("browser_evaluate", function="() => document.title")

    async def see(self) -> str:
        """Take a picture."""
        return await self.call("take_screenshot" if self._devtools else "browser_take_screenshot")

    async def go(self) -> str:
        """Go elsewhere."""
        if self._devtools:
            return await self.call("navigate_page", type="url", url="about:blank")
        return await self.call("browser_navigate", url="about:blank")


async def main() -> None:
    """Start the server, and do what is asked."""
    program, *options = sys.argv[1:]
    filled = [option.format(**ADDRESSES) for option in options]
    server = StdioServerParameters(command=program, args=filled, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = Tools(session, devtools="devtools" in program)
        await serve(
            {
                "work": tools.work,
                "click": tools.click,
                "locator": tools.look,
                "run": tools.run,
                "see": tools.see,
                "go": tools.go,
            }
        )


asyncio.run(main())
