"""What a desktop can be asked: the one interface of the real desktop, and of the one in memory for tests."""

from typing import Protocol

from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import doors as d
from user_handoff.contract import handoff as h
from user_handoff.contract import showing as s
from user_handoff.contract import states as st
from user_handoff.contract import takeover as t
from user_handoff.contract import view as v
from user_handoff.contract.conditions import Observation
from user_handoff.contract.locking import LockUi, UiLocked


class Identity(Protocol):
    """Which desktop it is."""

    @property
    def client_id(self) -> str:
        """The machine."""

    @property
    def desktop_id(self) -> str:
        """This life of its desktop."""

    @property
    def queue(self) -> str:
        """The queue that it alone polls."""


class Room(Protocol):
    """Whether there is room on a desktop."""

    @property
    def free(self) -> bool:
        """True where another browser may be opened."""


class DesktopVerbs(Protocol):
    """Each verb says in types what it did, or raises a `HandoffError` and did nothing, unless that says otherwise."""

    @property
    def identity(self) -> Identity:
        """Which desktop it is."""

    @property
    def browsers(self) -> Room:
        """Its browsers."""

    # --- browsers ---

    async def open_browser(self, spec: b.OpenBrowser) -> b.BrowserInfo:
        """Start a browser and go to its first page; the same id again starts nothing more."""

    async def info(self, request: b.BrowserRequest) -> b.BrowserInfo:
        """What may be said of a browser."""

    async def close_browser(self, request: b.BrowserRequest) -> None:
        """Close a browser, also while it is held unless a `CloseBrowser` says otherwise."""

    # --- observing ---

    async def snapshot(self, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page."""

    async def screenshot(self, request: b.ScreenshotRequest) -> b.Picture:
        """Take a picture, which stays on the desktop."""

    async def observe_computer(self, request: c.ObserveComputer) -> c.DisplayLook:
        """Look at the whole desktop."""

    async def check(self, request: h.CheckCondition) -> Observation:
        """Look for a condition."""

    # --- effects ---

    async def act(self, effect: b.PageEffect) -> b.EffectReceipt:
        """Do one effect on a page, at most once."""

    async def download(self, effect: b.Download) -> b.DownloadReceipt:
        """Click what starts a download, and keep the file on the desktop."""

    async def save_state(self, request: st.SaveState) -> st.SavedState:
        """Keep what a browser's sites know of its login; it stays on the desktop."""

    async def computer(self, effect: c.ComputerEffect) -> c.ComputerReceipt:
        """Do one native effect on the whole desktop, at most once."""

    # --- the handoff ---

    async def begin(self, request: h.BeginHold) -> h.BeginReceipt:
        """Hold a browser for a person."""

    async def guard(self, request: h.HoldRequest) -> h.HoldEnd:
        """Wait for the end of a hold."""

    async def finish(self, request: h.HoldRequest) -> h.FinishReceipt:
        """Take a browser back by its exact fence."""

    async def close(self, request: h.HoldRequest) -> h.CloseReceipt:
        """Close the browser of a hold, and the hold with it."""

    # --- doors for other programs ---

    async def open_door(self, request: d.OpenDoor) -> d.DoorOpened:
        """Let a program drive a browser by CDP, for a while."""

    async def close_door(self, request: d.DoorRequest) -> d.DoorViews:
        """Close a door, and cut off who came by it; tells those that are left."""

    async def list_doors(self, request: b.BrowserRequest) -> d.DoorViews:
        """The doors of a browser that are open."""

    # --- a takeover ---

    async def begin_takeover(self, request: t.BeginTakeover) -> t.TakeoverBegun:
        """Give a person a browser that they want."""

    async def guard_takeover(self, request: t.GuardTakeover) -> t.TakeoverNow:
        """Wait until a takeover stands elsewhere than is known."""

    async def renew_takeover(self, request: t.RenewTakeover) -> t.TakeoverRenewed:
        """Renew the lease of a takeover because its person is still there."""

    async def return_takeover(self, request: t.ReturnTakeover) -> t.TakeoverNow:
        """Take the browser back because its person says so."""

    async def lock_ui(self, request: LockUi) -> UiLocked:
        """Drop what a person types through the view of a browser, for a moment."""

    # --- what a person asks for ---

    async def show_window(self, request: s.ShowWindow) -> s.WindowShown:
        """Bring the window of a hold to the front, unless somebody types elsewhere."""

    # --- a person's view ---

    async def admit_viewer(self, request: v.AdmitViewer) -> v.ViewerAdmitted:
        """Let one viewer of a held browser in."""
