"""What is kept of a takeover: what happened, and a picture at its end. What fails here stands in nobody's way."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.takeover import BeginTakeover, TakeoverEnd
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.evidence.noting import Fact, Notes, Unnoted
from user_handoff.desktop.handoff.records import HoldRecord
from user_handoff.desktop.snapshots.picture import picture_of

log = logging.getLogger(__name__)

_PICTURE_SECONDS = 3.0
_EVENTS: dict[TakeoverEnd | None, str] = {
    TakeoverEnd.RETURNED: "return",
    TakeoverEnd.CANCELLED: "cancelled",
    TakeoverEnd.TIMEOUT: "timeout",
    TakeoverEnd.RECOVERED: "recovered",
}

KeepPicture = Callable[[bytes, str, str], None]


class Witness:
    """Notes takeovers."""

    def __init__(self, notes: Notes | None = None, keep: KeepPicture | None = None) -> None:
        """Prepare.

        Args:
            notes: Takes what happened.
            keep: Keeps a picture of a browser under the takeover's id; None: none is taken.
        """
        self.notes = notes or Unnoted()
        self.keep = keep
        self._over: set[str] = set()

    def started(self, record: HoldRecord, request: BeginTakeover) -> None:
        """A person has the browser."""
        self._note("start", record, seconds=request.seconds, preempt=request.preempt)

    def refused(self, request: BeginTakeover, error: HandoffError) -> None:
        """Nobody was given it."""
        facts = {"role": request.role, "cause": request.cause, "code": str(error.code)}
        self._tell("refused", request.browser_id, request.takeover_id, **facts)

    async def over(self, browser: ManagedBrowser, record: HoldRecord) -> None:
        """Nothing more is typed; the browser is about to go back. Kept once, however often that is tried."""
        if record.taken is not None and record.handoff_id not in self._over:
            await self._picture(browser, record.handoff_id)
            self._note(_EVENTS[record.taken.how], record, seconds=record.taken.seconds)
            self._over.add(record.handoff_id)

    def gone(self, record: HoldRecord) -> None:
        """The browser has ended, and the takeover with it."""
        self._note(str(record.phase), record)

    async def _picture(self, browser: ManagedBrowser, takeover_id: str) -> None:
        """Keep a picture of the page, without what is typed in it."""
        if self.keep is None:
            return
        try:
            async with asyncio.timeout(_PICTURE_SECONDS):
                content = await picture_of(browser.page(None))
            self.keep(content, browser.browser_id, takeover_id)
        except Exception as error:
            log.warning("no picture was kept at the end of a takeover: %s", type(error).__name__)

    def _note(self, event: str, record: HoldRecord, **facts: Fact) -> None:
        assert record.taken is not None
        taken = record.taken
        self._tell(event, record.browser_id, record.handoff_id, role=taken.role, cause=taken.cause, **facts)

    def _tell(self, event: str, browser_id: str, takeover_id: str, **facts: Fact) -> None:
        with contextlib.suppress(Exception):
            self.notes.note(f"takeover_{event}", browser_id=browser_id, about=takeover_id, **facts)
