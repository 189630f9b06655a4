"""What other programs note: relays, permits, and the hosts of browsers. It waits in a file for the runner to take it.

Only the runner writes evidence. To note something never blocks an effect and never fails it: what cannot be kept now
is counted, and the next note that is kept says how many were lost.
"""

import json
import logging
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.evidence.events import OUTSIDE, allowed, id_or_none
from user_handoff.desktop.evidence.noting import Fact
from user_handoff.desktop.reservation.schema import Schema
from user_handoff.desktop.reservation.store import Store

log = logging.getLogger(__name__)

FILE: Final = "notes.db"
"""Within a desktop's folder."""

MOST: Final = 4_096
"""So many notes wait for a runner; more are lost, and counted."""

_AGAIN_SECONDS: Final = 1.0
_TRIES: Final = 3
_FACT_BYTES: Final = 2_000

_NOTES: Final = Schema(
    application_id=0x75686E31,
    version=1,
    tables=(
        """CREATE TABLE notes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    mono REAL NOT NULL,
    lost INTEGER NOT NULL,
    desktop_id TEXT NOT NULL,
    event TEXT NOT NULL,
    browser_id TEXT,
    about TEXT,
    facts TEXT NOT NULL
) STRICT""",
        """CREATE TABLE overflow (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    lost INTEGER NOT NULL
) STRICT""",
    ),
)


@dataclass(frozen=True, slots=True)
class Note:
    """One note, as it waits.

    Attributes:
        number: Its own, never given twice.
        desktop_id: The desktop that it was noted on.
        event: What happened.
        browser_id: The browser that it is about.
        about: The handoff or takeover that it belongs to.
        facts: What may be kept of it.
        at: When, in seconds since the epoch.
        mono: When, by the clock that every process of this boot shares.
        lost: How many were lost before it.
    """

    number: int
    desktop_id: str
    event: str
    browser_id: str | None
    about: str | None
    facts: dict[str, Fact]
    at: float
    mono: float
    lost: int


class OutsideNotes(Store):
    """The notes of one state folder. `note` is for every program, `waiting` and `taken` for its runner."""

    schema = _NOTES
    busy_seconds = 0.05

    def __init__(self, path: Path, desktop_id: str, *, most: int = MOST) -> None:
        """Name the file; it is made at the first use.

        Args:
            path: The file.
            desktop_id: The desktop that is noted on.
            most: How many wait at most.
        """
        super().__init__(path)
        self._desktop_id = desktop_id
        self._most = most
        self._lost = 0
        self._overflow = 0
        self._not_before = 0.0

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: Fact) -> None:
        """Take one event; see `Notes.note`. What is not on the list of `events.EVENTS` is not kept."""
        kept, _ = allowed(event, facts)
        row = (self._desktop_id, event, id_or_none(browser_id), id_or_none(about), json.dumps(kept))
        with self._lock:
            if time.monotonic() < self._not_before:
                self._lost += 1
                return
            try:
                self._add(row)
            except (HandoffError, sqlite3.Error, OSError) as error:
                if not self._lost:
                    log.warning("what happens cannot be noted for the evidence now: %s", type(error).__name__)
                self._lost += 1
                self._not_before = time.monotonic() + _AGAIN_SECONDS

    def _add(self, row: tuple[str | None, ...]) -> None:
        with self._writing() as connection:
            # by the numbers, since to count the rows takes longer the more there are
            first, last = connection.execute("SELECT min(number), max(number) FROM notes").fetchone()
            if first is not None and last - first + 1 >= self._most:
                connection.execute(
                    "INSERT INTO overflow VALUES (1, ?) ON CONFLICT DO UPDATE SET lost = lost + excluded.lost",
                    (self._lost + 1,),
                )
            else:
                connection.execute(
                    "INSERT INTO notes (at, mono, lost, desktop_id, event, browser_id, about, facts)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (time.time(), time.monotonic(), self._lost, *row),
                )
        self._lost = 0

    def waiting(self, most: int) -> tuple[list[Note], int]:
        """The notes that wait, oldest first, and up to which number they go.

        What no program of ours can have noted is left out, and counted as lost.

        Raises:
            HandoffError: They cannot be read.
        """
        with self._reading() as connection:
            rows = connection.execute("SELECT * FROM notes ORDER BY number LIMIT ?", (most,)).fetchall()
            overflow = connection.execute("SELECT lost FROM overflow").fetchone() if rows else None
        self._overflow = 0 if overflow is None else overflow[0]
        found = [_read(row) for row in rows]
        notes = [note for note in found if note is not None]
        lost = max(0, self._overflow) + len(found) - len(notes)
        if notes and lost:
            notes[0] = replace(notes[0], lost=notes[0].lost + lost)
        elif lost:
            log.warning("%d notes of other programs are not kept: no program of ours has noted them", lost)
        return notes, rows[-1][0] if rows else 0

    def taken(self, last: int) -> None:
        """Remove the notes up to a number: they are evidence now.

        Raises:
            HandoffError: They could not be removed.
        """
        with self._writing() as connection:
            connection.execute("DELETE FROM notes WHERE number <= ?", (last,))
            connection.execute("UPDATE overflow SET lost = lost - ?", (self._overflow,))

    def mend(self) -> None:
        """See that notes can be taken: a file that cannot be trusted is removed, with what is in it."""
        for _ in range(_TRIES):
            try:
                self.waiting(1)
            except HandoffError:
                continue
            return
        self.close()
        log.warning("the notes of other programs could not be read: they are begun anew")
        for end in ("", "-wal", "-shm", ".made"):
            with suppress(OSError):
                Path(f"{self.path}{end}").unlink()


def _read(row: Sequence[Any]) -> Note | None:
    number, at, mono, lost_before, desktop_id, event, browser_id, about, text = row
    try:
        facts = json.loads(text) if len(text) <= _FACT_BYTES else None
    except ValueError:
        facts = None
    if event not in OUTSIDE or id_or_none(desktop_id) is None or not isinstance(facts, dict) or "via" not in facts:
        return None
    when = min(at, time.time()) if at > 0 else time.time()
    facts["note"] = number
    return Note(number, desktop_id, event, browser_id, about, facts, when, mono, max(0, lost_before))
