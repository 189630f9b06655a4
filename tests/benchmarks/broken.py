"""Ledgers that are broken in one place each: what the race must notice. The racing processes import them by name."""

import time

from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Permit, PermitRow, Scope


class LooksThenAdmits(Ledger):
    """Looks whether anybody holds, and writes the permit later, unseen by a hold in between; never checks again."""

    def acquire(self, scope: Scope, browser_id: str | None, effect_id: str, owner: ProcessIdentity) -> Permit:
        admitted = super().acquire(scope, browser_id, effect_id, owner)
        self.release(admitted)
        time.sleep(0.001)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO permits VALUES (?, ?, ?, ?, ?, ?, ?)",
                (admitted.permit_id, scope, browser_id, effect_id, owner.pid, owner.started, admitted.epoch),
            )
        return admitted

    def recheck(self, permit: PermitRow) -> None:
        pass


class NeverWaits(Ledger):
    """Says that all has ended as soon as it is asked to drain."""

    async def drain(self, holder_id: str, seconds: float) -> None:
        pass


class NeverSweeps(Ledger):
    """Takes the dead for living ones."""

    def _in_flight(self, holder_id: str) -> list[PermitRow]:
        browser_id = holder_id.split(".")[0]
        return [row for row in self.permits() if row.scope == "native" or row.browser_id == browser_id]
