"""What the doors of a browser are used for, as the evidence has it: counts at each change, and the first refusal.

Thousands of commands may come by a door in a second. Not each is a record; and the loop that passes them on waits for
no file: another thread writes.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.evidence.events import name_of
from user_handoff.desktop.evidence.noting import Fact, Notes, Unnoted
from user_handoff.desktop.evidence.outside import FILE, OutsideNotes
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.policy import Kind

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Use:
    who: str | None
    admitted: int = 0
    refused: int = 0
    told: bool = False


class DoorUse:
    """Counts what comes by each door of one browser."""

    def __init__(self, notes: Notes, browser_id: str) -> None:
        self._notes = notes
        self._browser_id = browser_id
        self._doors: dict[str, _Use] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="notes")  # it starts with the first note

    def opened(self, door_id: str, name: str) -> None:
        """A door was opened."""
        self._doors[door_id] = _Use(name_of(name))

    def admitted(self, client: CdpClient, kind: Kind) -> None:
        """A command of a client was sent to the browser; it counts where it acts, or is code."""
        use = self._of(client)
        if use is not None and kind in (Kind.EFFECT, Kind.EVALUATE):
            use.admitted += 1

    def refused(self, client: CdpClient, method: str, code: ErrorCode, hold_id: str | None) -> None:
        """A command of a client was refused. The first one since the last change is a record of its own, at once."""
        use = self._of(client)
        if use is None or not isinstance(client, AgentClient):
            return
        use.refused += 1
        if not use.told:
            use.told = True
            self._note("effect_refused", client.door, use, hold_id, action=method, code=str(code))

    def changed(self, why: str, hold_id: str) -> None:
        """Control has changed hands."""
        logger.info(why)
        for door_id in self._doors:
            self._count(door_id, why, hold_id)

    def closed(self, door_id: str, why: str) -> None:
        """A door was closed."""
        if door_id in self._doors:
            self._count(door_id, why, None)
            del self._doors[door_id]

    def close(self) -> None:
        """Write what there is, and end."""
        self._thread.shutdown()
        if isinstance(self._notes, OutsideNotes):
            self._notes.close()

    def _of(self, client: CdpClient) -> _Use | None:
        return self._doors.get(client.door) if isinstance(client, AgentClient) else None

    def _count(self, door_id: str, why: str, hold_id: str | None) -> None:
        use = self._doors[door_id]
        self._note("door_used", door_id, use, hold_id, why=why, admitted=use.admitted, refused=use.refused)
        use.admitted, use.refused, use.told = 0, 0, False

    def _note(self, event: str, door_id: str, use: _Use, hold_id: str | None, **facts: Fact) -> None:
        note = self._notes.note

        def write() -> None:
            note(event, browser_id=self._browser_id, about=hold_id, via="door", who=use.who, door_id=door_id, **facts)

        try:
            self._thread.submit(write)
        except RuntimeError:  # the browser has ended
            logger.info("the use of door %s is not noted", door_id)


def notes_beside(ledger: Path | None) -> Notes:
    """Where a host notes what happens: beside the ledger of its desktop; nowhere where it is on none."""
    if ledger is None:
        return Unnoted()
    return OutsideNotes(ledger.with_name(FILE), ledger.name.partition(".")[0])
