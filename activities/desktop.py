"""What workflows ask of a desktop: one function per thing. Everything that is decided is decided there."""

from collections.abc import Callable
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from user_handoff.activities.typed import typed
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import doors as d
from user_handoff.contract import handoff as h
from user_handoff.contract import showing as s
from user_handoff.contract import states as st
from user_handoff.contract import takeover as t
from user_handoff.contract import view as v
from user_handoff.contract.conditions import Observation
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.names import Activities
from user_handoff.contract.runner import DesktopClaim
from user_handoff.contract.verbs import DesktopVerbs


class DesktopActivities:
    """The activities of one desktop's runner."""

    def __init__(self, desktop: DesktopVerbs) -> None:
        self._desktop = desktop

    def on_own_queue(self) -> list[Callable[..., Any]]:
        """Those that name a browser or this desktop."""
        return [
            self.begin,
            self.guard,
            self.finish,
            self.close,
            self.check,
            self.begin_takeover,
            self.guard_takeover,
            self.renew_takeover,
            self.return_takeover,
            self.lock_ui,
            self.snapshot,
            self.screenshot,
            self.info,
            self.open,
            self.click,
            self.fill,
            self.press,
            self.select,
            self.navigate,
            self.back,
            self.download,
            self.close_page,
            self.save_state,
            self.close_browser,
            self.computer,
            self.observe_computer,
            self.show_window,
            self.admit_viewer,
            self.open_door,
            self.close_door,
            self.list_doors,
        ]

    def on_shared_queue(self) -> list[Callable[..., Any]]:
        """The one by which any free desktop names its own queue."""
        return [self.claim]

    @activity.defn(name=Activities.CLAIM_DESKTOP)
    @typed
    async def claim(self) -> DesktopClaim:
        """Name this desktop's queue; fails, to be tried again elsewhere, while it is full."""
        if not self._desktop.browsers.free:
            raise ApplicationError("this desktop is full", type=ErrorCode.BROWSER_LIMIT)
        identity = self._desktop.identity
        return DesktopClaim(client_id=identity.client_id, desktop_id=identity.desktop_id, queue=identity.queue)

    @activity.defn(name=Activities.BEGIN)
    @typed
    async def begin(self, request: h.BeginHold) -> h.BeginReceipt:
        """Hold a browser for a person."""
        return await self._desktop.begin(request)

    @activity.defn(name=Activities.GUARD)
    @typed
    async def guard(self, request: h.GuardHold) -> h.HoldEnd:
        """Wait for the end of a hold."""
        return await self._desktop.guard(request)

    @activity.defn(name=Activities.FINISH)
    @typed
    async def finish(self, request: h.FinishHold) -> h.FinishReceipt:
        """Take a browser back by its exact fence."""
        return await self._desktop.finish(request)

    @activity.defn(name=Activities.CLOSE)
    @typed
    async def close(self, request: h.HoldRequest) -> h.CloseReceipt:
        """Close the browser of a hold, and the hold with it."""
        return await self._desktop.close(request)

    @activity.defn(name=Activities.BEGIN_TAKEOVER)
    @typed
    async def begin_takeover(self, request: t.BeginTakeover) -> t.TakeoverBegun:
        """Give a person a browser that they want."""
        return await self._desktop.begin_takeover(request)

    @activity.defn(name=Activities.GUARD_TAKEOVER)
    @typed
    async def guard_takeover(self, request: t.GuardTakeover) -> t.TakeoverNow:
        """Wait until a takeover stands elsewhere."""
        return await self._desktop.guard_takeover(request)

    @activity.defn(name=Activities.RENEW_TAKEOVER)
    @typed
    async def renew_takeover(self, request: t.RenewTakeover) -> t.TakeoverRenewed:
        """Renew the lease of a takeover."""
        return await self._desktop.renew_takeover(request)

    @activity.defn(name=Activities.RETURN_TAKEOVER)
    @typed
    async def return_takeover(self, request: t.ReturnTakeover) -> t.TakeoverNow:
        """Take the browser back from the person."""
        return await self._desktop.return_takeover(request)

    @activity.defn(name=Activities.LOCK_UI)
    @typed
    async def lock_ui(self, request: LockUi) -> UiLocked:
        """Drop what a person types through the view, for a moment."""
        return await self._desktop.lock_ui(request)

    @activity.defn(name=Activities.CHECK)
    @typed
    async def check(self, request: h.CheckCondition) -> Observation:
        """Look for a condition."""
        return await self._desktop.check(request)

    @activity.defn(name=Activities.SNAPSHOT)
    @typed
    async def snapshot(self, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page."""
        return await self._desktop.snapshot(request)

    @activity.defn(name=Activities.SCREENSHOT)
    @typed
    async def screenshot(self, request: b.ScreenshotRequest) -> b.Picture:
        """Take a picture that stays on the desktop."""
        return await self._desktop.screenshot(request)

    @activity.defn(name=Activities.BROWSER_INFO)
    @typed
    async def info(self, request: b.BrowserRequest) -> b.BrowserInfo:
        """What may be said of a browser."""
        return await self._desktop.info(request)

    @activity.defn(name=Activities.OPEN_BROWSER)
    @typed
    async def open(self, spec: b.OpenBrowser) -> b.BrowserInfo:
        """Start a browser and go to its first page."""
        return await self._desktop.open_browser(spec)

    @activity.defn(name=Activities.CLICK)
    @typed
    async def click(self, effect: b.Click) -> b.EffectReceipt:
        """Click an element."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.FILL)
    @typed
    async def fill(self, effect: b.Fill) -> b.EffectReceipt:
        """Replace an element's value."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.PRESS)
    @typed
    async def press(self, effect: b.Press) -> b.EffectReceipt:
        """Press a key."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.SELECT)
    @typed
    async def select(self, effect: b.Select) -> b.EffectReceipt:
        """Choose options."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.NAVIGATE)
    @typed
    async def navigate(self, effect: b.Navigate) -> b.EffectReceipt:
        """Go to a URL."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.BACK)
    @typed
    async def back(self, effect: b.Back) -> b.EffectReceipt:
        """Go back one entry."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.DOWNLOAD)
    @typed
    async def download(self, effect: b.Download) -> b.DownloadReceipt:
        """Download a file to the desktop."""
        return await self._desktop.download(effect)

    @activity.defn(name=Activities.CLOSE_PAGE)
    @typed
    async def close_page(self, effect: b.ClosePage) -> b.EffectReceipt:
        """Close a page."""
        return await self._desktop.act(effect)

    @activity.defn(name=Activities.SAVE_STATE)
    @typed
    async def save_state(self, request: st.SaveState) -> st.SavedState:
        """Keep what a browser's sites know of its login; it stays on the desktop."""
        return await self._desktop.save_state(request)

    @activity.defn(name=Activities.CLOSE_BROWSER)
    @typed
    async def close_browser(self, request: b.CloseBrowser) -> None:
        """Close a browser; works while it is held, unless the request says otherwise."""
        await self._desktop.close_browser(request)

    @activity.defn(name=Activities.COMPUTER)
    @typed
    async def computer(self, effect: c.ComputerEffect) -> c.ComputerReceipt:
        """Do one native effect."""
        return await self._desktop.computer(effect)

    @activity.defn(name=Activities.OBSERVE_COMPUTER)
    @typed
    async def observe_computer(self, request: c.ObserveComputer) -> c.DisplayLook:
        """Look at the whole desktop."""
        return await self._desktop.observe_computer(request)

    @activity.defn(name=Activities.ADMIT_VIEWER)
    @typed
    async def admit_viewer(self, request: v.AdmitViewer) -> v.ViewerAdmitted:
        """Let one viewer of a held browser in."""
        return await self._desktop.admit_viewer(request)

    @activity.defn(name=Activities.OPEN_DOOR)
    @typed
    async def open_door(self, request: d.OpenDoor) -> d.DoorOpened:
        """Let a program drive a browser by CDP, for a while."""
        return await self._desktop.open_door(request)

    @activity.defn(name=Activities.CLOSE_DOOR)
    @typed
    async def close_door(self, request: d.DoorRequest) -> d.DoorViews:
        """Close a door, and cut off who came by it."""
        return await self._desktop.close_door(request)

    @activity.defn(name=Activities.LIST_DOORS)
    @typed
    async def list_doors(self, request: b.BrowserRequest) -> d.DoorViews:
        """The doors of a browser that are open."""
        return await self._desktop.list_doors(request)

    @activity.defn(name=Activities.SHOW_WINDOW)
    @typed
    async def show_window(self, request: s.ShowWindow) -> s.WindowShown:
        """Bring the window of a hold to the front, because its person asked."""
        return await self._desktop.show_window(request)
