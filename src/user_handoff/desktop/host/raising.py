"""What may bring a window to the front goes by the desktop's ledger: a person may be typing in another browser."""

import logging
from pathlib import Path

from user_handoff.contract.errors import Held
from user_handoff.contract.ids import new_id
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Permit
from user_handoff.desktop.reservation.store import closed

logger = logging.getLogger(__name__)


class Raising:
    """Takes a permit of the whole desktop for each such command, so that a handoff that begins waits for its end."""

    def __init__(self, ledger: Path | None) -> None:
        self._path = ledger
        self._ledger: Ledger | None = None
        self._me = ProcessIdentity.current()

    def admit(self) -> Permit | None:
        """Admit one; None where this browser is on no desktop that has a ledger.

        Raises:
            HandoffError: `desktop_held`, or `reservation_closed` where the ledger cannot be trusted.
        """
        if self._path is None:
            return None
        if self._ledger is None:
            if not self._path.exists():
                raise closed("its file is not there")
            self._ledger = Ledger(self._path)
        return self._ledger.acquire("native", None, new_id("e"), self._me)

    def end(self, permit: Permit | None) -> None:
        """It has ended."""
        if permit is not None and self._ledger is not None:
            try:
                self._ledger.release(permit)
            except Held:
                logger.warning("a permit could not be released")  # what is left keeps a drain from ending
