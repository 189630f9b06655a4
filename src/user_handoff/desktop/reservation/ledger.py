"""Who holds the desktop, and which effects are in flight: the one truth, shared by processes.

An effect acquires a permit, checks it again right before the dispatch, runs, and releases it. A holder publishes
itself, from when no permit that conflicts is given, drains those given before, and holds.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterable

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.records import Associations, Holds, Journal
from user_handoff.desktop.reservation.rows import HolderRow, Kind, Permit, PermitRow, Scope
from user_handoff.desktop.reservation.store import closed

_HOLDERS = "SELECT holder_id, browser_id, kind, handoff_id, pid, started, epoch FROM holders ORDER BY epoch"
_PERMITS = "SELECT permit_id, scope, browser_id, effect_id, pid, started, epoch FROM permits ORDER BY permit_id"
_FIRST_WAIT, _LONGEST_WAIT = 0.001, 0.02


class Ledger(Journal, Associations, Holds):
    """The ledger of one desktop.

    Every method raises `Held` with `reservation_closed` where the file is missing after it was made, unreadable,
    damaged, or not a ledger of this version.
    """

    def epoch(self) -> int:
        """A number that every change of control raises: what was seen under another one is of no worth now."""
        with self._reading() as connection:
            return self._epoch_in(connection)

    def acquire(self, scope: Scope, browser_id: str | None, effect_id: str, owner: ProcessIdentity) -> Permit:
        """Admit an effect.

        Args:
            scope: ``page``: it touches that browser alone. ``native``: it touches what the whole desktop shares.
            browser_id: The browser; needed for ``page``.
            effect_id: The effect.
            owner: The process that does it: a permit ends with its process.

        Raises:
            Held: `browser_held` or `desktop_held`, naming the handoff: nothing was admitted.
        """
        if scope == "page" and not browser_id:
            raise ValueError("a page effect needs its browser")
        with self._writing() as connection:
            epoch = self._epoch_in(connection)
            _refuse(scope, browser_id, _holders(connection))
            row = connection.execute(
                "INSERT INTO permits (scope, browser_id, effect_id, pid, started, epoch) VALUES (?, ?, ?, ?, ?, ?)",
                (scope, browser_id, effect_id, owner.pid, owner.started, epoch),
            )
            number = row.lastrowid
        if number is None:
            raise closed("a permit was not written")
        return Permit(number, scope, browser_id, effect_id, owner, epoch, self)

    def check(self, scope: Scope, browser_id: str | None) -> int:
        """Say whether an effect would be admitted now, without admitting it.

        Returns:
            The epoch under which it would be.

        Raises:
            Held: As `acquire` does.
        """
        with self._reading() as connection:
            epoch = self._epoch_in(connection)  # read first: a holder that comes in between is seen
            _refuse(scope, browser_id, _holders(connection))
        return epoch

    def recheck(self, permit: PermitRow) -> None:
        """Check a permit again, right before the dispatch.

        Raises:
            Held: A holder that conflicts was published since, or the permit is no longer in the ledger.
        """
        with self._reading() as connection:
            row = connection.execute(
                "SELECT epoch, (SELECT epoch FROM permits WHERE permit_id = ?) FROM state", (permit.permit_id,)
            ).fetchone()
            if row is None or row[1] != permit.epoch:
                raise closed("a permit in use is not in it")
            if row[0] != permit.epoch:
                self._epoch_in(connection)
                _refuse(permit.scope, permit.browser_id, _holders(connection))

    def release(self, permit: PermitRow) -> None:
        """End a permit, after its effect; again is the same."""
        with self._reading() as connection:
            connection.execute("DELETE FROM permits WHERE permit_id = ?", (permit.permit_id,))

    def publish(self, holder_id: str, browser_id: str, kind: Kind, owner: ProcessIdentity, handoff_id: str) -> int:
        """Publish a holder: from now on nothing that conflicts is admitted. `drain` next, or `withdraw`.

        Returns:
            The new epoch. Published again under the same id: the epoch of the first time.

        Raises:
            Refused: `handoff_active`: another holder of this kind stands on that browser.
        """
        with self._writing() as connection:
            epoch = self._epoch_in(connection)
            for row in _holders(connection):
                if row.holder_id == holder_id and (row.browser_id, row.kind) == (browser_id, kind):
                    return row.epoch
                if row.holder_id == holder_id or (row.browser_id, row.kind) == (browser_id, kind):
                    raise _active(row)
            connection.execute(
                "INSERT INTO holders VALUES (?, ?, ?, ?, ?, ?, ?)",
                (holder_id, browser_id, kind, handoff_id, owner.pid, owner.started, epoch + 1),
            )
            connection.execute("UPDATE state SET epoch = ?", (epoch + 1,))
        self._saw(epoch + 1)
        return epoch + 1

    async def drain(self, holder_id: str, seconds: float) -> None:
        """Wait until the effects that conflict, admitted before the holder, have ended. Dead processes' are swept.

        Raises:
            Refused: `drain_timeout`: some have not ended in time; withdraw the holder. `not_held`: it was withdrawn.
        """
        deadline = time.monotonic() + seconds
        wait = _FIRST_WAIT
        while left := self._in_flight(holder_id):
            if time.monotonic() >= deadline:
                raise _undrained(left, seconds)
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    def withdraw(self, holder_id: str) -> None:
        """End a holder, and raise the epoch; nothing happens where there is none."""
        with self._writing() as connection:
            epoch = self._epoch_in(connection)
            if connection.execute("DELETE FROM holders WHERE holder_id = ?", (holder_id,)).rowcount:
                epoch += 1
                connection.execute("UPDATE state SET epoch = ?", (epoch,))
        self._saw(epoch)

    def holders(self) -> list[HolderRow]:
        """All holders, in the order of their publication."""
        with self._reading() as connection:
            return _holders(connection)

    def permits(self) -> list[PermitRow]:
        """All permits, in the order of their admission; those of dead processes too, until they are swept."""
        with self._reading() as connection:
            return _permits(connection)

    def sweep(self) -> int:
        """Remove the permits of processes that no longer live; returns how many."""
        return self._remove(_dead(self.permits()))

    def _in_flight(self, holder_id: str) -> list[PermitRow]:
        with self._reading() as connection:
            holder = next((row for row in _holders(connection) if row.holder_id == holder_id), None)
            rows = _permits(connection)
        if holder is None:
            raise make_error(
                ErrorCode.NOT_HELD,
                "The reservation was withdrawn while it waited for effects to end.",
                holds="Nothing is held by it.",
                do_next="Begin again.",
            )
        conflicting = [row for row in rows if row.scope == "native" or row.browser_id == holder.browser_id]
        dead = _dead(conflicting)
        self._remove(dead)
        return [row for row in conflicting if row not in dead]

    def _remove(self, rows: list[PermitRow]) -> int:
        for row in rows:
            self.release(row)
        return len(rows)


def _refuse(scope: Scope, browser_id: str | None, holders: list[HolderRow]) -> None:
    """Raise where one of these holders conflicts: with its browser's pages, and with everything native."""
    for row in holders:
        if scope == "native":
            raise _held(ErrorCode.DESKTOP_HELD, "A person has this desktop's pointer and keyboard", row)
        if row.browser_id == browser_id:
            raise _held(ErrorCode.BROWSER_HELD, "A person has this browser", row)


