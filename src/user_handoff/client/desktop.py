"""A desktop's verbs for programs that have no workflow of their own: each is one standalone activity."""

import asyncio
from datetime import timedelta
from typing import Any, Final, TypeVar

from temporalio.client import ActivityFailureError
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, RetryPolicy
from temporalio.exceptions import ActivityAlreadyStartedError, ApplicationError, TimeoutError, TimeoutType

from user_handoff.client.calls import ask
from user_handoff.client.client import HandoffClient
from user_handoff.contract import browser as b
from user_handoff.contract.claims import browser_id_reused, digest_of_effect
from user_handoff.contract.computer import (
    ComputerEffect,
    ComputerReceipt,
    DisplayLook,
    ObserveComputer,
    TypeText,
)
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import new_id
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.names import DESKTOPS_QUEUE, Activities, Workflows
from user_handoff.contract.runner import DesktopClaim, RunnerInfo, RunnerView
from user_handoff.contract.showing import ShowWindow, WindowShown
from user_handoff.contract.states import SavedState, SaveState
from user_handoff.contract.takeover import RenewTakeover, TakeoverRenewed
from user_handoff.contract.view import AdmitViewer, ViewerAdmitted

T = TypeVar("T")

QUEUE_PATIENCE: Final = timedelta(seconds=20)
"""How long a desktop that nobody serves is waited for."""

_MARGIN: Final = timedelta(seconds=15)
"""What is left to a desktop beyond the time that it was given itself."""

_ONCE: Final = RetryPolicy(maximum_attempts=1)
_AGAIN: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_attempts=3)
_WHILE_FULL: Final = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=5))

_EFFECTS: Final[dict[type[b.PageEffect], str]] = {
    b.Click: Activities.CLICK,
    b.Fill: Activities.FILL,
    b.Press: Activities.PRESS,
    b.Select: Activities.SELECT,
    b.Navigate: Activities.NAVIGATE,
    b.Back: Activities.BACK,
    b.ClosePage: Activities.CLOSE_PAGE,
}


