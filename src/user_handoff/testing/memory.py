"""The verbs of a desktop, in memory."""

import asyncio
import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import doors as d
from user_handoff.contract import handoff as h
from user_handoff.contract import showing as s
from user_handoff.contract import states as st
from user_handoff.contract import view as v
from user_handoff.contract.claims import browser_id_reused, digest_of_effect
from user_handoff.contract.conditions import Observation
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.names import desktop_queue
from user_handoff.contract.runner import DesktopClaim
from user_handoff.testing.browser import MemoryBrowser
from user_handoff.testing.conditions import observe
from user_handoff.testing.effects import Done, Effects
from user_handoff.testing.holds import Hold, Holds
from user_handoff.testing.pages import Site
from user_handoff.testing.person import ScriptedPerson
from user_handoff.testing.states import States

_LOOK_SECONDS: Final = 0.05
_PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
"""What every picture of it shows."""


class _Browsers(dict[str, MemoryBrowser]):
    """The browsers that are open, by their ids."""

    free = True


class MemoryDesktop:
    """What `contract.verbs.DesktopVerbs` says, without a desktop."""

    def __init__(
        self,
        site: Site,
        folder: Path,
        next_person: Callable[[], ScriptedPerson],
        on_guard: Callable[[Hold], None],
        done: list[Done],
    ) -> None:
        client_id, desktop_id = new_id("c"), new_id("d")
        self.identity = DesktopClaim(
            client_id=client_id, desktop_id=desktop_id, queue=desktop_queue(client_id, desktop_id)
        )
        self.browsers = _Browsers()
        self._site = site
        self._folder = folder
        self._next_person = next_person
        self._on_guard = on_guard
        self._ended: set[str] = set()
        self._holds = Holds()
        self._effects = Effects(self._holds, folder, done)
        self._states = States()

    def fail_next(self, code: ErrorCode) -> None:
        """Let the next effect fail."""
        self._effects.failures.append(code)

    def end_browser(self, browser_id: str, reason: h.RevokeReason | None) -> None:
        """End a browser and its hold; None: it is closed on purpose."""
        browser = self._get(browser_id)
        hold = self._holds.active(browser)
        if hold is not None:
            hold.end("closed" if reason is None else "revoked", reason)
        del self.browsers[browser_id]
        self._ended.add(browser_id)

    # --- browsers ---

    async def open_browser(self, spec: b.OpenBrowser) -> b.BrowserInfo:
        """Open a browser; the same id again opens nothing more."""
        if spec.browser_id in self._ended:
            raise _gone(spec.browser_id)
        known = self.browsers.get(spec.browser_id)
        if known is not None and digest_of_effect(known.spec) != digest_of_effect(spec):
            raise browser_id_reused(spec.browser_id)
        if known is None:
            browser = MemoryBrowser(spec, self._site)
            self._states.restore(browser)
            self.browsers[spec.browser_id] = browser
        return await self.info(b.BrowserRequest(browser_id=spec.browser_id))

    async def info(self, request: b.BrowserRequest) -> b.BrowserInfo:
        """What may be said of a browser."""
        browser = self._get(request.browser_id)
        hold = self._holds.active(browser)
        return b.BrowserInfo(
            browser_id=request.browser_id,
            client_id=self.identity.client_id,
            desktop_id=self.identity.desktop_id,
            queue=self.identity.queue,
            state="open" if hold is None else "recovering" if hold.finished else "held",
            pid=1,
            pages=browser.page_infos(),
            idle_seconds_left=browser.spec.idle_seconds,
            lifetime_seconds_left=browser.spec.lifetime_seconds,
            owner=browser.spec.owner,
            session_id=browser.spec.session_id,
        )

    async def close_browser(self, request: b.BrowserRequest) -> None:
        """Close a browser; again changes nothing."""
        if request.browser_id in self._ended:
            return
        if isinstance(request, b.CloseBrowser) and request.unless_held:
            self._holds.check_close(self._get(request.browser_id))
        self.end_browser(request.browser_id, None)

    # --- observing ---

    async def snapshot(self, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page."""
        browser = self._get(request.browser_id)
        browser.tab(request.page_id)
        self._holds.looked(browser, request.page_id)
        return browser.snapshot(request)

    async def screenshot(self, request: b.ScreenshotRequest) -> b.Picture:
        """Take a picture, which shows nothing."""
        self._get(request.browser_id).tab(request.page_id)
        return self._picture()

    async def observe_computer(self, request: c.ObserveComputer) -> c.DisplayLook:
        """Look at the desktop."""
        if request.screenshot:
            self._holds.check_effect(None)
        held = self._holds.active()
        windows = tuple(
            c.WindowInfo(
                window_id=number,
                pid=1,
                title="" if held and held.browser is browser else browser.shown(browser.front).title,
                title_withheld=held is not None and held.browser is browser,
                x=0,
                y=0,
                width=1280,
                height=800,
                focused=number == 1,
            )
            for number, browser in enumerate(self.browsers.values(), 1)
        )
        return self._effects.look(windows, self._picture() if request.screenshot else None)

    async def check(self, request: h.CheckCondition) -> Observation:
        """Look for a condition, once."""
        return observe(self._get(request.browser_id), request.condition)

    # --- effects ---

    async def act(self, effect: b.PageEffect) -> b.EffectReceipt:
        """Do one effect, at most once."""
        browser = self._get(effect.browser_id)
        return self._effects.known(effect) or self._effects.on_page(browser, effect)

    async def download(self, effect: b.Download) -> b.DownloadReceipt:
        """Download a file, at most once."""
        browser = self._get(effect.browser_id)
        known: b.DownloadReceipt | None = self._effects.known(effect)
        return known or self._effects.download(browser, effect)

    async def save_state(self, request: st.SaveState) -> st.SavedState:
        """Keep which walls were passed."""
        browser = self._get(request.browser_id)
        self._holds.check_effect(browser)
        return self._states.save(browser, request)

    async def computer(self, effect: c.ComputerEffect) -> c.ComputerReceipt:
        """Do one native effect, at most once."""
        known: c.ComputerReceipt | None = self._effects.known(effect)
        return known or self._effects.native(effect)

    # --- the handoff ---

    async def begin(self, request: h.BeginHold) -> h.BeginReceipt:
        """Hold a browser for the next person."""
        return self._holds.begin(self._get(request.browser_id), request, self._next_person).receipt

    async def guard(self, request: h.HoldRequest) -> h.HoldEnd:
        """Wait for the end of a hold; the person begins now."""
        hold = self._holds.checked(request)
        self._on_guard(hold)
        watch = request.watch if isinstance(request, h.GuardHold) else None
        while watch is not None and hold.active:
            if (seen := observe(hold.browser, watch)).met:
                return h.HoldEnd(handoff_id=request.handoff_id, how="observed", observation=seen)
            await asyncio.wait([hold.over], timeout=_LOOK_SECONDS)
        return await asyncio.shield(hold.over)

    async def finish(self, request: h.HoldRequest) -> h.FinishReceipt:
        """Take a browser back by its exact fence."""
        self._get(request.browser_id)
        return self._holds.finish(request)

    async def close(self, request: h.HoldRequest) -> h.CloseReceipt:
        """Close the browser of a hold, and the hold with it."""
        self._holds.checked(request)
        await self.close_browser(b.BrowserRequest(browser_id=request.browser_id))
        return h.CloseReceipt(handoff_id=request.handoff_id, state=h.HandoffState.CLOSED)

    # --- a takeover: nobody sits at a desktop in memory ---

    async def _nobody(self, request: object) -> NoReturn:
        """Refused: ``handoff_unsupported``."""
        raise _nobody_here()

    begin_takeover = guard_takeover = renew_takeover = return_takeover = _nobody

    async def lock_ui(self, request: LockUi) -> UiLocked:
        """Nothing is typed here by anybody: the lock is as good as set."""
        browser = self._get(request.browser_id)
        if browser.spec.owner != request.owner:
            raise make_error(ErrorCode.NOT_OWNER, "The browser belongs to another principal.", holds="Nothing changed.")
        return UiLocked(browser_id=request.browser_id, lock_id=new_id("k"), seconds=request.seconds)

    async def admit_viewer(self, request: v.AdmitViewer) -> v.ViewerAdmitted:
        """Refused: there is nothing to see."""
        raise make_error(
            ErrorCode.VIEW_UNAVAILABLE,
            "A desktop in memory has no picture.",
            holds="Nobody was let in.",
            do_next="Use a real desktop to look at it.",
        )

    async def open_door(self, request: d.OpenDoor) -> d.DoorOpened:
        """Refused: there is no browser behind it."""
        raise make_error(
            ErrorCode.HANDOFF_UNSUPPORTED,
            "A desktop in memory has no browser that speaks CDP.",
            holds="No door was opened.",
            do_next="Use a real desktop to drive a browser by CDP.",
        )

    async def close_door(self, request: d.DoorRequest) -> d.DoorViews:
        """There is none."""
        self._get(request.browser_id)
        return d.DoorViews()

    async def list_doors(self, request: b.BrowserRequest) -> d.DoorViews:
        """There is none."""
        self._get(request.browser_id)
        return d.DoorViews()

    async def show_window(self, request: s.ShowWindow) -> s.WindowShown:
        """There is no window."""
        self._get(request.browser_id)
        return s.WindowShown(how=s.Shown.RAISED)

    def _picture(self) -> b.Picture:
        path = self._folder / "picture.png"
        path.write_bytes(_PIXEL)
        return b.Picture(path=str(path), sha256=hashlib.sha256(_PIXEL).hexdigest(), width=1, height=1)

    def _get(self, browser_id: str) -> MemoryBrowser:
        if browser_id in self.browsers:
            return self.browsers[browser_id]
        if browser_id in self._ended:
            raise _gone(browser_id)
        raise make_error(
            ErrorCode.UNKNOWN_BROWSER,
            "This desktop has no browser of that id.",
            holds="Nothing was done.",
            do_next="Use the id that opening the browser returned.",
            browser_id=browser_id[:64],
        )


def _nobody_here() -> HandoffError:
    return make_error(
        ErrorCode.HANDOFF_UNSUPPORTED,
        "Nobody can take over on a desktop in memory.",
        holds="Nothing was begun.",
        do_next="Try takeovers on a real desktop, such as `handoff runner --virtual`.",
    )


def _gone(browser_id: str) -> HandoffError:
    return make_error(
        ErrorCode.BROWSER_GONE,
        "The browser has ended.",
        holds="Nothing was done.",
        do_next="Open a new one, under a new id.",
        browser_id=browser_id[:64],
    )
