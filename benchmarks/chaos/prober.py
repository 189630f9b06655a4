"""An agent that tries to act all the while: what it may do while a desktop is reserved is counted."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from temporalio.client import ActivityFailureError
from temporalio.service import RPCError

from benchmarks.chaos.parts import Parts
from user_handoff.contract.browser import EffectReceipt, Press
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities

_PAUSE_SECONDS = 0.1
_ASK_SECONDS = 2


class Prober:
    """Presses Shift in one browser again and again, by the door that agents use.

    Attributes:
        refused: Effects that were refused because a person has the browser.
        admitted: Effects that were done though the same reservation stood before and after them.
    """

    def __init__(self, parts: Parts, browser_id: str) -> None:
        self.refused = 0
        self.admitted = 0
        self._parts = parts
        self._browser_id = browser_id
        self._ledger = parts.ledger()

    @contextlib.asynccontextmanager
    async def probing(self) -> AsyncIterator["Prober"]:
        """Try for as long as the block runs."""
        task = asyncio.create_task(self._go_on())
        try:
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self._ledger.close()

    def reserved(self) -> int | None:
        """The epoch of the reservation of the browser; None where there is none."""
        try:
            rows = self._ledger.holders()
        except HandoffError:
            return None  # the desktop has ended, and its ledger with it
        return next((row.epoch for row in rows if row.browser_id == self._browser_id), None)

    def in_flight(self) -> bool:
        """True while an effect of the browser is in flight."""
        return any(row.browser_id == self._browser_id for row in self._ledger.permits())

    async def _go_on(self) -> None:
        while True:
            before = self.reserved()
            if before is not None:
                await self._try(before)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _try(self, before: int) -> None:
        effect = Press(browser_id=self._browser_id, effect_id=new_id("e"), key="Shift")
        try:
            await self._parts.ask(Activities.PRESS, effect, EffectReceipt, _ASK_SECONDS)
        except ActivityFailureError as failure:
            error = from_failure(failure)
            self.refused += error is not None and error.code in (ErrorCode.BROWSER_HELD, ErrorCode.SNAPSHOT_REQUIRED)
        except RPCError:
            return  # Temporal is away
        else:
            self.admitted += self.reserved() == before
