"""The lock of the page's input: set by the agent that owns the browser, bounded, and ended by a click of the person."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.desktop.evidence.noting import Notes, Unnoted

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock. It lives in this process alone: with the runner, and with each hold that begins, it is over."""

    lock_id: str
    owner: str
    until: float


class Locks:
    """The locks of one desktop, by browser."""

    def __init__(
        self,
        changed: Callable[[str], None],
        notes: Notes | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            changed: Called with the browser's id when its lock was set or ended by somebody.
            notes: Takes what happened.
            clock: The time.
        """
        self._changed = changed
        self._notes = notes or Unnoted()
        self._clock = clock
        self._locks: dict[str, Lock] = {}
        self._overridden: dict[str, str] = {}

    def standing(self, browser_id: str) -> Lock | None:
        """The lock that stands at this moment."""
        lock = self._locks.get(browser_id)
        return lock if lock is not None and self._clock() < lock.until else None

    def seconds_left(self, browser_id: str) -> float:
        """How long it stands yet; 0 where there is none."""
        lock = self.standing(browser_id)
        return 0.0 if lock is None else round(lock.until - self._clock(), 3)

    def set(self, request: LockUi, about: str | None) -> UiLocked:
        """Set it, or end it where 0 seconds are asked for. A lock is not prolonged: it ends first.

        Args:
            request: What is asked for.
            about: The hold that it is set in.

        Raises:
            Refused: `already_decided`: a lock stands, or the person has ended one in this hold.
        """
        lock = self.standing(request.browser_id)
        if request.seconds == 0:
            if lock is not None:
                self._end(request.browser_id, "lock_ui_ended", lock, about)
            return UiLocked(browser_id=request.browser_id)
        if lock is not None:
            raise _stands()
        if about is not None and self._overridden.get(request.browser_id) == about:
            raise _overridden()
        lock = Lock(new_id("k"), request.owner, self._clock() + request.seconds)
        self._locks[request.browser_id] = lock
        self._notes.note(
            "lock_ui",
            browser_id=request.browser_id,
            about=about,
            owner=lock.owner,
            lock_id=lock.lock_id,
            seconds=request.seconds,
        )
        log.info("%s: what is typed through the view is dropped for %.0f s", request.browser_id, request.seconds)
        self._changed(request.browser_id)
        return UiLocked(browser_id=request.browser_id, lock_id=lock.lock_id, seconds=request.seconds)

    def override(self, browser_id: str, by: str, about: str) -> None:
        """The person wants their input: the lock is over, none is set again in this hold, and that is recorded."""
        lock = self.standing(browser_id)
        if lock is not None:
            self._overridden[browser_id] = about
            self._end(browser_id, "lock_ui_overridden", lock, about, by=by)

    def forget(self, browser_id: str) -> None:
        """A hold begins: no lock of before delays a person's control."""
        self._overridden.pop(browser_id, None)
        lock = self.standing(browser_id)
        if lock is not None:
            self._end(browser_id, "lock_ui_ended", lock, None, why="hold")

    def _end(self, browser_id: str, event: str, lock: Lock, about: str | None, **facts: str) -> None:
        self._locks.pop(browser_id, None)
        self._notes.note(event, browser_id=browser_id, about=about, owner=lock.owner, lock_id=lock.lock_id, **facts)
        self._changed(browser_id)


def _stands() -> HandoffError:
    return make_error(
        ErrorCode.ALREADY_DECIDED,
        "The page's input is locked already.",
        holds="That lock stands, with its own limit.",
        do_next="Wait for its end, or end it with 0 seconds.",
    )


def _overridden() -> HandoffError:
    return make_error(
        ErrorCode.ALREADY_DECIDED,
        "The person has ended a lock, and wants their input.",
        holds="What they type arrives, until this hold is over.",
        do_next="Wait until they are done.",
    )