def _held(code: ErrorCode, what: str, row: HolderRow) -> HandoffError:
    return make_error(
        code,
        f"{what} ({row.handoff_id}).",
        holds="The effect was not started.",
        do_next="Wait until the person is done, take a fresh snapshot, then act.",
        handoff_id=row.handoff_id,
        browser_id=row.browser_id,
        kind=row.kind,
    )


def _active(row: HolderRow) -> HandoffError:
    return make_error(
        ErrorCode.HANDOFF_ACTIVE,
        f"This browser is already held ({row.handoff_id}).",
        holds="That hold is untouched, and no other was made.",
        do_next="Wait until it ends.",
        handoff_id=row.handoff_id,
        browser_id=row.browser_id,
    )


def _undrained(left: list[PermitRow], seconds: float) -> HandoffError:
    return make_error(
        ErrorCode.DRAIN_TIMEOUT,
        f"{len(left)} effects that were admitted before did not end within {seconds:g} s.",
        holds="The person was not given control.",
        do_next="Let them end, or close the browser, then begin again.",
        effect_ids=[row.effect_id for row in left[:10]],
    )


def _dead(rows: Iterable[PermitRow]) -> list[PermitRow]:
    rows = list(rows)
    alive = {owner: owner.alive() for owner in {row.owner for row in rows}}
    return [row for row in rows if not alive[row.owner]]


def _holders(connection: sqlite3.Connection) -> list[HolderRow]:
    """Every holder, each looked at: one that cannot be understood closes the gate."""
    found = []
    for holder_id, browser_id, kind, handoff_id, pid, started, epoch in connection.execute(_HOLDERS).fetchall():
        texts = (holder_id, browser_id, handoff_id)
        if kind not in ("handoff", "takeover") or not all(type(text) is str and text for text in texts):
            raise closed("a holder in it cannot be understood")
        if (type(pid), type(started), type(epoch)) != (int, float, int):
            raise closed("a holder in it cannot be understood")
        found.append(HolderRow(holder_id, browser_id, kind, handoff_id, ProcessIdentity(pid, started), epoch))
    return found


def _permits(connection: sqlite3.Connection) -> list[PermitRow]:
    return [
        PermitRow(number, scope, browser_id, effect_id, ProcessIdentity(pid, started), epoch)
        for number, scope, browser_id, effect_id, pid, started, epoch in connection.execute(_PERMITS).fetchall()
    ]
