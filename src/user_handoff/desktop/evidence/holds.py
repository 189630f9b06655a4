"""What is noted of holds: each change, by who owns the browser and why."""

from user_handoff.desktop.evidence.noting import Notes
from user_handoff.desktop.handoff.records import HoldRecord, Phase

_STAND = (Phase.BEGINNING, Phase.HELD)


class HoldNotes:
    """Notes every change of a hold; see `Holds.listen`."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def changed(self, record: HoldRecord) -> None:
        """Note where the hold stands now."""
        self._notes.note(
            f"hold_{record.phase}",
            browser_id=record.browser_id,
            about=record.handoff_id,
            owner=record.owner,
            session_id=record.session_id,
            reason=record.reason,
            kind="handoff" if record.taken is None else "takeover",
            cause=None if record.taken is None else str(record.taken.cause),
            seconds=record.seconds_left if record.phase in _STAND else None,
        )
