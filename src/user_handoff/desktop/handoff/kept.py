"""What is kept of the holds of one desktop: their records, who is told of a change, and their clocks."""

import asyncio
import logging
import secrets
from collections.abc import Callable

from user_handoff.contract.handoff import HoldEnd, HoldRequest
from user_handoff.desktop.handoff import refusals
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.reservation.ledger import Ledger

log = logging.getLogger(__name__)


class Kept:
    """The records of a desktop's holds. The ledger is the truth; each change is written there first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._records: dict[str, HoldRecord] = {}
        self._changed = asyncio.Condition()
        self._locks: dict[str, asyncio.Lock] = {}
        self._clocks: dict[str, asyncio.Task[None]] = {}
        self._listeners: list[Callable[[HoldRecord], None]] = []

    def listen(self, listener: Callable[[HoldRecord], None]) -> None:
        """Call this with every record that changes, at the moment it does."""
        self._listeners.append(listener)

    def active(self, browser_id: str) -> HoldRecord | None:
        """The hold that a browser is under, or None."""
        for record in self._records.values():
            if record.browser_id == browser_id and not record.phase.ended:
                return record
        return None

    def record(self, handoff_id: str) -> HoldRecord | None:
        """What is known of a hold, also after its end."""
        found = self._records.get(handoff_id)
        if found is None and (kept := self._ledger.get_hold(handoff_id)):
            found = HoldRecord.model_validate_json(kept)
        return found

    def all_active(self) -> list[HoldRecord]:
        """The holds that have not ended."""
        return [record for record in self._records.values() if not record.phase.ended]

    async def wait_end(self, request: HoldRequest) -> HoldEnd:
        """Wait until a hold has ended, and say how.

        Raises:
            Gone: `unknown_handoff`.
        """
        self.check_fence(request)
        async with self._changed:
            while True:
                record = self.record(request.handoff_id)
                if record is None:
                    raise refusals.no_hold(request.handoff_id)
                if end := record.end():
                    return end
                await self._changed.wait()

    async def wait_phase(self, handoff_id: str, phase: str) -> None:
        """Wait until a hold is in a phase (see `records.Phase`)."""
        async with self._changed:
            await self._changed.wait_for(lambda: (r := self.record(handoff_id)) is not None and r.phase == phase)

    async def wait_other_phase(self, handoff_id: str, phase: str) -> None:
        """Wait until a hold is no longer in a phase."""
        async with self._changed:
            await self._changed.wait_for(lambda: (r := self.record(handoff_id)) is None or r.phase != phase)

    def check_fence(self, request: HoldRequest) -> HoldRecord:
        """The record of a hold, for who has its exact fence.

        Raises:
            Gone: `unknown_handoff`.
            Stale: `fence_mismatch`.
        """
        record = self.record(request.handoff_id)
        if record is None:
            raise refusals.no_hold(request.handoff_id)
        if not secrets.compare_digest(record.fence, request.handoff_fence):
            raise refusals.wrong_fence(request)
        return record

    async def _save(self, record: HoldRecord) -> None:
        """Keep a change; it stands before anything else can happen. What has ended stays so.

        Raises:
            Gone: `browser_gone`: the hold ended while this change was under way.
        """
        known = self._records.get(record.handoff_id)
        if known is not None and known.phase.ended:
            raise refusals.ended(record)
        self._ledger.put_hold(record.handoff_id, record.model_dump_json())
        self._records[record.handoff_id] = record
        for listener in self._listeners:
            listener(record)
        async with self._changed:
            self._changed.notify_all()

    def _lock(self, browser_id: str) -> asyncio.Lock:
        return self._locks.setdefault(browser_id, asyncio.Lock())

    def _watch_deadline(self, record: HoldRecord) -> None:
        if record.taken is not None:
            return  # its clocks are those of its lease

        async def expire() -> None:
            await asyncio.sleep(record.seconds_left)
            now = self._records.get(record.handoff_id)
            if now is not None and now.phase is Phase.HELD:
                await self._save(now.moved(Phase.EXPIRED))
                log.info("%s: expired, still paused", record.handoff_id)

        self._clocks[record.handoff_id] = asyncio.create_task(expire())

    def _stop_clock(self, handoff_id: str) -> None:
        clock = self._clocks.pop(handoff_id, None)
        if clock is not None:
            clock.cancel()

    async def aclose(self) -> None:
        """Stop the clocks of this process; the holds stand."""
        clocks = list(self._clocks.values())
        for clock in clocks:
            clock.cancel()
        await asyncio.gather(*clocks, return_exceptions=True)
