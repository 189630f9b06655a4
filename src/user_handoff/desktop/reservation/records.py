"""What the ledger remembers beside permits: effects done, associations used, and the runner's hold records."""

import time

from user_handoff.contract.ids import Association
from user_handoff.desktop.reservation.store import Store

MAX_ASSOCIATIONS = 64
"""Completed associations that one browser can have."""

STARTED = "started"
"""What is known of an effect that began and of which no receipt was written."""

_KEEP_EFFECTS_SECONDS = 7 * 86_400.0


class Journal(Store):
    """Effects by their ids, so that none is done twice."""

    def begin_effect(
        self, effect_id: str, *, action: str, browser_id: str | None = None, sha256: str | None = None
    ) -> str | None:
        """Say that an effect begins now.

        Args:
            effect_id: Which.
            action: What kind.
            browser_id: On which browser; None: on the whole desktop.
            sha256: The digest of what is asked for, by which another request under the same id is known.

        Returns:
            None: it had never begun, and has now. Otherwise it must not be done: its receipt, or `STARTED`.
        """
        with self._writing() as connection:
            row = connection.execute("SELECT receipt FROM effects WHERE effect_id = ?", (effect_id,)).fetchone()
            if row:
                return str(row[0]) if row[0] is not None else STARTED
            connection.execute(
                "INSERT INTO effects VALUES (?, ?, ?, NULL, ?)", (effect_id, browser_id, action, time.time())
            )
            if sha256 is not None:
                connection.execute("INSERT OR REPLACE INTO requests VALUES (?, ?)", (effect_id, sha256))
            return None

    def end_effect(self, effect_id: str, receipt: str) -> None:
        """Write the receipt (JSON) of an effect that began."""
        with self._writing() as connection:
            connection.execute("UPDATE effects SET receipt = ? WHERE effect_id = ?", (receipt, effect_id))

    def drop_effect(self, effect_id: str) -> None:
        """Forget an effect that was refused before anything was dispatched: it may be asked again."""
        with self._writing() as connection:
            gone = connection.execute("DELETE FROM effects WHERE effect_id = ? AND receipt IS NULL", (effect_id,))
            if gone.rowcount:
                connection.execute("DELETE FROM requests WHERE effect_id = ?", (effect_id,))

    def see_effect(self, effect_id: str) -> str | None:
        """The receipt (JSON), or `STARTED`, or None for an effect that never began."""
        with self._reading() as connection:
            row = connection.execute("SELECT receipt FROM effects WHERE effect_id = ?", (effect_id,)).fetchone()
        if row is None:
            return None
        return str(row[0]) if row[0] is not None else STARTED

    def request_of(self, effect_id: str) -> str | None:
        """The digest of what was asked for under this id; None where none is known."""
        with self._reading() as connection:
            row = connection.execute("SELECT sha256 FROM requests WHERE effect_id = ?", (effect_id,)).fetchone()
        return None if row is None else str(row[0])

    def prune_effects(self, older_than_seconds: float = _KEEP_EFFECTS_SECONDS) -> int:
        """Forget effects that nobody can ask for any more; returns how many."""
        with self._writing() as connection:
            done = connection.execute("DELETE FROM effects WHERE began < ?", (time.time() - older_than_seconds,))
            if done.rowcount:
                connection.execute("DELETE FROM requests WHERE effect_id NOT IN (SELECT effect_id FROM effects)")
            return done.rowcount


class Associations(Store):
    """Associations that were completed, and can never begin again."""

    def count_completed(self, browser_id: str) -> int:
        """How many the browser has; at `MAX_ASSOCIATIONS` it can have no more."""
        with self._reading() as connection:
            row = connection.execute("SELECT count(*) FROM completed WHERE browser_id = ?", (browser_id,)).fetchone()
        return int(row[0])

    def is_completed(self, association: Association) -> bool:
        """True where it was used."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT 1 FROM completed WHERE browser_id = ? AND session_id = ? AND message_id = ?",
                (association.browser_id, association.session_id, association.message_id),
            ).fetchone()
        return row is not None

    def add_completed(self, association: Association) -> None:
        """Say that it was used; again is the same."""
        with self._writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO completed VALUES (?, ?, ?)",
                (association.browser_id, association.session_id, association.message_id),
            )


class Holds(Store):
    """The runner's own records of its holds, as JSON text that is not looked into."""

    def put_hold(self, handoff_id: str, record: str) -> None:
        """Write a record, in place of an earlier one."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO holds VALUES (?, ?)", (handoff_id, record))

    def get_hold(self, handoff_id: str) -> str | None:
        """The record; None where there is none."""
        with self._reading() as connection:
            row = connection.execute("SELECT record FROM holds WHERE handoff_id = ?", (handoff_id,)).fetchone()
        return None if row is None else str(row[0])

    def all_holds(self) -> dict[str, str]:
        """All records, by handoff."""
        with self._reading() as connection:
            return dict(connection.execute("SELECT handoff_id, record FROM holds ORDER BY rowid").fetchall())

    def delete_hold(self, handoff_id: str) -> None:
        """Remove a record; nothing happens where there is none."""
        with self._writing() as connection:
            connection.execute("DELETE FROM holds WHERE handoff_id = ?", (handoff_id,))