class DesktopClient(HandoffClient):
    """Handoffs and sessions, and what a desktop can do.

    A desktop is named by its queue, which `claim` and `BrowserInfo` tell. Effects are done at most once: the same
    effect id asked again returns the receipt of the first time, and one that was refused is tried again. All raise
    `HandoffError`: `Refused` where nothing was done, ``runner_unavailable`` where no desktop took it, and
    `OutcomeUnknown` where it was started and its end was not seen.
    """

    async def claim(self, within_seconds: float = 20) -> DesktopClaim:
        """Any desktop that has room.

        Args:
            within_seconds: How long to wait for one.

        Raises:
            Refused: ``runner_unavailable`` or ``browser_limit``.
        """
        within = timedelta(seconds=within_seconds)
        return await self._call(
            DESKTOPS_QUEUE, Activities.CLAIM_DESKTOP, None, DesktopClaim, new_id("a"), 15, _WHILE_FULL, within
        )

    async def desktops(self, limit: int = 1_000) -> list[RunnerInfo]:
        """The desktops that are online, as their runners said last.

        Args:
            limit: Look at so many at most.
        """
        query = f"WorkflowType = '{Workflows.RUNNER}' AND ExecutionStatus = 'Running'"

        async def listed() -> list[str]:
            return [row.id async for row in self.temporal.list_workflows(query, limit=limit)]

        async def view(workflow_id: str) -> RunnerView | None:
            handle = self.temporal.get_workflow_handle(workflow_id)
            try:
                return await self._again(lambda: handle.query(Workflows.VIEW, result_type=RunnerView), workflow_id)
            except HandoffError:
                return None

        found = await asyncio.gather(*(view(row) for row in await self._again(listed, "")))
        return [v.info for v in found if v is not None and v.online]

    async def open_browser(self, queue: str, spec: b.OpenBrowser) -> b.BrowserInfo:
        """Start a browser; opening the same browser id again opens nothing more.

        Raises:
            Refused: ``id_reused``: it was asked for under this id before, with other arguments.
        """
        seconds, activity_id = spec.navigation_timeout_seconds + 45, f"open.{spec.browser_id}"
        info = await self._call(queue, Activities.OPEN_BROWSER, spec, b.BrowserInfo, activity_id, seconds, _AGAIN)
        # One id on all desktops, so the answer may be that of an earlier call: Temporal keeps what that one asked for.
        handle = self.temporal.get_activity_handle(activity_id)
        described = await self._again(lambda: handle.describe(include_input=True), activity_id)
        asked = await described.input([b.OpenBrowser])
        if asked and digest_of_effect(asked[0]) != digest_of_effect(spec):
            raise browser_id_reused(spec.browser_id)
        return info

    # --- observing ---

    async def snapshot(self, queue: str, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page, also while it is held."""
        return await self._look(queue, Activities.SNAPSHOT, request, b.Snapshot)

    async def screenshot(self, queue: str, request: b.ScreenshotRequest) -> b.Picture:
        """Take a picture, which stays on the desktop."""
        return await self._look(queue, Activities.SCREENSHOT, request, b.Picture)

    async def info(self, queue: str, browser_id: str) -> b.BrowserInfo:
        """State and pages of a browser."""
        return await self._look(queue, Activities.BROWSER_INFO, b.BrowserRequest(browser_id=browser_id), b.BrowserInfo)

    async def observe(self, queue: str, request: ObserveComputer) -> DisplayLook:
        """Look at the whole desktop."""
        return await self._look(queue, Activities.OBSERVE_COMPUTER, request, DisplayLook)

    # --- acting ---

    async def act(self, queue: str, effect: b.PageEffect) -> b.EffectReceipt:
        """Do any effect on a page, at most once."""
        if isinstance(effect, b.Download):
            return await self.download(queue, effect)
        return await self._act(queue, _EFFECTS[type(effect)], effect, b.EffectReceipt)

    async def click(self, queue: str, effect: b.Click) -> b.EffectReceipt:
        """Click an element."""
        return await self.act(queue, effect)

    async def fill(self, queue: str, effect: b.Fill) -> b.EffectReceipt:
        """Replace an element's value. Never with a secret: it would be kept with the activity."""
        return await self.act(queue, effect)

    async def press(self, queue: str, effect: b.Press) -> b.EffectReceipt:
        """Press a key or chord."""
        return await self.act(queue, effect)

    async def select(self, queue: str, effect: b.Select) -> b.EffectReceipt:
        """Choose options by their labels."""
        return await self.act(queue, effect)

    async def navigate(self, queue: str, effect: b.Navigate) -> b.EffectReceipt:
        """Go to a URL."""
        return await self.act(queue, effect)

    async def back(self, queue: str, effect: b.Back) -> b.EffectReceipt:
        """Go back one entry."""
        return await self.act(queue, effect)

    async def close_page(self, queue: str, effect: b.ClosePage) -> b.EffectReceipt:
        """Close one page."""
        return await self.act(queue, effect)

    async def download(self, queue: str, effect: b.Download) -> b.DownloadReceipt:
        """Click what starts a download; the file stays on the desktop."""
        return await self._act(queue, Activities.DOWNLOAD, effect, b.DownloadReceipt)

    async def save_state(self, queue: str, request: SaveState) -> SavedState:
        """Keep what a browser's sites know of a login, on its desktop; under the same effect id it is saved once."""
        seconds = 30 + request.probe_seconds
        return await self._call(
            queue, Activities.SAVE_STATE, request, SavedState, f"state.{request.effect_id}", seconds, _AGAIN
        )

    async def lock_ui(self, queue: str, request: LockUi) -> UiLocked:
        """Drop what a person types through the view of a browser, for a moment; they end that by one click."""
        return await self._call(queue, Activities.LOCK_UI, request, UiLocked, new_id("a"), 10, _ONCE)

    async def renew_takeover(self, queue: str, request: RenewTakeover) -> TakeoverRenewed:
        """Say that who took over is still there; a sign of life that comes late counts for nothing."""
        name = Activities.RENEW_TAKEOVER
        return await self._call(queue, name, request, TakeoverRenewed, new_id("a"), 5, _ONCE, timedelta(seconds=5))

    async def admit_viewer(self, queue: str, request: AdmitViewer) -> ViewerAdmitted:
        """Let one viewer of a held browser in. The ticket's hash alone is sent."""
        return await self._call(
            queue, Activities.ADMIT_VIEWER, request, ViewerAdmitted, f"view.{request.viewer_id}", 10, _ONCE
        )

    async def close_browser(self, queue: str, browser_id: str, *, unless_held: bool = False) -> None:
        """Close a browser, also while it is held: its handoff ends `closed` then. `unless_held`: not then."""
        # A desktop of before knows no `unless_held`, and refuses what names it.
        named = b.BrowserRequest(browser_id=browser_id)
        request = b.CloseBrowser(browser_id=browser_id, unless_held=True) if unless_held else named
        await self._call(queue, Activities.CLOSE_BROWSER, request, type(None), new_id("a"), 30, _AGAIN)

    async def computer(self, queue: str, effect: ComputerEffect) -> ComputerReceipt:
        """Do one native effect on the whole desktop, at most once."""
        typing = len(effect.action.text) / 50 if isinstance(effect.action, TypeText) else 0
        return await self._call(
            queue, Activities.COMPUTER, effect, ComputerReceipt, _activity_id(effect), 30 + typing, _ONCE
        )

    async def show_window(self, queue: str, request: ShowWindow) -> WindowShown:
        """Bring the window of a hold to the front, once: it is not asked for again after a lost answer."""
        return await self._call(queue, Activities.SHOW_WINDOW, request, WindowShown, new_id("a"), 5, _ONCE)

    async def _act(self, queue: str, name: str, effect: b.PageEffect, result: type[T]) -> T:
        return await self._call(queue, name, effect, result, _activity_id(effect), effect.timeout_seconds, _ONCE)

    async def _look(self, queue: str, name: str, request: object, result: type[T]) -> T:
        return await self._call(queue, name, request, result, new_id("a"), 30, _AGAIN)

    async def _call(
        self,
        queue: str,
        name: str,
        request: object,
        result: type[T],
        activity_id: str,
        seconds: float,
        retry: RetryPolicy,
        within: timedelta | None = None,
    ) -> T:
        async def call() -> T:
            try:
                answer: T = await self.temporal.execute_activity(
                    name,
                    args=[] if request is None else [request],
                    id=activity_id,
                    task_queue=queue,
                    result_type=result,
                    schedule_to_start_timeout=QUEUE_PATIENCE,
                    start_to_close_timeout=timedelta(seconds=seconds) + _MARGIN,
                    schedule_to_close_timeout=within,
                    retry_policy=retry,
                    id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
                    # What failed may be asked again: the desktop's own ledger knows whether it was done.
                    id_reuse_policy=ActivityIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                )
            except ActivityAlreadyStartedError:
                answer = await self.temporal.get_activity_handle(activity_id, result_type=result).result()
            return answer

        try:
            return await ask(call, name, patience_seconds=self._patience, receipt=retry is _ONCE, bounded=False)
        except ActivityFailureError as failure:
            raise from_failure(failure) or _untyped(failure, name) from failure


def _activity_id(effect: b.PageEffect | ComputerEffect) -> str:
    """Another effect under the same effect id is another activity: the desktop is asked, which refuses it."""
    return f"{effect.effect_id}.{digest_of_effect(effect)[:16]}"


def _untyped(failure: ActivityFailureError, name: str) -> HandoffError:
    cause: Any = failure.cause
    if isinstance(cause, ApplicationError) and cause.type == ErrorCode.BROWSER_LIMIT:
        return make_error(
            ErrorCode.BROWSER_LIMIT,
            "Every desktop is full.",
            holds="Nothing was started.",
            do_next="Close a browser (`handoff browsers list` names them), or start another desktop.",
            outcome=b.EffectOutcome.NOT_STARTED,
        )
    if isinstance(cause, TimeoutError) and (
        cause.type is TimeoutType.SCHEDULE_TO_START or name == Activities.CLAIM_DESKTOP
    ):
        return make_error(
            ErrorCode.RUNNER_UNAVAILABLE,
            "No desktop took the request.",
            holds="Nothing was done.",
            do_next="See whether its runner is up (handoff runner), then ask again.",
            outcome=b.EffectOutcome.NOT_STARTED,
        )
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        f"{name} was started, and its end was not seen.",
        holds="It may or may not have been done.",
        do_next="Take a snapshot and look before you act again.",
        outcome=b.EffectOutcome.OUTCOME_UNKNOWN,
    )
