"""Where a browser is, and whose: told by its own desktop, and never changed afterwards."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.browser import BrowserInfo
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.gateway.tools.callers import Call, session_of

_KEPT: Final = 10_000
_ANSWER_SECONDS: Final = 15


@dataclass(frozen=True, slots=True)
class Place:
    """One browser's desktop and owner."""

    browser_id: str
    client_id: str
    desktop_id: str
    queue: str
    owner: str
    session_id: str


class Places:
    """Finds browsers. What was found once is remembered: ids are never reused, and a browser stays on its desktop."""

    def __init__(self, client: DesktopClient) -> None:
        self._client = client
        self._known: OrderedDict[str, Place] = OrderedDict()

    def remember(self, info: BrowserInfo) -> Place:
        """Keep what a desktop said."""
        place = Place(
            info.browser_id, info.client_id, info.desktop_id, info.queue, owner=info.owner, session_id=info.session_id
        )
        self._known[info.browser_id] = place
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return place

    def known(self, browser_id: str) -> Place | None:
        """The place of a browser, where it is known already."""
        return self._known.get(browser_id)

    async def of(self, call: Call, browser_id: str) -> Place:
        """The place of a browser that the caller may act on.

        Raises:
            Gone: ``unknown_browser``.
            Refused: ``not_owner``, or ``runner_unavailable`` where some desktop does not answer.
        """
        place = self._known.get(browser_id) or await self._find(browser_id)
        if place.owner != call.owner or session_of(call.caller) not in (None, place.session_id):
            raise make_error(
                ErrorCode.NOT_OWNER,
                "This browser belongs to another session.",
                holds="Nothing was done.",
                do_next="Use a browser that was opened under your own session.",
                browser_id=browser_id,
            )
        call.session_id = call.session_id or place.session_id
        return place

    async def _find(self, browser_id: str) -> Place:
        silent = False
        asked = (self._ask(desktop.queue, browser_id) for desktop in await self._client.desktops())
        for answer in await asyncio.gather(*asked):
            if isinstance(answer, BrowserInfo):
                return self.remember(answer)
            silent = silent or answer.code is not ErrorCode.UNKNOWN_BROWSER
            if answer.code is ErrorCode.BROWSER_GONE:
                raise answer
        raise make_error(
            ErrorCode.RUNNER_UNAVAILABLE if silent else ErrorCode.UNKNOWN_BROWSER,
            "A desktop that may have this browser does not answer." if silent else "There is no such browser.",
            holds="Nothing was done.",
            do_next="Ask again when its runner is up." if silent else "Open a browser first.",
            browser_id=browser_id,
        )

    async def _ask(self, queue: str, browser_id: str) -> BrowserInfo | HandoffError:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await self._client.info(queue, browser_id)
        except TimeoutError:
            return make_error(ErrorCode.RUNNER_UNAVAILABLE, "This desktop does not answer.")
        except HandoffError as error:
            return error
