"""A desktop's verbs for whoever else is to have a browser: a person, a viewer, a program at a door."""

from user_handoff.contract import browser as b
from user_handoff.contract import doors as d
from user_handoff.contract import handoff as h
from user_handoff.contract import showing as s
from user_handoff.contract import takeover as t
from user_handoff.contract import view as v
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.desktop import doors
from user_handoff.desktop.handoff import refusals
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.handoff.watching import watch_hold
from user_handoff.desktop.parts import Parts


class Handing(Parts):
    """Handoffs, takeovers, doors, and what a person is shown."""

    async def close_browser(self, request: b.BrowserRequest) -> None:
        """Close a browser; works while it is held, and ends the hold. Closing again changes nothing.

        Raises:
            Gone: `unknown_browser`.
            Held: `browser_held`: a `CloseBrowser` leaves a hold alone.
        """
        try:
            browser = self.browsers.get(request.browser_id)
        except Exception as error:
            if getattr(error, "code", None) is ErrorCode.BROWSER_GONE:
                return
            raise
        if isinstance(request, b.CloseBrowser) and request.unless_held:
            self._refuse_where_held(browser.browser_id)
        await self.browsers.close(browser)

    def _refuse_where_held(self, browser_id: str) -> None:
        hold = self.holds.active(browser_id)
        if hold is not None and hold.phase is not Phase.RECOVERING:
            raise refusals.has_browser(hold)

    # --- the handoff ---

    async def begin(self, request: h.BeginHold) -> h.BeginReceipt:
        """Hold a browser for a person.

        Raises:
            HandoffError: Refused or not drained; nothing is left behind.
        """
        browser = self.browsers.get(request.browser_id)
        await browser.settle()
        browser.responses.start(anew=self.holds.active(browser.browser_id) is None)
        try:
            async with self._control_pictures.before(browser, request.handoff_id), browser.telling():
                return await self.holds.begin(browser, request)
        except HandoffError as error:
            self.notes.note(
                "hold_refused",
                browser_id=request.browser_id,
                about=request.handoff_id,
                owner=request.owner,
                code=str(error.code),
            )
            raise

    async def guard(self, request: h.HoldRequest) -> h.HoldEnd:
        """Wait for the end of a hold, or until what is watched for in it is observed.

        Raises:
            HandoffError: `unknown_handoff` or `fence_mismatch`.
        """
        if isinstance(request, h.GuardHold) and request.watch is not None:
            return await watch_hold(self.holds, self.browsers, request, self._guard.check_condition)
        return await self.holds.wait_end(request)

    async def finish(self, request: h.HoldRequest) -> h.FinishReceipt:
        """Take a browser back by its exact fence.

        Raises:
            HandoffError: `fence_mismatch`, `unknown_handoff`, or the browser has ended.
        """
        browser = self.browsers.get(request.browser_id)
        browser.use()
        given_back = (hold := self.holds.active(browser.browser_id)) is not None and hold.finish is None
        receipt = await self.holds.finish(browser, request)
        if given_back:
            self._control_pictures.after(browser, request.handoff_id)
        if isinstance(request, h.FinishHold) and request.confirmed:
            await self._guard.confirm(browser)
        return receipt

    async def close(self, request: h.HoldRequest) -> h.CloseReceipt:
        """Close the browser of a hold, and the hold with it.

        Raises:
            HandoffError: `fence_mismatch` or `unknown_handoff`.
        """
        self.holds.check_fence(request)
        await self.close_browser(b.BrowserRequest(browser_id=request.browser_id))
        return h.CloseReceipt(handoff_id=request.handoff_id, state=h.HandoffState.CLOSED)

    # --- a takeover ---

    async def begin_takeover(self, request: t.BeginTakeover) -> t.TakeoverBegun:
        """Give a person a browser that they want.

        Raises:
            HandoffError: As `Takeovers.begin`.
        """
        browser = self.browsers.get(request.browser_id)
        await browser.settle()
        identity = self.identity
        async with self._control_pictures.before(browser, request.takeover_id), browser.telling():
            return await self.takeovers.begin(browser, request, identity.client_id, identity.desktop_id)

    async def guard_takeover(self, request: t.GuardTakeover) -> t.TakeoverNow:
        """Wait until a takeover stands elsewhere than is known.

        Raises:
            Gone: `unknown_takeover`.
        """
        return await self.takeovers.guard(request)

    async def renew_takeover(self, request: t.RenewTakeover) -> t.TakeoverRenewed:
        """Renew the lease of a takeover: only what still stands.

        Raises:
            Gone: `unknown_takeover`.
            Stale: `lease_lost`: it is over, and stays so.
        """
        seconds_left = self.takeovers.renew(request.takeover_id)
        return t.TakeoverRenewed(
            takeover_id=request.takeover_id, expires_in_seconds=round(seconds_left, 3), ttl_seconds=self.takeovers.ttl
        )

    async def return_takeover(self, request: t.ReturnTakeover) -> t.TakeoverNow:
        """Take the browser back because its person says so.

        Raises:
            Gone: `unknown_takeover`, or the browser has ended.
        """
        browser = self.browsers.get(request.browser_id)
        browser.use()
        return await self.takeovers.give_back(browser, request)

    # --- doors for other programs ---

    async def open_door(self, request: d.OpenDoor) -> d.DoorOpened:
        """Let a program drive a browser by CDP, for a while.

        Raises:
            HandoffError: As `doors.open_door`.
        """
        opened = await doors.open_door(self._usable(request.browser_id), request)
        self.notes.note(
            "door_opened",
            browser_id=request.browser_id,
            door_id=request.door_id,
            tcp=request.tcp,
            seconds=request.expires_in_seconds,
            grant_id=request.grant_id,
        )
        self.granted_doors.watch(request.browser_id)
        return opened

    async def close_door(self, request: d.DoorRequest) -> d.DoorViews:
        """Close a door, and cut off who came by it; tells those that are left.

        Raises:
            Gone: The browser is unknown or has ended.
        """
        left = await doors.close_door(self.browsers.get(request.browser_id), request.door_id)
        self.notes.note("door_closed", browser_id=request.browser_id, door_id=request.door_id)
        return left

    async def list_doors(self, request: b.BrowserRequest) -> d.DoorViews:
        """The doors of a browser that are open.

        Raises:
            Gone: The browser is unknown or has ended.
        """
        return await doors.list_doors(self.browsers.get(request.browser_id))

    async def lock_ui(self, request: LockUi) -> UiLocked:
        """Drop what a person types through the view of a browser, for a moment; they end that by one click.

        Raises:
            Refused: `not_owner`; or `already_decided`: a lock stands.
            Gone: The browser is unknown or has ended.
        """
        browser = self.browsers.get(request.browser_id)
        if browser.spec.owner != request.owner:
            raise refusals.not_owner(browser.browser_id)
        return self.view.lock(request)

    async def show_window(self, request: s.ShowWindow) -> s.WindowShown:
        """Bring the window of a hold to the front, unless somebody types elsewhere.

        Raises:
            HandoffError: As `Showing.show`.
        """
        return await self._showing.show(request)

    async def admit_viewer(self, request: v.AdmitViewer) -> v.ViewerAdmitted:
        """Let one viewer of a held browser in.

        Raises:
            Refused: `view_unavailable`, `not_held` or `forbidden`.
            Held: `desktop_held`: another person acts on this desktop now.
        """
        return await self.view.admit(request)
