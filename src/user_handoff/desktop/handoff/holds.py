"""Giving a browser to a person and taking it back: begin, finish, look, end."""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable

from user_handoff.contract.changes import Changes
from user_handoff.contract.errors import ErrorCode, HandoffError, Held
from user_handoff.contract.handoff import (
    BeginHold,
    BeginReceipt,
    FinishReceipt,
    HandoffState,
    HoldRequest,
    RevokeReason,
    Surface,
)
from user_handoff.contract.ids import Association
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.handoff import refusals
from user_handoff.desktop.handoff.changes import compare, take_inventory
from user_handoff.desktop.handoff.kept import Kept
from user_handoff.desktop.handoff.records import HoldRecord, Phase, Taken
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.records import MAX_ASSOCIATIONS
from user_handoff.desktop.reservation.rows import Kind
from user_handoff.desktop.running import Running
from user_handoff.desktop.surfaces.base import SurfaceFinder
from user_handoff.desktop.surfaces.settle import resolve_settled

log = logging.getLogger(__name__)

Lease = Callable[[HoldRecord], str]

_CUT_OFF_SECONDS = 2.0
"""How long an effect that was cut off has to end."""


class Holds(Kept):
    """The holds of one desktop. The ledger is the truth; this is how it changes."""

    def __init__(self, ledger: Ledger, surfaces: SurfaceFinder, running: Running) -> None:
        super().__init__(ledger)
        self._surfaces = surfaces
        self._running = running
        self._me = ProcessIdentity.current()

    def permits(self) -> int:
        """How many effects are in flight on this desktop."""
        return len(self._ledger.permits())

    # --- begin ---

    async def begin(
        self, browser: ManagedBrowser, request: BeginHold, taken: Taken | None = None, lease: Lease | None = None
    ) -> BeginReceipt:
        """Hold a browser for a person: resolve its window, publish, drain, hold. Asking again changes nothing.

        Args:
            browser: The browser.
            request: What is asked for.
            taken: What is kept of a takeover; None: a handoff.
            lease: Called for a takeover once the browser is held: gives its person control, and returns the lease's
                id. What it raises ends the hold.

        Raises:
            HandoffError: Refused or not drained; nothing is left behind.
        """
        async with self._lock(browser.browser_id):
            known = self.record(request.handoff_id)
            if known and known.begin and not known.phase.ended:
                return known.receipt()
            self._admit(browser, request, known, taken)
            surface = await self.resolve(browser)
            left = (await browser.status()).lifetime_seconds_left
            seconds = min(request.timeout_seconds, left)
            if seconds < 1:
                raise refusals.no_lifetime(browser.browser_id)
            record = HoldRecord(
                handoff_id=request.handoff_id,
                browser_id=request.browser_id,
                session_id=request.session_id,
                message_id=request.message_id,
                owner=request.owner,
                phase=Phase.BEGINNING,
                fence=secrets.token_urlsafe(18),
                deadline=time.monotonic() + seconds,
                before=await take_inventory(browser),
                taken=taken,
            )
            return await self._hold(browser, request, surface, record, lease)

    def _admit(
        self, browser: ManagedBrowser, request: BeginHold, known: HoldRecord | None, taken: Taken | None
    ) -> None:
        association = Association(request.browser_id, request.session_id, request.message_id)
        exact, reason = self._surfaces.capability()
        if not exact:
            raise refusals.unsupported(reason)
        if not (browser.spec.visible and browser.spec.persistent):
            raise refusals.not_handoverable(browser.browser_id)
        if browser.spec.owner != request.owner:
            raise refusals.not_owner(browser.browser_id)
        active = self.active(browser.browser_id)
        if active is not None:
            raise refusals.other_hold(request, active)
        if taken is not None:
            return  # it is about no message, and may happen at any time
        if known is not None or self._ledger.is_completed(association):
            raise refusals.used(request.handoff_id)
        if self._ledger.count_completed(browser.browser_id) >= MAX_ASSOCIATIONS:
            raise refusals.full(browser.browser_id, MAX_ASSOCIATIONS)

    async def resolve(self, browser: ManagedBrowser) -> Surface:
        """The exact native window of the browser's current page.

        Raises:
            Refused: `surface_not_found` or `surface_ambiguous`.
        """
        said = browser.page(None).window_bounds
        return await resolve_settled(self._surfaces, said, browser.record.browser, window_class(browser.browser_id))

    async def _hold(
        self,
        browser: ManagedBrowser,
        request: BeginHold,
        surface: Surface,
        record: HoldRecord,
        lease: Lease | None,
    ) -> BeginReceipt:
        began = time.monotonic()
        try:
            await self._save(record)
            self._ledger.publish(record.handoff_id, record.browser_id, record.kind, self._me, record.handoff_id)
            browser.change_control()
            await self._drain(browser, request)
            spent = time.monotonic() - began
            left = max(0.5, request.drain_seconds - spent)
            await browser.control.hold(record.handoff_id, left, preempt=request.preempt)
            record = record.held(surface, await browser.page_infos_with_code())
            if lease is not None and record.taken is not None:
                taken = record.taken.model_copy(update={"lease_id": lease(record)})
                record = record.model_copy(update={"taken": taken})
            await self._save(record)
        except BaseException:
            await asyncio.shield(self._undo(browser, record))
            raise
        self._watch_deadline(record)
        log.info("%s: held for at most %.0f s", record.handoff_id, record.seconds_left)
        return record.receipt()

    async def _drain(self, browser: ManagedBrowser, request: BeginHold) -> None:
        try:
            await self._ledger.drain(request.handoff_id, request.drain_seconds)
        except HandoffError as error:
            if error.code is not ErrorCode.DRAIN_TIMEOUT or not request.preempt:
                raise
            cut = self._running.cancel_conflicting(request.browser_id, request.handoff_id)
            log.warning("%s: cut off %s", request.handoff_id, ", ".join(cut) or "nothing of this runner")
            await asyncio.gather(*(page.stop_loading() for page in browser.pages))
            await self._ledger.drain(request.handoff_id, _CUT_OFF_SECONDS)

    async def _undo(self, browser: ManagedBrowser, record: HoldRecord) -> None:
        with contextlib.suppress(HandoffError, OSError):
            await browser.control.release(record.handoff_id)
        self._ledger.withdraw(record.handoff_id)
        self._ledger.delete_hold(record.handoff_id)
        self._records.pop(record.handoff_id, None)
        browser.change_control()

    # --- finish and recover ---

    async def finish(self, browser: ManagedBrowser, request: HoldRequest) -> FinishReceipt:
        """Take a browser back by its exact fence; each page that exists now must be looked at before effects.

        Raises:
            Stale: `fence_mismatch`.
            Gone: `unknown_handoff`.
        """
        async with self._lock(browser.browser_id):
            record = self.check_fence(request)
            if record.finish is not None:
                return record.finish
            if record.phase not in (Phase.HELD, Phase.EXPIRED, Phase.RETURNING):
                raise refusals.no_hold(request.handoff_id)
            await browser.settle()
            browser.change_control()
            for page in browser.pages:
                page.needs_snapshot = True
            # at once: the agent waits for the slowest of them
            pages, changes, _ = await asyncio.gather(
                browser.page_infos(),
                _changes(browser, record),
                browser.control.recover(record.handoff_id, [page.target_id for page in browser.pages]),
            )
            receipt = FinishReceipt(
                handoff_id=record.handoff_id, pages=pages, state=HandoffState.RECOVERING, changes=changes
            )
            await self._save(record.moved(Phase.RECOVERING, finish=receipt))
            self._stop_clock(record.handoff_id)
            return receipt

    async def looked(self, browser: ManagedBrowser, page: ManagedPage, epoch: int) -> tuple[bool, HoldRecord | None]:
        """A snapshot of a page was taken. The first one after finish ends the hold and frees the desktop.

        Args:
            browser: The browser.
            page: The page that was looked at.
            epoch: The browser's control epoch when the look began.

        Returns:
            False where control changed hands meanwhile: the look does not count and must be thrown away. And the hold
            that it ended, as it was until then.
        """
        async with self._lock(browser.browser_id):
            if browser.control_epoch != epoch:
                return False, None
            active = self.active(browser.browser_id)
            if active is not None and active.phase is not Phase.RECOVERING:
                return True, None  # looking is allowed while a person has it, and resumes nothing
            if page.needs_snapshot:
                await browser.control.looked(page.target_id)
            page.needs_snapshot = False
            if active is not None:
                await self._recovered(browser, active)
            return True, active

    async def end_looked_for(self, browser: ManagedBrowser, kind: Kind) -> None:
        """End a hold of this kind that only waits for a look. Every page goes on waiting for one."""
        async with self._lock(browser.browser_id):
            active = self.active(browser.browser_id)
            if active is not None and active.kind == kind and active.phase is Phase.RECOVERING:
                await self._recovered(browser, active)

    async def looked_through_door(self, browser: ManagedBrowser, hold_id: str) -> None:
        """A program that came by a door looks for itself: that ends a hold which only waits for a look.

        Every page goes on waiting for a snapshot of the runner's own; the host sees to what each program has seen.
        """
        async with self._lock(browser.browser_id):
            active = self.active(browser.browser_id)
            if active is not None and active.handoff_id == hold_id and active.phase is Phase.RECOVERING:
                await self._recovered(browser, active)

    async def _recovered(self, browser: ManagedBrowser, record: HoldRecord) -> None:
        await browser.control.release(record.handoff_id)
        self._end_reservation(record)
        await self._save(record.moved(Phase.RECOVERED))

    async def returning(self, handoff_id: str, taken: Taken) -> HoldRecord | None:
        """Note that a takeover is over: from this moment nothing is typed under it. None where it was over before."""
        record = self._records.get(handoff_id)
        if record is None or record.phase is not Phase.HELD:
            return None
        record = record.moved(Phase.RETURNING, taken=taken)
        await self._save(record)
        return record

    # --- other ends ---

    async def end(self, browser_id: str, reason: RevokeReason | None) -> None:
        """End whatever hold a browser is under, since the browser ends.

        Args:
            browser_id: The browser.
            reason: Why it was revoked; None where it was closed on purpose.
        """
        record = self.active(browser_id)
        if record is not None:
            phase = Phase.CLOSED if reason is None else Phase.REVOKED
            self._stop_clock(record.handoff_id)
            self._end_reservation(record)
            await self._save(record.moved(phase, reason=reason))
            log.info("%s: %s", record.handoff_id, reason or "closed")
        self._locks.pop(browser_id, None)

    def _end_reservation(self, record: HoldRecord) -> None:
        if record.taken is None:
            self._ledger.add_completed(record.association)
        self._ledger.withdraw(record.handoff_id)

    # --- after a restart ---

    async def adopt(self, browsers: dict[str, ManagedBrowser], why_ended: Callable[[str], RevokeReason | None]) -> None:
        """Find the holds of an earlier runner: those of living browsers stand, the others are revoked.

        Args:
            browsers: The browsers that were found, by id.
            why_ended: Tells why another browser is gone; None where it was closed on purpose.
        """
        try:
            known = self._ledger.all_holds()
        except Held as error:
            log.error("no hold of an earlier runner could be read; every effect is refused: %s", error)
            return
        for kept in known.values():
            record = HoldRecord.model_validate_json(kept)
            self._records[record.handoff_id] = record
            browser = browsers.get(record.browser_id)
            if record.phase.ended:
                continue
            if browser is None:
                await self.end(record.browser_id, why_ended(record.browser_id))
            elif record.begin is None:
                await self._undo(browser, record)  # nobody was told that it is held
            else:
                await self._adopt(browser, record)

    async def _adopt(self, browser: ManagedBrowser, record: HoldRecord) -> None:
        await browser.control.hold(record.handoff_id, 5)
        if record.phase is Phase.RECOVERING:
            await browser.control.recover(record.handoff_id, [page.target_id for page in browser.pages])
        for page in browser.pages:
            page.needs_snapshot = True
        if record.phase is Phase.HELD:
            self._watch_deadline(record)
        log.info("%s: found again, %s", record.handoff_id, record.phase)


async def _changes(browser: ManagedBrowser, record: HoldRecord) -> Changes | None:
    if record.before is None:
        return None
    return compare(record.before, await take_inventory(browser, record.before))


def window_class(browser_id: str) -> str:
    """The X11 window class of a browser: deterministic, and no page can change it."""
    return f"user-handoff-{browser_id}"
