"""A managed browser, as its runner sees it: a supervisor client of the browser's host."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Dialog, Page, Playwright
from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.browser import OpenBrowser, PageInfo
from user_handoff.contract.errors import ErrorCode, HandoffError, Refused, make_error
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.browser.responses import Responses
from user_handoff.desktop.host.control import HostControl, HostStatus, cdp_endpoint
from user_handoff.desktop.host.spec import HostRecord, artifacts_folder
from user_handoff.desktop.snapshots.values import Secrets

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 10
_END_SECONDS = 1
MAX_PAGES = 16
"""Pages of one browser, before an agent's effects are refused until some are closed."""


class ManagedBrowser:
    """One browser: where it lives, who may use it, and which pages it has.

    Attributes:
        spec: What it was opened with.
        record: Its host and its Chromium, by identity.
        control: The channel to its host.
        max_pages: With more open pages, an agent may only close some.
        pages: The open pages, in the order in which they were found; kept up to date.
        responses: What its pages were answered, while somebody wants to know.
        secrets: What was typed into secret fields, or sent from them: scrubbed wherever a page repeats it.
        control_epoch: Rises with every change of control: what was seen under another one does not count.
    """

    def __init__(
        self, spec: OpenBrowser, record: HostRecord, control: HostControl, connection: Browser, seconds_left: float
    ) -> None:
        self.spec = spec
        self.record = record
        self.control = control
        self.pages: list[ManagedPage] = []
        self.max_pages = MAX_PAGES
        self.control_epoch = 0
        self.secrets = Secrets()
        self._connection = connection
        self.responses = Responses(self.context)
        self._arriving: set[asyncio.Task[None]] = set()
        self._current: str | None = None
        self._used = time.monotonic()
        self._ends = time.monotonic() + seconds_left

    @classmethod
    async def attach(
        cls, playwright: Playwright, folder: Path, record: HostRecord, spec: OpenBrowser | None = None
    ) -> "ManagedBrowser":
        """Connect to a host, new or found again.

        Args:
            playwright: The driver.
            folder: The browser's own folder.
            record: The host.
            spec: What the browser is opened with; None reads back what an earlier runner left with the host.

        Raises:
            Gone: `browser_gone`: the host does not answer.
        """
        try:
            control = await HostControl.connect(record.socket)
            if spec is None:
                spec = OpenBrowser.model_validate((await control.status()).slot)
            else:
                await control.set_slot(spec.model_dump(mode="json"))
            connection = await playwright.chromium.connect_over_cdp(
                cdp_endpoint(record.socket),
                no_defaults=True,
                is_local=True,
                artifacts_dir=artifacts_folder(folder),
                timeout=_CONNECT_SECONDS * 1000,
            )
        except (OSError, PlaywrightError, TimeoutError) as error:
            log.warning("browser %s: no connection to its host: %s", record.browser_id, type(error).__name__)
            raise gone(record.browser_id) from None
        left = (await control.status()).lifetime_seconds_left
        browser = cls(spec, record, control, connection, left)
        await browser._start()
        return browser

    async def _start(self) -> None:
        # Without a listener Playwright answers dialogs itself, and a person's OK becomes Cancel.
        self.context.on("dialog", _leave_to_the_person)
        self.context.on("page", self._arrives)
        self.context.on("request", self.secrets.sent)
        for page in self.context.pages:
            self._arrives(page)
        await self.settle()

    @property
    def browser_id(self) -> str:
        """Minted at launch, never reused."""
        return self.spec.browser_id

    @property
    def context(self) -> BrowserContext:
        """The one context of a persistent profile."""
        return self._connection.contexts[0]

    @property
    def lost(self) -> bool:
        """True once the host is gone, and the browser with it."""
        return self.control.closed.is_set()

    def _arrives(self, page: Page) -> None:
        task = asyncio.create_task(self._register(page))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)

    async def _register(self, page: Page) -> None:
        try:
            managed = await ManagedPage.of(page, self.secrets)
        except (PlaywrightError, TimeoutError):
            return  # closed before it could be named
        if page.is_closed() or any(known.target_id == managed.target_id for known in self.pages):
            return
        self.pages.append(managed)
        page.on("close", lambda _: self._leaves(managed))

    def _leaves(self, page: ManagedPage) -> None:
        with contextlib.suppress(ValueError):
            self.pages.remove(page)

    async def settle(self) -> None:
        """Wait until every page that was announced is known."""
        while self._arriving:
            await asyncio.wait(set(self._arriving), timeout=5)

    def page(self, page_id: str | None) -> ManagedPage:
        """The page of an id, or the current one: the one last named while it is open, else the newest.

        Raises:
            Gone: `page_gone`.
        """
        wanted = page_id or self._current
        for page in self.pages:
            if page.page_id == wanted and not page.gone:
                self._current = page.page_id
                return page
        if page_id is None and self.pages:
            self._current = self.pages[-1].page_id
            return self.pages[-1]
        raise make_error(
            ErrorCode.PAGE_GONE,
            "There is no such page in this browser.",
            holds="Nothing was done.",
            do_next="Take a snapshot of the browser: it lists the pages that there are.",
            browser_id=self.browser_id,
            page_id=page_id,
        )

    async def page_infos(self, titles: Mapping[str, str] | None = None) -> tuple[PageInfo, ...]:
        """What may be said of each open page.

        Args:
            titles: By page, where they were asked for just now.
        """
        await self.settle()
        known = titles or {}
        return tuple(await asyncio.gather(*(page.info(known.get(page.page_id)) for page in list(self.pages))))

    async def page_infos_with_code(self) -> tuple[PageInfo, ...]:
        """The same, and of each page whether a program's own code has run in the document that it shows."""
        code_ran = (await self.status()).code_ran
        ran = {page.page_id for page in self.pages if page.target_id in code_ran}
        return tuple(info.model_copy(update={"code_ran": info.page_id in ran}) for info in await self.page_infos())

    async def titles(self, *, but: ManagedPage) -> dict[str, str]:
        """The title of each page but this one."""
        pages = [page for page in self.pages if page is not but]
        titles = await asyncio.gather(*(page.title() for page in pages))
        return {page.page_id: title for page, title in zip(pages, titles, strict=True)}

    def change_control(self) -> None:
        """Control changes hands: what was seen before counts no more, and every element id is dead."""
        self.control_epoch += 1
        for page in self.pages:
            page.forget()

    def use(self) -> None:
        """The agent did or looked at something: the idle clock starts again."""
        self._used = time.monotonic()

    @property
    def idle_seconds_left(self) -> float:
        """Until an unused browser is closed."""
        return self.spec.idle_seconds - (time.monotonic() - self._used)

    @property
    def lifetime_seconds_left(self) -> float:
        """Until the host closes the browser by its own clock."""
        return self._ends - time.monotonic()

    async def status(self) -> HostStatus:
        """What the host says of itself.

        Raises:
            Gone: `browser_gone`.
        """
        try:
            return await asyncio.wait_for(self.control.status(), _CONNECT_SECONDS)
        except (OSError, TimeoutError, HandoffError):
            raise gone(self.browser_id) from None

    @contextlib.asynccontextmanager
    async def telling(self) -> AsyncIterator[None]:
        """Say `browser_gone`, within the block, of a page or hold that went with its browser: it is seen first."""
        try:
            yield
        except Refused as error:
            went = self.lost or all(page.gone for page in self.pages)
            if went and error.code in (ErrorCode.PAGE_GONE, ErrorCode.NOT_HELD):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.control.closed.wait(), _END_SECONDS)
                if self.lost:
                    raise gone(self.browser_id) from None
            raise

    async def detach(self) -> None:
        """Let go of the host; the browser stays as it is."""
        with contextlib.suppress(PlaywrightError):
            await self._connection.close()
        await self.control.aclose()


def _leave_to_the_person(_: Dialog) -> None:
    """Do nothing: the dialog stays on the screen."""


def gone(browser_id: str) -> HandoffError:
    """The error for a browser that has ended."""
    return make_error(
        ErrorCode.BROWSER_GONE,
        "The browser has ended.",
        holds="Its pages and ids are gone; nothing was done.",
        do_next="Open a new browser.",
        browser_id=browser_id,
    )
