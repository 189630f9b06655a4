"""A desktop in memory, behind the same activities: it keeps the rules of a hold, and can be told to misbehave."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    Click,
    EffectOutcome,
    EffectReceipt,
    OpenBrowser,
    PageInfo,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.conditions import Observation
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.handoff import (
    BeginHold,
    BeginReceipt,
    CheckCondition,
    CloseReceipt,
    FinishHold,
    FinishReceipt,
    GuardHold,
    HandoffState,
    HoldEnd,
    HoldRequest,
    RevokeReason,
    Surface,
)
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import DESKTOPS_QUEUE, Activities, desktop_queue
from user_handoff.contract.runner import DesktopClaim
from user_handoff.contract.showing import Shown, ShowWindow, WindowShown
from user_handoff.contract.view import AdmitViewer, ViewerAdmitted

TEXT = '- textbox "Password" [id=e1]\n- button "Export" [id=e2]'


@dataclass
class FakeDesktop:
    """One desktop.

    `calls` is what arrived. The knobs of a test: `refuse`, `crash_once` (do it, and lose the receipt), `gates` (wait
    before doing it) and `met`.
    """

    client_id: str = field(default_factory=lambda: new_id("c"))
    desktop_id: str = field(default_factory=lambda: new_id("d"))
    met: bool = True
    refuse: dict[str, ErrorCode] = field(default_factory=dict)
    crash_once: set[str] = field(default_factory=set)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    holds: dict[str, BeginReceipt] = field(default_factory=dict)
    ends: dict[str, "asyncio.Future[HoldEnd]"] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)
    observes: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: what a guard watches for is there."""
    recovering: set[str] = field(default_factory=set)
    opened: dict[str, OpenBrowser] = field(default_factory=dict)
    effects: list[Any] = field(default_factory=list)
    snapshots: list[str] = field(default_factory=list)
    shows: Shown = Shown.RAISED
    skew: timedelta = timedelta()
    """How far this desktop's clock is ahead."""
    guard_rests: timedelta | None = None
    """A clock is put forward only while no activity runs: the guard asks to be called again after so long."""

    @property
    def queue(self) -> str:
        return desktop_queue(self.client_id, self.desktop_id)

    def pages(self, needs_snapshot: bool = False) -> tuple[PageInfo, ...]:
        return tuple(
            PageInfo(page_id=f"p{n}", url="https://portal.example/login", title="Portal", needs_snapshot=needs_snapshot)
            for n in (1, 2)
        )

    async def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.gates:
            await self.gates[name].wait()
        if code := self.refuse.get(name):
            raise to_failure(make_error(code, f"{name} is refused.", holds="Nothing.", do_next="Nothing."))

    def _crash(self, name: str) -> None:
        """Lose the receipt of what was done, once."""
        if name in self.crash_once:
            self.crash_once.remove(name)
            raise RuntimeError("the receipt is lost")

    @activity.defn(name=Activities.CLAIM_DESKTOP)
    async def claim(self) -> DesktopClaim:
        return DesktopClaim(client_id=self.client_id, desktop_id=self.desktop_id, queue=self.queue)

    @activity.defn(name=Activities.BEGIN)
    async def begin(self, hold: BeginHold) -> BeginReceipt:
        await self._called(Activities.BEGIN)
        if hold.handoff_id not in self.holds:
            self.ends[hold.handoff_id] = asyncio.get_running_loop().create_future()
            self.holds[hold.handoff_id] = BeginReceipt(
                handoff_id=hold.handoff_id,
                handoff_fence=new_id("f"),
                surface=Surface(
                    backend="x11", window_id=1, pid=1, process_started=1.0, x=0, y=0, width=800, height=600
                ),
                expires_at=datetime.now(UTC) + self.skew + timedelta(seconds=hold.timeout_seconds),
                expires_in_seconds=hold.timeout_seconds,
                pages=self.pages(),
            )
        self._crash(Activities.BEGIN)
        return self.holds[hold.handoff_id]

    @activity.defn(name=Activities.GUARD)
    async def guard(self, hold: GuardHold) -> HoldEnd:
        await self._called(Activities.GUARD)
        if hold.watch is not None:
            ending = asyncio.ensure_future(self.ends[hold.handoff_id])
            while not self.observes.is_set() and not ending.done():
                activity.heartbeat()
                await asyncio.sleep(0.02)
            if not ending.done():
                return HoldEnd(handoff_id=hold.handoff_id, how="observed", observation=Observation(met=True))
        end = self.ends[hold.handoff_id]
        if self.guard_rests and not end.done():
            raise ApplicationError("nothing yet", next_retry_delay=self.guard_rests)
        while not end.done():
            activity.heartbeat()
            await asyncio.wait([end], timeout=0.2)
        self._crash(Activities.GUARD)
        return end.result()

    @activity.defn(name=Activities.FINISH)
    async def finish(self, hold: FinishHold) -> FinishReceipt:
        await self._called(Activities.FINISH)
        if hold.confirmed:
            self.confirmed.add(hold.handoff_id)
        assert hold.handoff_fence == self.holds[hold.handoff_id].handoff_fence
        self.finished.add(hold.handoff_id)
        self.recovering.add(hold.handoff_id)
        self._crash(Activities.FINISH)
        return FinishReceipt(handoff_id=hold.handoff_id, pages=self.pages(True), state=HandoffState.RECOVERING)

    @activity.defn(name=Activities.CLOSE)
    async def close(self, hold: HoldRequest) -> CloseReceipt:
        await self._called(Activities.CLOSE)
        self.end(hold.handoff_id, "closed")
        self._crash(Activities.CLOSE)
        return CloseReceipt(handoff_id=hold.handoff_id, state=HandoffState.CLOSED)

    @activity.defn(name=Activities.CHECK)
    async def check(self, ask: CheckCondition) -> Observation:
        await self._called(Activities.CHECK)
        return Observation(met=self.met, facts=("url https://portal.example/invoices",), seconds=0.1)

    @activity.defn(name=Activities.OPEN_BROWSER)
    async def open_browser(self, ask: OpenBrowser) -> BrowserInfo:
        await self._called(Activities.OPEN_BROWSER)
        self.opened[ask.browser_id] = ask
        return self._info(ask.browser_id)

    @activity.defn(name=Activities.BROWSER_INFO)
    async def browser_info(self, ask: BrowserRequest) -> BrowserInfo:
        await self._called(Activities.BROWSER_INFO)
        return self._info(ask.browser_id)

    def _info(self, browser_id: str) -> BrowserInfo:
        return BrowserInfo(
            browser_id=browser_id,
            client_id=self.client_id,
            desktop_id=self.desktop_id,
            queue=self.queue,
            state="open",
            pid=1,
            pages=self.pages(bool(self.recovering)),
            idle_seconds_left=1,
            lifetime_seconds_left=1,
            owner=self.opened[browser_id].owner if browser_id in self.opened else "",
            session_id=self.opened[browser_id].session_id if browser_id in self.opened else "",
        )

    @activity.defn(name=Activities.SNAPSHOT)
    async def snapshot(self, ask: SnapshotRequest) -> Snapshot:
        await self._called(Activities.SNAPSHOT)
        page = next(p for p in self.pages() if p.page_id == (ask.page_id or "p1"))
        self.snapshots.append(page.page_id)
        for handoff_id in sorted(self.recovering):
            if f"/{ask.browser_id}/" in handoff_id:
                self.end(handoff_id, "recovered")
        self._crash(Activities.SNAPSHOT)
        return Snapshot(browser_id=ask.browser_id, page=page, snapshot_id=new_id("n"), text=TEXT, pages=self.pages())

    @activity.defn(name=Activities.CLICK)
    async def click(self, effect: Click) -> EffectReceipt:
        await self._called(Activities.CLICK)
        self.effects.append(effect)
        self._crash(Activities.CLICK)
        return EffectReceipt(effect_id=effect.effect_id, outcome=EffectOutcome.COMPLETED)

    @activity.defn(name=Activities.CLOSE_BROWSER)
    async def close_browser(self, ask: BrowserRequest) -> None:
        await self._called(Activities.CLOSE_BROWSER)

    def end(self, handoff_id: str, how: str, reason: RevokeReason | None = None) -> None:
        """End the hold, as if it happened on the desktop."""
        future = self.ends[handoff_id]
        self.recovering.discard(handoff_id)
        if not future.done():
            future.set_result(HoldEnd.model_validate({"handoff_id": handoff_id, "how": how, "reason": reason}))

    def gate(self, name: str) -> asyncio.Event:
        """Make an activity wait until the event is set."""
        return self.gates.setdefault(name, asyncio.Event())

    def look(self, handoff_id: str) -> None:
        """Take the fresh snapshot that ends the recovery."""
        self.end(handoff_id, "recovered")

    def activities(self) -> Sequence[Callable[..., Any]]:
        return (
            self.begin,
            self.guard,
            self.finish,
            self.close,
            self.check,
            self.open_browser,
            self.browser_info,
            self.snapshot,
            self.click,
            self.close_browser,
            self.admit_viewer,
            self.show_window,
        )

    @activity.defn(name=Activities.ADMIT_VIEWER)
    async def admit_viewer(self, request: AdmitViewer) -> ViewerAdmitted:
        raise to_failure(make_error(ErrorCode.VIEW_UNAVAILABLE, "There is nothing to see here.", holds="Nothing."))

    @activity.defn(name=Activities.SHOW_WINDOW)
    async def show_window(self, request: ShowWindow) -> WindowShown:
        await self._called(Activities.SHOW_WINDOW)
        return WindowShown(how=self.shows)

    @contextlib.asynccontextmanager
    async def serving(self, client: Client, *, shared: bool = False) -> AsyncIterator["FakeDesktop"]:
        """Poll this desktop's queue, and the shared one where a test claims a desktop."""
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(
                Worker(
                    client,
                    task_queue=self.queue,
                    activities=self.activities(),
                    # Each hold that a test leaves behind keeps its guard.
                    max_concurrent_activities=2_000,
                    max_heartbeat_throttle_interval=timedelta(milliseconds=200),
                    default_heartbeat_throttle_interval=timedelta(milliseconds=200),
                )
            )
            if shared:
                await stack.enter_async_context(Worker(client, task_queue=DESKTOPS_QUEUE, activities=[self.claim]))
            yield self
