"""One desktop: its browsers, holds and effects. What activities and other doors call."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import handoff as h
from user_handoff.contract import states as st
from user_handoff.contract.conditions import Observation
from user_handoff.contract.errors import ErrorCode, HandoffError, Held, make_error
from user_handoff.contract.ids import new_id
from user_handoff.desktop.browser.conditions import watch
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.handing import Handing
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.pictures import keep_picture
from user_handoff.desktop.snapshots.picture import picture_of
from user_handoff.desktop.snapshots.redact import scrub
from user_handoff.desktop.snapshots.take import look_at
from user_handoff.desktop.snapshots.titles import told
from user_handoff.desktop.takeover import telling

log = logging.getLogger(__name__)


class Desktop(Handing):
    """The verbs of one desktop. Each says in types what it did, or refuses in types and did nothing."""

    # --- browsers ---

    async def open_browser(self, spec: b.OpenBrowser) -> b.BrowserInfo:
        """Start a browser, with a saved state where it asks for one, and go to its first page.

        Raises:
            HandoffError: It could not be started, or its page could not be loaded; then the browser stays open. Where
                its saved state cannot be used it is closed again.
        """
        async with self._states.opening(spec.browser_id):
            kept = await self._states.wanted(spec)
            new = spec.browser_id not in self.browsers.ids or kept is not None
            browser = await self.browsers.open(spec)
            if kept is not None:
                async with self._closing_unless_whole(browser):
                    await self._states.restore(browser, kept)
            if new:
                await self._first_page(browser, spec)
            if kept is not None:
                async with self._closing_unless_whole(browser):
                    await self._states.prove(browser, kept, self.check)
            return await self.info(b.BrowserRequest(browser_id=spec.browser_id))

    @contextlib.asynccontextmanager
    async def _closing_unless_whole(self, browser: ManagedBrowser) -> AsyncIterator[None]:
        try:
            yield
        except Held:
            raise  # a person has it: it stays
        except HandoffError:
            await self.browsers.close(browser)
            raise

    async def _first_page(self, browser: ManagedBrowser, spec: b.OpenBrowser) -> None:
        if spec.url != "about:blank":
            await self._effects.on_page(
                browser,
                b.Navigate(
                    browser_id=spec.browser_id,
                    effect_id=new_id("e"),
                    url=spec.url,
                    timeout_seconds=spec.navigation_timeout_seconds,
                ),
            )

    async def info(self, request: b.BrowserRequest) -> b.BrowserInfo:
        """What may be said of a browser: identities, pages, time left.

        Raises:
            Gone: The browser is unknown or has ended.
        """
        browser = self.browsers.get(request.browser_id)
        status = await browser.status()
        hold = self.holds.active(browser.browser_id)
        state = "open" if hold is None else "recovering" if hold.phase is Phase.RECOVERING else "held"
        return b.BrowserInfo(
            browser_id=browser.browser_id,
            client_id=self.identity.client_id,
            desktop_id=self.identity.desktop_id,
            queue=self.identity.queue,
            state=state,
            pid=browser.record.browser.pid,
            pages=await browser.page_infos(),
            idle_seconds_left=max(0.0, browser.idle_seconds_left),
            lifetime_seconds_left=status.lifetime_seconds_left,
            owner=browser.spec.owner,
            session_id=browser.spec.session_id,
            held_by=None if hold is None or state != "held" else telling.held_by(hold),
        )

    # --- observing ---

    async def snapshot(self, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page. What is seen across a change of control is thrown away.

        Raises:
            HandoffError: Typed; `observation_discarded` where control changed hands meanwhile.
        """
        browser = self.browsers.get(request.browser_id)
        browser.use()
        async with browser.telling():
            return await self._snapshot(browser, request)

    async def _snapshot(self, browser: ManagedBrowser, request: b.SnapshotRequest) -> b.Snapshot:
        await browser.settle()
        page = browser.page(request.page_id)
        async with page.looking:
            epoch = browser.control_epoch
            held = self.holds.active(browser.browser_id) is not None
            look, beside, title, titles = await asyncio.gather(
                look_at(page, request, typing=held),
                self._guard.read(browser, page),
                page.whole_title(),
                browser.titles(but=page),
            )
            boundary, refused = self._guard.judge(browser, page, look, beside)
            counts, ended = await self.holds.looked(browser, page, epoch)
            if not counts:
                raise make_error(
                    ErrorCode.OBSERVATION_DISCARDED,
                    "Control changed hands while the page was looked at.",
                    holds="What was seen was thrown away.",
                    do_next="Take the snapshot again.",
                    browser_id=browser.browser_id,
                )
            page.remember(look.ids, look.values)
        pages = await browser.page_infos({**titles, page.page_id: scrub(title, look.values)})
        return b.Snapshot(
            browser_id=browser.browser_id,
            page=next((info for info in pages if info.page_id == page.page_id), None) or await page.info(),
            snapshot_id=look.ids.snapshot_id,
            text=look.text,
            truncated=look.truncated,
            boundary=boundary,
            refused=refused,
            pages=pages,
            resumed=None if ended is None else telling.resumed(ended),
        )

    async def screenshot(self, request: b.ScreenshotRequest) -> b.Picture:
        """Take a picture of a page, with what is typed in it made invisible; it stays on this desktop.

        Raises:
            HandoffError: Typed.
        """
        browser = self.browsers.get(request.browser_id)
        browser.use()
        page = browser.page(request.page_id)
        return await keep_picture(self._pictures, page.page_id, await picture_of(page))

    async def observe_computer(self, request: c.ObserveComputer) -> c.DisplayLook:
        """Look at the whole desktop; it names the look, so that one effect may follow.

        Raises:
            Held: `desktop_held`: a picture, while any handoff is on this desktop.
            Refused: `observation_discarded` where control changed hands meanwhile.
        """
        look = await self._computer.observe(request, self.browsers.pid_of)
        return look.model_copy(update={"windows": await told(look.windows, self.browsers.living)})

    async def check(self, request: h.CheckCondition) -> Observation:
        """Look for a condition until it holds or the time is up.

        Raises:
            Gone: The browser is unknown or has ended.
            Refused: `boundary_reached`: a probe would go where no agent may go.
        """
        browser = self.browsers.get(request.browser_id)
        self._guard.check_condition(browser, request.condition)
        await browser.settle()
        return await watch(request.condition, browser, request.timeout_seconds)

    # --- effects ---

    async def act(self, effect: b.PageEffect) -> b.EffectReceipt:
        """Do one effect on a page, at most once.

        Raises:
            HandoffError: Typed, with what is known of the outcome.
        """
        browser = self._usable(effect.browser_id)
        async with browser.telling():
            return await self._effects.on_page(browser, effect)

    async def download(self, effect: b.Download) -> b.DownloadReceipt:
        """Click what starts a download, and keep the file on this desktop.

        Raises:
            HandoffError: Typed, with what is known of the outcome.
        """
        browser = self._usable(effect.browser_id)
        async with browser.telling():
            return await self._effects.download(browser, effect)

    async def save_state(self, request: st.SaveState) -> st.SavedState:
        """Keep what a browser's sites know of its login; it stays on this desktop.

        Raises:
            HandoffError: Typed; nothing was saved.
        """
        browser = self._usable(request.browser_id)
        async with browser.telling():
            return await self._states.save(browser, request, self.check)

    async def computer(self, effect: c.ComputerEffect) -> c.ComputerReceipt:
        """Do one native effect on the whole desktop, at most once.

        Raises:
            Held: `desktop_held` while any handoff is on this desktop.
            Stale: `stale_generation`: what was seen no longer stands.
            HandoffError: Typed, with what is known of the outcome.
        """
        return await self._effects.native(self._computer, effect, self.browsers.living)
