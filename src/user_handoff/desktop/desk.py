"""The desktop's gate, as other programs of the same user find it: by the state folder alone."""

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, HandoffError, Held, make_error
from user_handoff.contract.ids import ID_PATTERN
from user_handoff.desktop.evidence.noting import Fact
from user_handoff.desktop.evidence.outside import FILE as NOTES
from user_handoff.desktop.evidence.outside import OutsideNotes
from user_handoff.desktop.host.spec import HostRecord
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Permit, Scope
from user_handoff.desktop.reservation.store import closed
from user_handoff.desktop.serving import FILE, Serving, read_serving
from user_handoff.desktop.state import DESKTOP, default_state_folder

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeskPermit:
    """An effect that was admitted. Check again right before it, and release it afterwards."""

    row: Permit
    ledger: Ledger
    desk: "Desk"

    def recheck(self) -> None:
        """See to it that nobody has taken control since.

        Raises:
            Held: Somebody has, the ledger cannot be trusted any more, or another desktop is served by now.
        """
        if self.desk.ledger() is not self.ledger:
            raise closed("another desktop is served by now")
        self.row.recheck()

    def release(self) -> None:
        """End it; again is the same."""
        try:
            self.ledger.release(self.row)
        except Held:
            # what is left keeps a drain from ending, so it fails closed
            log.warning("the permit of effect %s could not be released", self.row.effect_id)


class Desk:
    """One desktop's gate. The desktop may be started anew meanwhile; then the new one counts."""

    def __init__(self, state: Path | None = None, client_id: str | None = None) -> None:
        """Name it; nothing is opened.

        Args:
            state: The state folder; None: the default one.
            client_id: The machine that the desktop has to be of; None: whichever it is.
        """
        self.folder = (state or default_state_folder()).expanduser().absolute() / DESKTOP
        self._client_id = client_id
        self._seen: tuple[int, int] | None = None
        self._ledger: Ledger | None = None
        self._serving: Serving | None = None
        self._notes: OutsideNotes | None = None
        self._browsers: dict[str, HostRecord] = {}

    def ledger(self) -> Ledger:
        """The ledger of the desktop that is served now.

        Raises:
            Refused: `runner_unavailable`, or `invalid_request`: it is another machine's.
            Held: `reservation_closed`.
        """
        mark = self._mark()
        if self._ledger is None or mark is None or mark != self._seen:
            self._open(read_serving(self.folder))
            self._seen = mark
        assert self._ledger is not None
        return self._ledger

    def require_browser(self, browser_id: str) -> None:
        """See to it that a browser lives on this desktop: nothing would ever stand against a wrong id.

        Raises:
            Gone: `unknown_browser` or `browser_gone`.
            Held: `reservation_closed`: what is written of it cannot be understood.
        """
        record = self._browsers.get(browser_id) or self._record(browser_id)
        if not record.alive():
            raise _no_browser(ErrorCode.BROWSER_GONE, "The browser has ended.", browser_id)
        self._browsers[browser_id] = record

    def _record(self, browser_id: str) -> HostRecord:
        folder = self.folder / "browsers" / browser_id
        if not re.match(ID_PATTERN, browser_id) or not folder.is_dir():
            raise _no_browser(ErrorCode.UNKNOWN_BROWSER, "This desktop has no browser of that id.", browser_id)
        try:
            return HostRecord.read(folder)
        except FileNotFoundError:
            raise _no_browser(ErrorCode.BROWSER_GONE, "The browser has ended.", browser_id) from None
        except (OSError, KeyError, TypeError, ValueError):
            raise closed("what is written of the browser cannot be understood") from None

    def check(self, scope: Scope, browser_id: str | None) -> int:
        """Say whether an effect would be admitted now; returns the epoch.

        Raises:
            Held: It would not be.
        """
        return self.ledger().check(scope, browser_id)

    def epoch(self) -> int:
        """A number that every change of control raises."""
        return self.ledger().epoch()

    def acquire(
        self, scope: Scope, browser_id: str | None, effect_id: str, owner: ProcessIdentity | None = None
    ) -> DeskPermit:
        """Admit an effect.

        Args:
            scope: What it touches.
            browser_id: The browser of a page effect.
            effect_id: What `handoff status` calls it.
            owner: The process that does it: the permit ends with it. None: this one.

        Raises:
            Held: `browser_held`, `desktop_held` or `reservation_closed`: nothing was admitted.
            Refused: There is no such desktop or browser.
        """
        if browser_id is not None:
            self.require_browser(browser_id)
        ledger = self.ledger()
        row = ledger.acquire(scope, browser_id, effect_id, owner or ProcessIdentity.current())
        return DeskPermit(row, ledger, self)

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: Fact) -> None:
        """Note for the desktop's evidence what this program does; see `Notes.note`. Without a desktop: nothing."""
        if self._notes is not None:
            self._notes.note(event, browser_id=browser_id, about=about, **facts)

    def close(self) -> None:
        """Close its files; the next use opens them again."""
        for file in (self._ledger, self._notes):
            if file is not None:
                file.close()

    def _mark(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self.folder / FILE)  # noqa: PTH116  (before each effect)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _open(self, serving: Serving) -> None:
        if self._client_id not in (None, serving.client_id):
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"The desktop of this state folder is that of {serving.client_id}, not of {self._client_id}.",
                holds="Nothing was started.",
                do_next="Name its own state folder with --state, or the client of this one.",
                client_id=serving.client_id,
            )
        if serving == self._serving:
            return
        self._notes = OutsideNotes(self.folder / NOTES, serving.desktop_id)
        path = serving.ledger(self.folder)
        if not path.exists():
            raise closed("it is missing")  # one that is made here would admit everything
        self._ledger, self._serving = Ledger(path), serving


def _no_browser(code: ErrorCode, what: str, browser_id: str) -> HandoffError:
    return make_error(
        code,
        what,
        holds="Nothing was started.",
        do_next="`handoff status` tells the ids of this desktop's browsers.",
        browser_id=browser_id[:64],
    )
