"""Evidence: what happened on a desktop, in a chain of records that an auditor can verify.

Whoever notes something waits for nothing: one thread writes, and what it cannot write waits for it, up to a bound.
Beyond that records are lost, and the next one that is kept says how many.
"""

import contextlib
import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.evidence.events import allowed, id_or_none, plain_number, word_or_none
from user_handoff.desktop.evidence.noting import Fact
from user_handoff.desktop.evidence.outside import Note, OutsideNotes
from user_handoff.desktop.evidence.pruning import prune
from user_handoff.desktop.evidence.writer import ChainWriter, stamp

log = logging.getLogger(__name__)

MOST_WAITING: Final = 4_096
"""So many records wait for a disk that does not take them; more are lost."""

_BATCH: Final = 256
_MOST_ROUNDS: Final = 16
_MOST_ASKED: Final = 16
_AGAIN_SECONDS: Final = 1.0
_END_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.5
"""How often it is looked for what other programs have noted."""


@dataclass(frozen=True, slots=True)
class _Entry:
    event: str
    browser_id: str | None
    about: str | None
    facts: dict[str, Fact]
    at: float
    mono: float
    lost: int


class Evidence:
    """The evidence of one desktop. A fault of its files is logged once, and stops nothing else."""

    def __init__(
        self, folder: Path, desktop_id: str, *, most: int = MOST_WAITING, outside: OutsideNotes | None = None
    ) -> None:
        """Begin to take records; the folder is opened by the thread that writes.

        Args:
            folder: Where they are kept (0700).
            desktop_id: Whose they are.
            most: How many wait at most.
            outside: What other programs note; it is taken in until the end.
        """
        self._outside = outside
        self._taken = 0
        self.writer = ChainWriter(folder)
        self._desktop_id = desktop_id
        self._most = most
        self._waiting: deque[_Entry] = deque()
        self._asked: deque[Callable[[], object]] = deque()
        self._changed = threading.Condition()
        self._lost = 0
        self._failing = False
        self._busy = False
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="evidence", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """How many records were lost since the last one that was taken."""
        return self._lost

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: Fact) -> None:
        """Take one event; see `Notes.note`. What is not on the list of `events.EVENTS` is not kept."""
        at, mono = time.time(), time.monotonic()
        with self._changed:
            if len(self._waiting) >= self._most or self._ending:
                self._lost += 1
                return
            self._waiting.append(_Entry(event, browser_id, about, facts, at, mono, self._lost))
            self._lost = 0
            self._changed.notify_all()

    def ask(self, work: Callable[[], object]) -> None:
        """Have the thread that writes do this between two batches, since the files are its own."""
        with self._changed:
            if len(self._asked) < _MOST_ASKED:
                self._asked.append(work)
                self._changed.notify_all()

    def keep_picture(
        self, content: bytes, event: str, *, browser_id: str, about: str, taken: float | None = None
    ) -> None:
        """Keep a picture, and note it by its digest.

        Args:
            content: The picture (PNG).
            event: ``picture_before`` or ``picture_after``.
            browser_id: Of which browser.
            about: The handoff that it belongs to.
            taken: When it was taken, on the monotonic clock; None: now.
        """
        taken = time.monotonic() if taken is None else taken

        def keep() -> None:
            sha256 = hashlib.sha256(content).hexdigest()
            try:
                self.writer.keep_picture(sha256, content)
            except (OSError, HandoffError):
                self.note("picture_missed", browser_id=browser_id, about=about, which=event[8:], why="not_kept")
                raise
            age = time.monotonic() - taken
            self.note(event, browser_id=browser_id, about=about, picture=sha256, age=age)

        self.ask(keep)

    def prune(self, keep_seconds: float | None, most_bytes: int | None) -> None:
        """Have old records deleted, soon.

        Args:
            keep_seconds: For how long records are kept; None: for ever.
            most_bytes: How much may be kept; None: all.
        """
        self.ask(lambda: prune(self.writer, self._desktop_id, keep_seconds, most_bytes))

    def take_in(self) -> None:
        """Have what other programs noted taken in now."""
        self.ask(lambda: None)

    def wait_written(self, seconds: float) -> bool:
        """Wait until all that was noted is written; False where it was not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._waiting or self._asked or self._busy), seconds)

    def close(self, seconds: float = _END_SECONDS) -> None:
        """Write what waits, as far as that is possible soon, and end."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._thread.join(seconds)
        if missing := self._lost + len(self._waiting):
            log.error("the last %d records of the evidence are not kept", missing)

    # --- the thread that writes ---

    def _run(self) -> None:
        if self._outside is not None:
            self._outside.mend()
        while self._next():
            with self._working():
                self._take_outside()
                self._work()
        self.writer.close()
        if self._outside is not None:
            self._outside.close()

    def _next(self) -> bool:
        """Wait for something to do; False at the end."""
        with self._changed:
            look = None if self._outside is None else _LOOK_SECONDS
            self._changed.wait_for(lambda: self._waiting or self._asked or self._ending, look)
            if self._failing and not self._ending:
                self._changed.wait_for(lambda: self._ending, _AGAIN_SECONDS)
            self._busy = bool(self._waiting or self._asked)
            return self._busy or not self._ending

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        try:
            yield
        except (OSError, HandoffError) as error:
            self._fails(error)
        except Exception as error:  # a fault of ours must not end the thread
            self._fails(error)
            self._drop_batch()
        else:
            if self._failing:
                log.info("evidence is kept again")
            self._failing = False
        finally:
            with self._changed:
                if self._failing and self._ending:
                    self._lost += len(self._waiting)
                    self._waiting.clear()
                    self._asked.clear()
                self._busy = False
                self._changed.notify_all()

    def _take_outside(self) -> None:
        """Write what other programs have noted, before what is noted here: it was there first."""
        if self._outside is None:
            return
        for _ in range(_MOST_ROUNDS):
            try:
                notes, last = self._outside.waiting(_BATCH)
            except HandoffError:
                return  # to keep what is noted here is not hindered by it
            if not last:
                return
            self._append_new(notes)
            self._taken = max(self._taken, last)
            with contextlib.suppress(HandoffError):  # else they are removed the next time
                self._outside.taken(last)

    def _append_new(self, notes: list[Note]) -> None:
        found = [self._record_of(note) for note in notes if note.number > self._taken]
        new = [record for record in found if record is not None]
        if new:
            self.writer.append(new)

    def _record_of(self, note: Note) -> dict[str, Any] | None:
        entry = _Entry(note.event, note.browser_id, note.about, note.facts, note.at, note.mono, note.lost)
        try:
            return {**self._record(entry), "desktop_id": note.desktop_id}
        except Exception as error:  # whatever another program may have written, the rest is kept
            log.warning("a note of another program is not kept: %s", type(error).__name__)
            return None

    def _work(self) -> None:
        batch = [self._waiting[number] for number in range(min(_BATCH, len(self._waiting)))]
        if batch:
            self.writer.append([self._record(entry) for entry in batch])
            self._take(len(batch))
        while self._asked:
            self._asked.popleft()()

    def _take(self, count: int) -> None:
        with self._changed:
            for _ in range(count):
                self._waiting.popleft()

    def _drop_batch(self) -> None:
        count = min(_BATCH, len(self._waiting))
        self._take(count)
        with self._changed:
            self._lost += count

    def _fails(self, error: Exception) -> None:
        if not self._failing:
            what = error.what if isinstance(error, HandoffError) else type(error).__name__
            log.error("evidence cannot be kept now; all else goes on: %s", what)
        self._failing = True

    def _record(self, entry: _Entry) -> dict[str, Any]:
        facts, dropped = allowed(entry.event, entry.facts)
        browser_id, about = id_or_none(entry.browser_id), id_or_none(entry.about)
        dropped += (entry.browser_id, entry.about) != (browser_id, about)
        record = {
            "at": stamp(entry.at),
            "mono": plain_number(entry.mono),
            "desktop_id": self._desktop_id,
            "event": word_or_none(entry.event) or "unnamed",
            "browser_id": browser_id,
            "about": about,
            "picture": facts.pop("picture", None),
            "facts": facts,
            "dropped": dropped or None,
            "lost": entry.lost or None,
        }
        return {key: value for key, value in record.items() if value is not None}
