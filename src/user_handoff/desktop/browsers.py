"""The browsers of one desktop: opened, found again, and closed when their time is up."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Playwright

from user_handoff.contract.browser import OpenBrowser
from user_handoff.contract.claims import browser_id_reused, digest_of_effect
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import RevokeReason
from user_handoff.desktop.browser.managed import ManagedBrowser, gone
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.handoff.holds import Holds, window_class
from user_handoff.desktop.host.control import HostControl
from user_handoff.desktop.host.launch import chromium_path, find_hosts, launch_host
from user_handoff.desktop.host.spec import HostEnd, HostRecord, HostSpec
from user_handoff.desktop.state import private_folder

log = logging.getLogger(__name__)

_REAP_SECONDS = 1.0
_ATTACH_ATTEMPTS = 4
_REASONS = {
    HostEnd.CLOSED: None,
    HostEnd.LIFETIME: RevokeReason.LIFETIME,
    HostEnd.SHUTDOWN: RevokeReason.SHUTDOWN,
    HostEnd.WINDOW_CLOSED: RevokeReason.WINDOW_CLOSED,
    HostEnd.CRASHED: RevokeReason.BROWSER_CRASHED,
}


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """How many browsers and pages a desktop carries.

    Attributes:
        browsers: Open at once.
        pages: Open at once in one browser, before an agent may open no more.
    """

    browsers: int = 4
    pages: int = 16


class Browsers:
    """Who lives on this desktop. A browser that ends is noticed, and its hold with it."""

    def __init__(
        self,
        folder: Path,
        sockets: Path,
        display: Display,
        playwright: Playwright,
        holds: Holds,
        *,
        sandbox: bool,
        limits: BrowserLimits,
        ledger: Path | None = None,
    ) -> None:
        self.folder = private_folder(folder)
        self._sockets = sockets
        self._display = display
        self._playwright = playwright
        self._holds = holds
        self._sandbox = sandbox
        self._ledger = ledger
        self.limits = limits
        self._known: dict[str, ManagedBrowser] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: dict[str, RevokeReason | None] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        """The browsers that live now."""
        return tuple(self._known)

    @property
    def living(self) -> tuple["ManagedBrowser", ...]:
        """The same themselves."""
        return tuple(self._known.values())

    def pid_of(self, browser_id: str) -> int | None:
        """The main process of a browser; None where it does not live."""
        browser = self._known.get(browser_id)
        return None if browser is None or browser.lost else browser.record.browser.pid

    @property
    def free(self) -> bool:
        """True where another browser may be opened."""
        return len(self._known) < self.limits.browsers

    async def adopt(self) -> dict[str, ManagedBrowser]:
        """Find the browsers that an earlier runner of this desktop left standing."""
        for record in find_hosts(self.folder):
            browser = await self._attach(record)
            if browser is None:
                log.warning("browser %s was found and cannot be driven: closed", record.browser_id)
                await _close_host(record)
                continue
            self._add(browser)
            log.info("browser %s: found again", browser.browser_id)
        self._spawn(self._reap())
        return dict(self._known)

    async def _attach(self, record: HostRecord) -> ManagedBrowser | None:
        # Connecting waits for a page whose navigation has no answer yet: another attempt may find it loaded.
        for _ in range(_ATTACH_ATTEMPTS):
            try:
                return await ManagedBrowser.attach(self._playwright, self.folder / record.browser_id, record)
            except (HandoffError, ValueError) as error:
                # what does not fit a model is quoted by its error: an address may be in it
                said = error if isinstance(error, HandoffError) else type(error).__name__
                log.warning("browser %s: %s", record.browser_id, said)
        return None

    async def open(self, spec: OpenBrowser) -> ManagedBrowser:
        """Start a browser, or return the one of this id that runs.

        Raises:
            Refused: `browser_limit`, or `id_reused`: the one of this id was opened with other arguments.
            Gone: `browser_gone`: a browser of this id has lived; an id is never used again.
            SetupError: Chromium could not be started.
        """
        if (known := self._known.get(spec.browser_id)) is not None:
            if digest_of_effect(known.spec) != digest_of_effect(spec):
                raise browser_id_reused(spec.browser_id)
            return known
        folder = self.folder / spec.browser_id
        if folder.exists():
            raise gone(spec.browser_id)
        if not self.free:
            raise make_error(
                ErrorCode.BROWSER_LIMIT,
                f"This desktop has its {self.limits.browsers} browsers open.",
                holds="Nothing was opened.",
                do_next="Close one, or use another desktop.",
            )
        host = HostSpec(
            browser_id=spec.browser_id,
            folder=private_folder(folder),
            socket=self._sockets / f"{spec.browser_id}.sock",
            display=self._display.name,
            xauthority=self._display.xauthority,
            executable=chromium_path(),
            sandbox=self._sandbox,
            window_class=window_class(spec.browser_id),
            lifetime_seconds=spec.lifetime_seconds,
            visible=spec.visible,
            persistent=spec.persistent,
            ledger=self._ledger,
        )
        record = await launch_host(host)
        browser = await ManagedBrowser.attach(self._playwright, folder, record, spec)
        self._add(browser)
        log.info("browser %s: opened", browser.browser_id)
        return browser

    def get(self, browser_id: str) -> ManagedBrowser:
        """The browser of an id.

        Raises:
            Gone: `browser_gone` or `unknown_browser`.
        """
        browser = self._known.get(browser_id)
        if browser is not None and not browser.lost:
            return browser
        if browser is not None or (self.folder / browser_id).exists():
            raise gone(browser_id)
        raise make_error(
            ErrorCode.UNKNOWN_BROWSER,
            "This desktop has no browser of that id.",
            holds="Nothing was done.",
            do_next="Use the id that opening the browser returned, on the desktop that opened it.",
            browser_id=browser_id[:64],
        )

    async def close(self, browser: ManagedBrowser, reason: RevokeReason | None = None) -> None:
        """Close a browser, and end its hold.

        Args:
            browser: The browser.
            reason: Why it is taken away; None where it is closed on purpose.
        """
        self._closing.setdefault(browser.browser_id, reason)
        await browser.control.close_browser()
        await self._end(browser)

    def why_ended(self, browser_id: str) -> RevokeReason | None:
        """Why the browser of an id is gone; None where it was closed on purpose."""
        return _REASONS[HostEnd.read(self.folder / browser_id)]

    def _add(self, browser: ManagedBrowser) -> None:
        self._known[browser.browser_id] = browser
        browser.max_pages = self.limits.pages
        browser.control.on_look = lambda hold_id: self._spawn(self._looked(browser, hold_id))

        async def watch() -> None:
            await browser.control.closed.wait()
            await self._end(browser)

        self._spawn(watch())

    async def _looked(self, browser: ManagedBrowser, hold_id: str) -> None:
        try:
            await self._holds.looked_through_door(browser, hold_id)
        except HandoffError as error:
            log.warning("browser %s: not freed for a program that looks: %s", browser.browser_id, error.code)

    async def _end(self, browser: ManagedBrowser) -> None:
        if self._known.pop(browser.browser_id, None) is None:
            return
        reason = self._closing.pop(browser.browser_id, self.why_ended(browser.browser_id))
        await self._holds.end(browser.browser_id, reason)
        await browser.detach()
        log.info("browser %s: ended (%s)", browser.browser_id, reason or "closed")

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_REAP_SECONDS)
            for browser in list(self._known.values()):
                hold = self._holds.active(browser.browser_id)
                if browser.idle_seconds_left <= 0 and not (hold and hold.protects_from_idle):
                    await self.close(browser, RevokeReason.IDLE)
                elif browser.lifetime_seconds_left <= 0:
                    await self.close(browser, RevokeReason.LIFETIME)

    async def shutdown(self) -> None:
        """Close every browser: the desktop ends; or its display did, and took them with it."""
        await self._stop_tasks()
        stands = await asyncio.to_thread(self._display.alive)
        reason = RevokeReason.SHUTDOWN if stands else RevokeReason.BROWSER_CRASHED
        await asyncio.gather(*(self.close(browser, reason) for browser in list(self._known.values())))

    async def detach(self) -> None:
        """Let go of every browser; they stand for the next runner."""
        await self._stop_tasks()
        await asyncio.gather(*(browser.detach() for browser in list(self._known.values())))

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stop_tasks(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _close_host(record: HostRecord) -> None:
    with contextlib.suppress(HandoffError, OSError):
        control = await HostControl.connect(record.socket)
        await control.close_browser()
        await control.aclose()
