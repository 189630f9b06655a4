"""Leases, shared by processes: a single winner, compare-and-set, and never renewed once they are over."""

import logging
import sqlite3
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, HandoffError, Stale, make_error
from user_handoff.contract.ids import new_id
from user_handoff.desktop.lease.lease import TTL_SECONDS, Cause, Lease
from user_handoff.desktop.lease.schema import LEASES
from user_handoff.desktop.reservation.store import Store

log = logging.getLogger(__name__)

_ROW = (
    "SELECT subject, lease_id, holder, about, cause, version, boot, ttl, expires, deadline"
    " FROM leases WHERE subject = ?"
)
_TYPES = (str, str, str, str, str, int, str, float, float, float)

Clock = Callable[[], float]


class Leases(Store):
    """The leases of one desktop, beside its ledger.

    Every method but `stands` raises `Held` with `reservation_closed` where the file cannot be trusted.
    """

    schema = LEASES

    def __init__(self, path: Path, clock: Clock = time.monotonic) -> None:
        """Prepare; the file is made at the first use.

        Args:
            path: The file.
            clock: The time; one that every process of this boot shares, and that nobody can set.
        """
        super().__init__(path)
        self._clock = clock

    def take(
        self,
        subject: str,
        holder: str,
        about: str,
        *,
        cause: Cause = "view",
        seconds: float,
        ttl: float = TTL_SECONDS,
        instead_of: str | None = None,
    ) -> Lease:
        """Take it, where nobody has it; or from exactly the one that is named.

        Args:
            subject: What it is about.
            holder: Who takes it.
            about: What it serves.
            cause: Why.
            seconds: Until its deadline, which no renewal moves.
            ttl: How long it lasts without a renewal, in seconds.
            instead_of: The id of the live lease that it is taken from, by an explicit act.

        Raises:
            Held: `lease_taken`: somebody has it, and not under that id.
        """
        with self._writing() as connection:
            now = self._clock()
            found = self._read(connection, subject, now)
            if found is not None and found.lease_id != instead_of:
                raise _taken(found)
            lease = Lease(subject, new_id("l"), holder, about, cause, 1, now + ttl, now + seconds)
            connection.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*_key(lease), cause, 1, boot(), float(ttl), lease.expires, lease.deadline),
            )
        return lease

    def renew(self, lease: Lease) -> Lease:
        """Renew it: only what still stands, and only what was not renewed or taken since.

        Raises:
            Stale: `lease_lost`: it ended, or another stands in its place. It cannot come back: take a new one.
        """
        with self._writing() as connection:
            now = self._clock()
            found = self._read(connection, lease.subject, now)
            if found != lease:
                raise lost(lease.lease_id)
            (ttl,) = connection.execute("SELECT ttl FROM leases WHERE subject = ?", (lease.subject,)).fetchone()
            renewed = Lease(*_key(lease), lease.cause, lease.version + 1, now + ttl, lease.deadline)
            changed = connection.execute(
                "UPDATE leases SET version = ?, expires = ? WHERE subject = ? AND lease_id = ? AND version = ?",
                (renewed.version, renewed.expires, lease.subject, lease.lease_id, lease.version),
            )
            if changed.rowcount != 1:
                raise lost(lease.lease_id)
        return renewed

    def renew_by_id(self, subject: str, lease_id: str) -> Lease:
        """Renew what stands under this id now, whoever renewed it before: several may say that its holder is there.

        Raises:
            Stale: `lease_lost`: it ended, or another stands in its place.
        """
        found = self.current(subject)
        if found is None or found.lease_id != lease_id:
            raise lost(lease_id)
        try:
            return self.renew(found)
        except Stale:
            again = self.current(subject)
            if again is None or again.lease_id != lease_id:
                raise
            return again  # another renewed it at this moment

    def end(self, lease: Lease) -> bool:
        """End exactly this lease, whatever its version; another that stands in its place is untouched.

        Returns:
            True where it was there.
        """
        return self.end_by_id(lease.subject, lease.lease_id)

    def end_by_id(self, subject: str, lease_id: str) -> bool:
        """End exactly the lease of this id.

        Returns:
            True where it was there.
        """
        with self._writing() as connection:
            done = connection.execute("DELETE FROM leases WHERE subject = ? AND lease_id = ?", (subject, lease_id))
            return done.rowcount == 1

    def remains(self, subject: str, lease_id: str) -> bool:
        """True where nobody has ended this lease, whether it still stands or not."""
        with self._reading() as connection:
            found = connection.execute(
                "SELECT 1 FROM leases WHERE subject = ? AND lease_id = ?", (subject, lease_id)
            ).fetchone()
        return found is not None

    def current(self, subject: str) -> Lease | None:
        """The lease that stands now; None where nobody has it."""
        with self._reading() as connection:
            return self._read(connection, subject, self._clock())

    def stands(self, lease: Lease) -> bool:
        """True where exactly this lease stands at this moment; anything else is no. Asked before every dispatch."""
        try:
            return lease.live(self._clock()) and self.current(lease.subject) == lease
        except HandoffError as error:
            log.error("control is off: %s", error.what)
            return False

    def _read(self, connection: sqlite3.Connection, subject: str, now: float) -> Lease | None:
        """The row, where it can be believed: a lease that nobody could have written gives nobody control."""
        row = connection.execute(_ROW, (subject,)).fetchone()
        if row is None or not all(type(value) is kind for value, kind in zip(row, _TYPES, strict=True)):
            return None
        name, lease_id, holder, about, cause, version, written_in, ttl, expires, deadline = row
        if written_in != boot() or not 0 < ttl <= TTL_SECONDS or expires > now + ttl:
            return None  # of another boot, whose clock was another, or from the future
        lease = Lease(name, lease_id, holder, about, cause, version, expires, deadline)
        return lease if lease.live(now) else None


@cache
def boot() -> str:
    """The id of this boot of the machine: monotonic times of another one mean nothing."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "-"


def _key(lease: Lease) -> tuple[str, str, str, str]:
    return lease.subject, lease.lease_id, lease.holder, lease.about


def _taken(lease: Lease) -> HandoffError:
    return make_error(
        ErrorCode.LEASE_TAKEN,
        "Another person has control of this desktop.",
        holds="They keep it; you can look.",
        do_next="Wait until they are done, or take control from them by an explicit act.",
        lease_id=lease.lease_id,
        about=lease.about,
        cause=lease.cause,
    )


def lost(lease_id: str) -> HandoffError:
    """The refusal of whoever acts under a lease that does not stand."""
    return make_error(
        ErrorCode.LEASE_LOST,
        "The lease has ended, or somebody else has control now.",
        holds="Nothing more is typed under it.",
        do_next="Take control anew, where nobody has it.",
        lease_id=lease_id,
    )
