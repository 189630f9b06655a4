"""The audit of sessions: calls are noted in batches, so that a call waits for nothing."""

import asyncio
import logging
from collections import deque
from typing import Final

from user_handoff.client.calls import ask
from user_handoff.client.client import HandoffClient
from user_handoff.contract.access import AUDIT_KEPT, Audit, AuditBatch, AuditEntry
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.contract.names import Workflows

BATCH_SECONDS: Final = 0.25
"""How long a call waits for others to be noted with it. So much is lost where this process is killed."""

MAX_SESSIONS: Final = 1_000
"""Of how many sessions calls wait at most."""

_LATER_SECONDS: Final = 2.0
_OVER: Final = (ErrorCode.SESSION_NOT_FOUND, ErrorCode.UNKNOWN_HANDOFF)

log = logging.getLogger(__name__)


class AuditLog:
    """Notes the calls of sessions, in their order, and reads them back."""

    def __init__(self, client: HandoffClient, *, patience_seconds: float) -> None:
        self._client = client
        self._patience = patience_seconds
        self._waiting: dict[str, deque[AuditEntry]] = {}
        self._sending = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def note(self, session_id: str, entry: AuditEntry) -> None:
        """Note a call. Nothing is waited for."""
        # What would not be kept in the session is not kept here either.
        self._waiting.setdefault(session_id, deque(maxlen=AUDIT_KEPT)).append(entry)
        while len(self._waiting) > MAX_SESSIONS:
            dropped = next(iter(self._waiting))
            log.error("the audit of session %s is not kept: too many sessions wait", dropped)
            del self._waiting[dropped]
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_soon())

    async def flush(self) -> None:
        """Send what waits, now.

        Raises:
            HandoffError: Temporal does not answer; what waits still waits.
        """
        async with self._sending:
            waiting, self._waiting = self._waiting, {}
            failed = await asyncio.gather(*(self._send(*each) for each in waiting.items()))
        for error in failed:
            if error is not None:
                raise error

    async def close(self) -> None:
        """Send what waits, as far as Temporal answers, and end."""
        if self._task is not None:
            self._task.cancel()
        try:
            await self.flush()
        except HandoffError as error:
            log.error("the last calls are missing from the audit: %s", error.code)

    async def read(self, session_id: str) -> tuple[AuditEntry, ...]:
        """The last calls of a session, in order, those that wait here included."""
        await self.flush()
        handle = self._client.temporal.get_workflow_handle(session_workflow_id(session_id))
        audit: Audit = await ask(
            lambda: handle.query(Workflows.AUDIT, result_type=Audit), handle.id, patience_seconds=self._patience
        )
        return audit.entries

    async def _send_soon(self) -> None:
        pause = BATCH_SECONDS
        while self._waiting:
            await asyncio.sleep(pause)
            try:
                await self.flush()
                pause = BATCH_SECONDS
            except HandoffError as error:
                log.warning("the audit waits: %s", error.code)
                pause = _LATER_SECONDS

    async def _send(self, session_id: str, entries: deque[AuditEntry]) -> HandoffError | None:
        handle = self._client.temporal.get_workflow_handle(session_workflow_id(session_id))
        batch = AuditBatch(batch_id=new_id("a"), entries=tuple(entries))
        try:
            await ask(
                lambda: handle.signal(Workflows.AUDIT, batch), handle.id, patience_seconds=self._patience, receipt=True
            )
        except HandoffError as error:
            if error.code in _OVER:
                log.info("session %s has ended; %d calls are not in its audit", session_id[:64], len(entries))
                return None
            later = self._waiting.pop(session_id, ())
            self._waiting[session_id] = deque([*entries, *later], maxlen=AUDIT_KEPT)
            return error
        return None
