"""Telling agents that the list of their tools has changed, on every edge of what there is to read."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.requests import InboxView

_LOG = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.5
"""How often an inbox is looked at while anybody listens."""

_MOST: Final = 20
"""How many edges are told one by one; more at once tell no more."""

Tell = Callable[[], Awaitable[None]]


class Watches:
    """Who listens to which session. One look serves all who listen to the same one; without any there is none."""

    def __init__(self, look: Callable[[str], Awaitable[InboxView]]) -> None:
        """Make it.

        Args:
            look: Tells what there is to read in a session.
        """
        self._look = look
        self._listeners: dict[str, dict[object, Tell]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def listen(self, session_id: str, who: object, tell: Tell, edges: int) -> Callable[[], None]:
        """Let someone be told, until what is returned is called.

        Args:
            session_id: Which session.
            who: Who listens: once, however often this is called.
            tell: Tells them.
            edges: What they have seen: later edges are told.
        """
        self._listeners.setdefault(session_id, {})[who] = tell
        if session_id not in self._tasks:
            self._tasks[session_id] = asyncio.create_task(self._watch(session_id, edges))

        def leave() -> None:
            listeners = self._listeners.get(session_id, {})
            listeners.pop(who, None)
            if not listeners:
                self._listeners.pop(session_id, None)
                task = self._tasks.pop(session_id, None)
                if task is not None:
                    task.cancel()

        return leave

    @contextlib.asynccontextmanager
    async def listening(self, session_id: str, who: object, tell: Tell, edges: int) -> AsyncIterator[None]:
        """The same for as long as a block runs."""
        leave = self.listen(session_id, who, tell, edges)
        try:
            yield
        finally:
            leave()

    def close(self) -> None:
        """Watch no more."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self._listeners.clear()

    async def _watch(self, session_id: str, edges: int) -> None:
        while True:
            try:
                now = (await self._look(session_id)).edges
            except HandoffError as error:
                _LOG.debug("an inbox could not be looked at: %s", error.code)
                now = edges
            # An inbox that was forgotten counts from zero again.
            for _ in range(min(_MOST, now - edges if now >= edges else 1)):
                await self._tell(session_id)
            edges = now
            await asyncio.sleep(LOOK_SECONDS)

    async def _tell(self, session_id: str) -> None:
        for tell in list(self._listeners.get(session_id, {}).values()):
            try:
                await tell()
            except Exception as error:  # one listener that is gone must not keep it from the others
                _LOG.debug("a listener could not be told: %s", type(error).__name__)
