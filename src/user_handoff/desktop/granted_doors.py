"""Doors that were opened under a grant, and close with it, however the grant ends.

The runner looks whether each grant stands, and tells the browser's host so. A host that is not told for a while closes
the door by itself: its runner is gone, or cannot ask.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from user_handoff.contract.access import SessionAccess, why_over
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browsers import Browsers
from user_handoff.desktop.evidence.noting import Notes

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.4
"""How often the grants of doors are looked at: one that is taken back closes its doors within a second."""

Ask = Callable[[str], Awaitable[SessionAccess | None]]
"""What a session says of its grants; None: there is no such session. It raises where that cannot be told now."""


class GrantedDoors:
    """Closes the doors of one desktop whose grants are over."""

    def __init__(self, browsers: Browsers, notes: Notes) -> None:
        self._browsers = browsers
        self._notes = notes
        self._watched: set[str] | None = None
        self._looking: dict[str, asyncio.Task[None]] = {}

    def watch(self, browser_id: str) -> None:
        """A door of this browser was opened."""
        if self._watched is not None:
            self._watched.add(browser_id)

    async def run(self, ask: Ask) -> None:
        """Look again and again, until this is cancelled. One session that does not answer keeps no other waiting.

        Args:
            ask: Asks a session.
        """
        self._watched = set(self._browsers.ids)  # an earlier runner may have opened doors
        try:
            while True:
                for browser_id in self._watched - self._looking.keys():
                    task = asyncio.create_task(self._look_at(browser_id, ask))
                    self._looking[browser_id] = task
                    task.add_done_callback(lambda _, done=browser_id: self._looking.pop(done, None))  # type: ignore[misc]
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            for task in list(self._looking.values()):
                task.cancel()

    async def _look_at(self, browser_id: str, ask: Ask) -> None:
        watched = self._watched if self._watched is not None else set()
        watched.discard(browser_id)  # first: a door that is opened meanwhile is looked at the next time
        try:
            browser = self._browsers.get(browser_id)
            doors = [door for door in await browser.control.doors() if door.get("grant_id")]
        except HandoffError as error:
            if error.code not in (ErrorCode.BROWSER_GONE, ErrorCode.UNKNOWN_BROWSER):
                watched.add(browser_id)
            return
        if not doors:
            return
        watched.add(browser_id)
        try:
            session = await ask(browser.spec.session_id) if browser.spec.session_id else None
            await asyncio.gather(*(self._settle(browser, door, session) for door in doors))
        except Exception as error:  # its host closes the doors unless it is told in time that their grants stand
            log.warning("whether the grants of doors stand cannot be told now: %s", type(error).__name__)

    async def _settle(self, browser: ManagedBrowser, door: dict[str, Any], session: SessionAccess | None) -> None:
        why = _why_over(door["grant_id"], session)
        if why is None:
            await browser.control.keep_door(door["door_id"])
        elif await browser.control.close_door(door["door_id"], str(why)):
            log.info("door %s was closed: %s", door["door_id"], why)
            self._notes.note(
                "door_closed",
                browser_id=browser.browser_id,
                door_id=door["door_id"],
                grant_id=door["grant_id"],
                why=str(why),
            )


def _why_over(grant_id: str, session: SessionAccess | None) -> ErrorCode | None:
    if session is None:
        return ErrorCode.SESSION_CLOSED
    grant = next((record.view for record in session.grants if record.view.grant_id == grant_id), None)
    return ErrorCode.GRANT_UNKNOWN if grant is None else why_over(grant, session)
