"""Who may come in: each ticket once, soon, and as exactly the viewer it was made for."""

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass

from user_handoff.contract.view import AdmitViewer, ViewMode

_MOST = 64
"""Tickets that wait at once; the oldest goes first."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks.

    Attributes:
        viewer_id: Minted for this one connection.
        handoff_id: Which hold they belong to.
        browser_id: Its browser.
        mode: What they may do.
    """

    viewer_id: str
    handoff_id: str
    browser_id: str
    mode: ViewMode


class Tickets:
    """Tickets that were announced by their hashes, and not used yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[Viewer, float]] = {}

    def expect(self, request: AdmitViewer) -> None:
        """Let this viewer in once, within its time."""
        viewer = Viewer(request.viewer_id, request.handoff_id, request.browser_id, request.mode)
        self._drop_late()
        while len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[request.ticket_sha256] = (viewer, self._clock() + request.expires_in_seconds)

    def use(self, ticket: str) -> Viewer | None:
        """Whose ticket it is, for the first who shows it; None for anything else."""
        self._drop_late()
        shown = hashlib.sha256(ticket.encode("utf-8", "replace")).hexdigest()
        # Every hash is compared, so that the time taken tells nothing.
        matching = [known for known in self._waiting if hmac.compare_digest(known, shown)]
        return self._waiting.pop(matching[0])[0] if matching else None

    def _drop_late(self) -> None:
        now = self._clock()
        self._waiting = {known: (viewer, end) for known, (viewer, end) in self._waiting.items() if now < end}
