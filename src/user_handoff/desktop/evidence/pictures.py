"""Pictures before and after a change of control; none is kept of what a person does in between.

The one before must be there before the person is. A begin takes less time than a picture, so it waits for it, for a
moment; only where pictures are asked for. The one after is taken beside everything else.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.snapshots.picture import picture_of

log = logging.getLogger(__name__)

_HELD: Final = (Phase.HELD, Phase.EXPIRED)
_MISSED: Final = "picture_missed"
_WAIT_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Taken:
    content: bytes
    at: float


class ControlPictures:
    """Takes pictures around a hold; what goes wrong with one stands in nobody's way."""

    def __init__(self, evidence: Evidence, holds: Holds, *, wanted: bool) -> None:
        self._evidence = evidence
        self._holds = holds
        self._wanted = wanted
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def before(self, browser: ManagedBrowser, about: str) -> AsyncIterator[None]:
        """Take a picture of a browser that the block gives to a person; it is kept if it is there before they are."""
        if not self._wanted or self._holds.active(browser.browser_id) is not None:
            yield
            return
        taking = asyncio.create_task(self._take(browser))
        try:
            await asyncio.wait({taking}, timeout=_WAIT_SECONDS)
            yield
        except BaseException:
            taking.cancel()
            raise
        if not taking.done():
            taking.cancel()
            self._missed(browser, about, "before", "too_slow")
        else:
            self._keep(browser, about, "before", taking.result())

    def after(self, browser: ManagedBrowser, about: str) -> None:
        """Take a picture of a browser that a person has just given back."""
        if not self._wanted:
            return
        task = asyncio.create_task(self._after(browser, about))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Take no more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _after(self, browser: ManagedBrowser, about: str) -> None:
        epoch = browser.control_epoch
        taken = await self._take(browser)
        self._keep(browser, about, "after", taken if browser.control_epoch == epoch else None)

    async def _take(self, browser: ManagedBrowser) -> _Taken | None:
        """A picture of the current page; None where there is none, or a person had the browser when it was done."""
        try:
            content = await picture_of(browser.page(None))
        except (HandoffError, PlaywrightError, TimeoutError) as error:
            log.info("browser %s: no picture: %s", browser.browser_id, type(error).__name__)
            return None
        active = self._holds.active(browser.browser_id)
        held = active is not None and active.phase in _HELD
        return None if held else _Taken(content, time.monotonic())

    def _keep(self, browser: ManagedBrowser, about: str, which: str, taken: _Taken | None) -> None:
        if taken is None:
            self._missed(browser, about, which, "not_taken")
            return
        self._evidence.keep_picture(
            taken.content, f"picture_{which}", browser_id=browser.browser_id, about=about, taken=taken.at
        )

    def _missed(self, browser: ManagedBrowser, about: str, which: str, why: str) -> None:
        self._evidence.note(_MISSED, browser_id=browser.browser_id, about=about, which=which, why=why)
