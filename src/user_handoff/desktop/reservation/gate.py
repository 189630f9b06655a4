"""The one way to an effect: admitted, checked again right before the dispatch, released whatever happens."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from user_handoff.contract.errors import Held
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Permit, Scope

log = logging.getLogger(__name__)


class Gate:
    """Admits this process's effects by the desktop's ledger."""

    def __init__(self, ledger: Ledger, owner: ProcessIdentity | None = None) -> None:
        self.ledger = ledger
        self.owner = owner or ProcessIdentity.current()

    @asynccontextmanager
    async def effect(self, scope: Scope, browser_id: str | None, effect_id: str) -> AsyncIterator[Permit]:
        """Admit an effect for as long as the block runs.

        Call `permit.recheck()` right before whatever is sent: after every wait, and between chunks of a long effect.
        The permit is released when the block ends, also by cancellation, so the block must not leave work behind.

        Raises:
            Held: `browser_held`, `desktop_held` or `reservation_closed`: nothing was admitted.
        """
        permit = self.ledger.acquire(scope, browser_id, effect_id, self.owner)
        try:
            yield permit
        finally:
            try:
                self.ledger.release(permit)
            except Held:
                # the outcome of the effect must not be lost; what is left keeps a drain from ending, so it fails closed
                log.warning("the permit of effect %s could not be released", effect_id)
