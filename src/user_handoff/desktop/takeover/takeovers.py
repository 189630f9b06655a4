"""Takeovers of one desktop: a person has the browser while their lease stands, and it goes back in a fixed order.

The order at the end is always the same: nothing more is typed, the picture stays, a fresh picture is kept, it is noted,
the browser waits for a look, and the lease is let go last.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from user_handoff.contract import takeover as t
from user_handoff.contract.errors import Gone, HandoffError
from user_handoff.contract.handoff import BeginHold, HoldRequest
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.handoff.records import HoldRecord, Phase, Taken
from user_handoff.desktop.lease.lease import TTL_SECONDS
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.takeover import telling
from user_handoff.desktop.takeover.watching import Watching
from user_handoff.desktop.takeover.witness import Witness

log = logging.getLogger(__name__)

SUBJECT = "desktop"
"""What the lease is about: a desktop has one pointer and one keyboard."""

_LOOK_SECONDS = 0.25

BrowserOf = Callable[[str], ManagedBrowser]


class Takeovers:
    """The takeovers of one desktop. The hold is one like any other; the lease and its clocks come on top.

    Attributes:
        ttl: How long a lease lasts without a renewal, in seconds.
        witness: Takes what happened.
    """

    def __init__(
        self,
        holds: Holds,
        leases: Leases,
        watching: Watching,
        *,
        automatic: bool = False,
        ttl: float = TTL_SECONDS,
        witness: Witness | None = None,
    ) -> None:
        """Prepare.

        Args:
            holds: The holds of the desktop.
            leases: Its leases.
            watching: The watchdogs.
            automatic: Whether the policy lets control change without a person.
            ttl: How long a lease lasts without a renewal, in seconds.
            witness: Takes what happened.
        """
        self._holds = holds
        self._leases = leases
        self._watching = watching
        self._automatic = automatic
        self.ttl = ttl
        self.witness = witness or Witness()
        self._clocks: dict[str, asyncio.Task[None]] = {}
        self._returning: dict[str, asyncio.Lock] = {}
        holds.listen(self._changed)

    # --- begin ---

    async def begin(
        self, browser: ManagedBrowser, request: t.BeginTakeover, client_id: str, desktop_id: str
    ) -> t.TakeoverBegun:
        """Give a person the browser: publish, drain, hold, then the lease. Asking again changes nothing.

        Raises:
            Held: `lease_taken`: somebody acts on this desktop now. `reservation_closed`.
            Refused: `handoff_active`, `takeover_active`, `drain_timeout`, `forbidden` or what a hold is refused with.
        """
        try:
            known = await self._admitted(browser, request)
        except HandoffError as error:
            self.witness.refused(request, error)
            raise
        if known.taken is None or known.begin is None or known.phase is not Phase.HELD:
            raise telling.over(request.takeover_id)
        return t.TakeoverBegun(
            takeover_id=known.handoff_id,
            lease_id=known.taken.lease_id,
            client_id=client_id,
            desktop_id=desktop_id,
            expires_at=known.begin.expires_at,
            expires_in_seconds=round(known.seconds_left, 3),
            ttl_seconds=self.ttl,
        )

    async def _admitted(self, browser: ManagedBrowser, request: t.BeginTakeover) -> HoldRecord:
        if request.cause == "automatic" and not self._automatic:
            raise telling.not_automatic()
        known = self._holds.record(request.takeover_id)
        if known is None:
            await self._holds.end_looked_for(browser, "takeover")
            if self._holds.active(browser.browser_id) is None:
                self._require_free_desktop()
        if known is None or known.phase is Phase.BEGINNING:
            known = await self._begin(browser, request)
        return known

    def _require_free_desktop(self) -> None:
        """Refused at once rather than after the agent was made to wait."""
        standing = self._leases.current(SUBJECT)
        if standing is not None:
            raise telling.lease_taken(standing)

    async def _begin(self, browser: ManagedBrowser, request: t.BeginTakeover) -> HoldRecord:
        hold = BeginHold(
            handoff_id=request.takeover_id,
            browser_id=request.browser_id,
            session_id=browser.spec.session_id,
            message_id=request.number,
            owner=browser.spec.owner,
            timeout_seconds=request.seconds,
            drain_seconds=request.drain_seconds,
            preempt=request.preempt,
        )
        taken = Taken(
            role=request.role,
            cause=request.cause,
            why=request.why,
            until=time.time() + request.seconds,
            began=time.monotonic(),
        )
        leased: list[str] = []
        try:
            await self._holds.begin(browser, hold, taken, lambda record: self._take_lease(record, leased))
        except BaseException:
            for lease_id in leased:
                self._let_go(lease_id)
            raise
        record = self._holds.record(request.takeover_id)
        if record is None or record.taken is None:
            raise t.unknown_takeover(request.takeover_id)
        if leased:
            self.witness.started(record, request)
        self._keep_time(browser, record)
        return record

    def _take_lease(self, record: HoldRecord, leased: list[str]) -> str:
        lease = self._leases.take(
            SUBJECT, record.message_id, record.handoff_id, cause="takeover", seconds=record.seconds_left, ttl=self.ttl
        )
        leased.append(lease.lease_id)
        assert record.taken is not None
        try:
            self._watching.start(SUBJECT, lease.lease_id, record.taken.until)
        except OSError as error:
            raise telling.no_watchdog(type(error).__name__) from error
        return lease.lease_id

    # --- while it stands ---

    def renew(self, takeover_id: str) -> float:
        """The person is still there. What is over stays over. Returns the seconds that no renewal prolongs.

        Raises:
            Stale: `lease_lost`.
            Held: `reservation_closed`.
        """
        record = self._known(takeover_id)
        if record.phase is not Phase.HELD or record.seconds_left <= 0 or record.taken is None:
            raise telling.over(takeover_id)
        self._leases.renew_by_id(SUBJECT, record.taken.lease_id)
        return record.seconds_left

    def _keep_time(self, browser: ManagedBrowser, record: HoldRecord) -> None:
        old = self._clocks.get(record.handoff_id)
        if old is None or old.done():
            self._clocks[record.handoff_id] = asyncio.create_task(self._clock(browser, record.handoff_id))

    async def _clock(self, browser: ManagedBrowser, takeover_id: str) -> None:
        """End it when its lease has ended, by whichever clock, and go on with an end that was broken off."""
        while True:
            record = self._holds.record(takeover_id)
            if record is None or record.taken is None or record.phase not in (Phase.HELD, Phase.RETURNING):
                return
            how = record.taken.how if record.phase is Phase.RETURNING else self._over(record, record.taken)
            if how is not None:
                try:
                    await self.end(browser, takeover_id, how)
                    return
                except HandoffError as error:  # it stays paused, and is tried again: nothing of the person's is taken
                    log.error("%s: could not be ended, and stays paused: %s", takeover_id, error.what)
            if record.phase is Phase.HELD:
                await self._watching.see_to(SUBJECT, record.taken.lease_id, record.taken.until)
            await asyncio.sleep(_LOOK_SECONDS)

    def _over(self, record: HoldRecord, taken: Taken) -> t.TakeoverEnd | None:
        """How it ended; None while it stands, or while that cannot be known: then the browser stays paused."""
        if record.seconds_left <= 0:
            return t.TakeoverEnd.TIMEOUT
        try:
            lease = self._leases.current(SUBJECT)
        except HandoffError as error:
            log.error("%s: its lease cannot be read: %s", record.handoff_id, error.what)
            return None
        if lease is not None and lease.lease_id == taken.lease_id:
            return None
        return t.TakeoverEnd.RECOVERED if self._watching.was_ended(taken.lease_id) else t.TakeoverEnd.TIMEOUT

    # --- the end ---

    async def give_back(self, browser: ManagedBrowser, request: t.ReturnTakeover) -> t.TakeoverNow:
        """Take the browser back because its person says so; asking again changes nothing.

        Raises:
            Gone: `unknown_takeover`.
        """
        self._known(request.takeover_id)
        await self.end(browser, request.takeover_id, t.TakeoverEnd(request.how), request.note)
        return telling.now(self._known(request.takeover_id))

    async def end(self, browser: ManagedBrowser, takeover_id: str, how: t.TakeoverEnd, note: str = "") -> None:
        """End a takeover in the one order. The first end stands; one that was broken off is gone on with."""
        async with self._returning.setdefault(takeover_id, asyncio.Lock()):
            record = self._known(takeover_id)
            assert record.taken is not None
            if record.phase is Phase.HELD:
                seconds = round(time.monotonic() - record.taken.began, 1)
                taken = record.taken.model_copy(update={"how": how, "note": note, "seconds": seconds})
                record = await self._holds.returning(takeover_id, taken) or self._known(takeover_id)
            if record.phase is not Phase.RETURNING or record.taken is None:
                return
            await self.witness.over(browser, record)
            request = HoldRequest(handoff_id=takeover_id, browser_id=record.browser_id, handoff_fence=record.fence)
            try:
                await self._holds.finish(browser, request)
            except HandoffError:
                if self._known(takeover_id).phase.ended:
                    return  # the browser has ended meanwhile, and this with it
                raise
            self._let_go(record.taken.lease_id)
            log.info("%s: %s after %.0f s", takeover_id, record.taken.how, record.taken.seconds)

    def _let_go(self, lease_id: str) -> None:
        try:
            self._leases.end_by_id(SUBJECT, lease_id)
        except HandoffError as error:
            log.error("a lease could not be ended, and ends by itself: %s", error.what)
        self._watching.forget(lease_id)

    def _changed(self, record: HoldRecord) -> None:
        """A hold has changed: the lease of a browser that is gone is over."""
        if record.taken is None or record.phase not in (Phase.CLOSED, Phase.REVOKED):
            return
        self._let_go(record.taken.lease_id)
        self.witness.gone(record)

    # --- reading ---

    async def guard(self, request: t.GuardTakeover) -> t.TakeoverNow:
        """Wait until it stands elsewhere than is known.

        Raises:
            Gone: `unknown_takeover`.
        """
        while (now := telling.now(self._known(request.takeover_id))).state == request.known:
            phase = self._known(request.takeover_id).phase
            await self._holds.wait_other_phase(request.takeover_id, phase)
        return now

    def _known(self, takeover_id: str) -> HoldRecord:
        record = self._holds.record(takeover_id)
        if record is None or record.taken is None:
            raise t.unknown_takeover(takeover_id)
        return record

    # --- after a restart ---

    async def adopt(self, browser_of: BrowserOf) -> None:
        """Go on with the takeovers of an earlier runner: what is over goes back, the others stand."""
        for record in self._holds.all_active():
            if record.taken is None:
                continue
            try:
                browser = browser_of(record.browser_id)
            except Gone:
                continue
            try:
                await self._adopt(browser, record, record.taken)
            except HandoffError as error:
                log.error("%s: stays paused, and is tried again: %s", record.handoff_id, error.what)
                self._keep_time(browser, record)

    async def _adopt(self, browser: ManagedBrowser, record: HoldRecord, taken: Taken) -> None:
        if record.phase is Phase.RETURNING and taken.how is not None:
            await self.end(browser, record.handoff_id, taken.how)
        elif record.phase is Phase.RECOVERING:
            self._let_go(taken.lease_id)
        elif self._over(record, taken) is not None:
            await self.end(browser, record.handoff_id, t.TakeoverEnd.RECOVERED)
        else:
            self._keep_time(browser, record)
            log.info("%s: found again, its lease stands", record.handoff_id)

    async def aclose(self) -> None:
        """Stop the clocks of this process; the watchdogs go on."""
        clocks = list(self._clocks.values())
        for clock in clocks:
            clock.cancel()
        await asyncio.gather(*clocks, return_exceptions=True)
        await self._watching.aclose()
