"""Browsers wherever they live: found, listed, and closed where nobody has them."""

import asyncio
from collections.abc import Awaitable, Callable

from user_handoff.client.calls import safe_id
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.browser import BrowserInfo
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error


class BrowserClient(DesktopClient):
    """What an operator asks of browsers by their ids alone."""

    async def queue_of(self, browser_id: str) -> str:
        """The queue of the desktop on which a browser lives.

        Raises:
            Refused: `invalid_request`: that is no id.
            Gone: `unknown_browser`: no desktop that is online has it; `browser_gone`: it has ended.
        """
        safe_id(browser_id)
        online = await self.desktops()
        # a browser that was just opened is not yet in what its runner said last
        for desktop in sorted(online, key=lambda info: browser_id not in info.browsers):
            if await _known(lambda queue=desktop.queue: self.info(queue, browser_id)):  # type: ignore[misc]
                return desktop.queue
        raise make_error(
            ErrorCode.UNKNOWN_BROWSER,
            "No desktop that is online has a browser of that id.",
            holds="Nothing was done.",
            do_next="`handoff browsers list` names the browsers of all desktops that are online.",
            browser_id=browser_id[:64],
        )

    async def open_browsers(self) -> list[BrowserInfo]:
        """The browsers of all desktops that are online, as each is now. One that was just opened may be missing."""
        places = [(desktop.queue, each) for desktop in await self.desktops() for each in desktop.browsers]

        async def look(queue: str, browser_id: str) -> BrowserInfo | None:
            try:
                return await self.info(queue, browser_id)
            except HandoffError:
                return None  # it, or its desktop, has ended meanwhile

        found = await asyncio.gather(*(look(*place) for place in places))
        return [info for info in found if info is not None]

    async def close_unless_held(self, browser_id: str) -> None:
        """Close a browser that nobody has, wherever it lives.

        Raises:
            Held: `browser_held`: a handoff or a takeover has it; it is as it was.
            HandoffError: As `queue_of`; or `runner_unavailable`.
        """
        await self.close_browser(await self.queue_of(browser_id), browser_id, unless_held=True)


async def _known(ask: Callable[[], Awaitable[object]]) -> bool:
    try:
        await ask()
    except HandoffError as error:
        if error.code in (ErrorCode.UNKNOWN_BROWSER, ErrorCode.RUNNER_UNAVAILABLE):
            return False
        raise
    return True
