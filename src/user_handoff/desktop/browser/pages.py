"""One page of a managed browser, named by its target so that it is found again after a restart of anything else."""

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import TypeVar

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from user_handoff.contract.browser import PageInfo
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.urls import without_address
from user_handoff.desktop.snapshots.bindings import Bound, stale
from user_handoff.desktop.snapshots.redact import scrub
from user_handoff.desktop.snapshots.values import Secrets, read_values
from user_handoff.desktop.urls import redact_url

T = TypeVar("T")

_TITLE_SECONDS = 1.0
LOOK_SECONDS = 5.0
"""Everything that reads a page can hang behind a dialog: this long at most."""


class ManagedPage:
    """A page and what the agent may know of it.

    Attributes:
        page_id: Made of the target id: the same for every runner that finds this page.
        target_id: Chromium's id of the page.
        needs_snapshot: Effects are refused until the page was looked at afresh.
        secrets: What was typed into secret fields of its browser, and is scrubbed wherever a page repeats it.
        looking: One snapshot at a time: a second one would kill the ids of the first.
    """

    def __init__(self, page: Page, cdp: CDPSession, target_id: str, secrets: Secrets) -> None:
        self.page = page
        self.secrets = secrets
        self.target_id = target_id
        self.page_id = f"p_{target_id[:16].lower()}"
        self.needs_snapshot = False
        self.looking = asyncio.Lock()
        self._cdp = cdp
        self._bound: Bound | None = None
        self._values: set[str] = set()
        self._found: set[str] = set()

    @classmethod
    async def of(cls, page: Page, secrets: Secrets) -> "ManagedPage":
        """Find out which target a page is.

        Args:
            page: The page.
            secrets: What its browser knows to be secret.

        Raises:
            PlaywrightError: The page is gone already.
        """
        cdp = await page.context.new_cdp_session(page)
        info = await asyncio.wait_for(cdp.send("Target.getTargetInfo"), LOOK_SECONDS)
        return cls(page, cdp, info["targetInfo"]["targetId"], secrets)

    @property
    def gone(self) -> bool:
        """True once the page is closed."""
        return self.page.is_closed()

    async def title(self) -> str:
        """Its title, without what is in its fields; empty where it does not tell both."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            title, values = await asyncio.wait_for(asyncio.gather(self.page.title(), self.values()), _TITLE_SECONDS)
            return scrub(without_address(title), values)
        return ""

    async def whole_title(self) -> str:
        """The same with what is in its fields: for whoever reads these anyway, and takes it out."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            return without_address(await asyncio.wait_for(self.page.title(), _TITLE_SECONDS))
        return ""

    async def values(self) -> set[str]:
        """What is in its fields, was there at the last snapshot, or is known to be secret: not for passing on.

        Raises:
            PlaywrightError, TimeoutError: It does not answer.
        """
        self._found = await read_values(self.page, self.secrets)
        return {*self._found, *self._values, *self.secrets}

    async def info(self, title: str | None = None) -> PageInfo:
        """What may be said of the page: no query, no fragment.

        Args:
            title: Its title, where it was asked for just now.
        """
        title = await self.title() if title is None else title
        return PageInfo(
            page_id=self.page_id,
            url=self.without_values(redact_url(self.page.url)),
            title=self.without_values(title)[:200],
            needs_snapshot=self.needs_snapshot,
        )

    async def document(self) -> str:
        """The loader id of the main document: another one after every navigation."""
        tree = await self.bounded(self._cdp.send("Page.getFrameTree"))
        return str(tree["frameTree"]["frame"]["loaderId"])

    async def previous_url(self) -> str | None:
        """Where going back one entry leads; None where there is no such entry."""
        history = await self.bounded(self._cdp.send("Page.getNavigationHistory"))
        current = int(history["currentIndex"])
        return str(history["entries"][current - 1]["url"]) if current > 0 else None

    async def window_bounds(self) -> dict[str, int | str]:
        """The bounds of the native window that shows this page, as Chromium knows them."""
        answer = await self.bounded(self._cdp.send("Browser.getWindowForTarget"))
        return dict(answer["bounds"])

    async def stop_loading(self) -> None:
        """Have it give up a navigation that is on its way; nothing happens where there is none."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(self._cdp.send("Page.stopLoading"), 1)

    def remember(self, bound: Bound, values: set[str]) -> None:
        """Make these the page's only valid element ids, and these the values to scrub from what is said of it."""
        self._bound = bound
        self._values = values

    def forget(self) -> None:
        """Kill every element id of the page."""
        self._bound = None

    async def bound(self, element_id: str) -> Bound:
        """The snapshot that an element id must be of, on the document that is still there.

        Raises:
            Stale: `stale_element`.
        """
        if self._bound is None or await self.document() != self._bound.document:
            raise stale(element_id)
        return self._bound

    def without_values(self, text: str) -> str:
        """The text without any field's value that was seen last, and without what is known to be secret."""
        return scrub(text, {*self._values, *self._found, *self.secrets})

    async def bounded(self, look: Awaitable[T], seconds: float = LOOK_SECONDS) -> T:
        """Wait for an observation, and no longer than it may take.

        Raises:
            Gone: `page_gone`.
            Refused: `action_timeout`: a dialog may be open.
        """
        try:
            return await asyncio.wait_for(look, seconds)
        except (TimeoutError, PlaywrightTimeout):
            raise make_error(
                ErrorCode.ACTION_TIMEOUT,
                f"The page did not answer within {seconds:g} s.",
                holds="Nothing was changed.",
                do_next="A dialog may be open on it, or its script is busy: look again, or hand over.",
                page_id=self.page_id,
            ) from None
        except PlaywrightError as error:
            if self.gone or "closed" in str(error):
                raise self.gone_error() from None
            raise

    def gone_error(self) -> HandoffError:
        """The refusal of a page that is closed."""
        return make_error(
            ErrorCode.PAGE_GONE,
            "The page was closed.",
            holds="Nothing was done.",
            do_next="Take a snapshot of the browser: it lists the pages that there are.",
            page_id=self.page_id,
        )
