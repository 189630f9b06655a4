"""The live view of one desktop: who may look, what they are shown, and who may type."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.view import AdmitViewer, ViewerAdmitted
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.evidence.noting import Notes
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.view.clipboard import ViewClipboard
from user_handoff.desktop.view.connection import Socket
from user_handoff.desktop.view.control import Control, not_held
from user_handoff.desktop.view.door import Door
from user_handoff.desktop.view.locking import Locks
from user_handoff.desktop.view.picture import Picture, unavailable
from user_handoff.desktop.view.settings import ViewSettings
from user_handoff.desktop.view.stage import Stage
from user_handoff.desktop.view.tickets import Tickets, Viewer
from user_handoff.desktop.view.viewing import Viewing

log = logging.getLogger(__name__)

_MOST_VIEWERS = 4
_REMEMBERED = 1024
_SUBJECT = "desktop"
_CLEAR_SECONDS = 5.0
"""How long who comes waits until nothing else can be seen."""

PidOf = Callable[[str], int | None]


class View:
    """The live view. A real display has none: there the person is at the desk.

    Attributes:
        address: Where gateways find it; None where there is none.
    """

    def __init__(
        self,
        display: Display,
        holds: Holds,
        leases: Leases,
        pid_of: PidOf,
        settings: ViewSettings | None = None,
        notes: Notes | None = None,
    ) -> None:
        """Prepare; `open` lets viewers in.

        Args:
            display: What is shown.
            holds: Which browsers a person has.
            leases: Who may type.
            pid_of: The process of a browser, by its id.
            settings: How it is reached.
            notes: Takes what happened.
        """
        self._display = display
        self._holds = holds
        self._pid_of = pid_of
        self._settings = settings or ViewSettings()
        self._tickets = Tickets()
        self._door = Door(self._tickets, self._serve)
        self._stage = Stage(display, self._curtain_lost)
        self._clipboard = ViewClipboard(display)
        self.control = Control(
            leases, _SUBJECT, holds, self._control_changed, ttl=self._settings.ttl_seconds, notes=notes
        )
        self.locks = Locks(self._lock_changed, notes)
        self._viewings: list[Viewing] = []
        self._shown: str | None = None
        self._staging = asyncio.Lock()
        self._known: deque[str] = deque(maxlen=_REMEMBERED)
        self.address: str | None = None

    async def open(self, folder: Path) -> None:
        """Let viewers in.

        Args:
            folder: Where the socket is made (0700).

        Raises:
            SetupError: `port_taken`: it cannot listen where it was told to.
        """
        if self._display.rfb_socket is None:
            return
        self.control.forget()
        self._holds.listen(self._hold_changed)
        listen = self._settings.listen
        if listen is None:
            found = await self._door.open_socket(folder / "view")
        else:
            found = await self._door.open_address(*listen)
        self.address = self._settings.address or found

    async def aclose(self) -> None:
        """End every view."""
        self.control.close()
        for viewing in self._viewings:
            viewing.end("closed")
        await self._door.close()
        await self._stage.leave()
        await self._clipboard.aclose()

    async def admit(self, request: AdmitViewer) -> ViewerAdmitted:
        """Wait for one viewer of a held browser, for a moment.

        Raises:
            Refused: `view_unavailable`: there is nothing to see here, or no room. `not_held`: the hold is over.
                `forbidden`: the viewer's id was used before.
            Held: `desktop_held`: another person acts on this desktop now, and what they do is theirs.
        """
        if self.address is None:
            raise unavailable("this desktop is not a virtual one", "Act at the desk, in the browser's own window.")
        record = self.control.hold(request.handoff_id)
        if record is None or record.browser_id != request.browser_id:
            raise not_held()
        if request.viewer_id in self._known:
            raise make_error(
                ErrorCode.FORBIDDEN,
                "This viewer's id was used before.",
                holds="Nobody was let in.",
                do_next="Open the link anew.",
            )
        self._require_room(request.handoff_id)
        self._require_free_stage(request.handoff_id)
        self._known.append(request.viewer_id)
        self._tickets.expect(request)
        return ViewerAdmitted(viewer_id=request.viewer_id, address=self.address)

    def _require_free_stage(self, handoff_id: str) -> None:
        """What one person does is not shown to another: one browser is shown at a time."""
        lease = self.control.standing
        if lease is not None and lease.about != handoff_id:
            raise make_error(
                ErrorCode.DESKTOP_HELD,
                "Another person acts on this desktop now, for another request.",
                holds="They keep it; nothing of it is shown.",
                do_next="Try again when they are done.",
            )

    async def _serve(self, viewer: Viewer, connection: Socket) -> None:
        try:
            viewing = await self._enter(viewer, connection)
        except HandoffError as error:
            log.warning("%s: %s is not shown it: %s", viewer.handoff_id, viewer.viewer_id, error.what)
            await self._clear_stage()
            await connection.close(1011, str(error.code))
            return
        log.info("%s: %s looks", viewer.handoff_id, viewer.viewer_id)
        try:
            await viewing.run()
        finally:
            self._viewings.remove(viewing)
            log.info(
                "%s: %s is gone, %d messages passed on, %d dropped",
                viewer.handoff_id,
                viewer.viewer_id,
                viewing.hands.passed,
                viewing.hands.dropped,
            )
            await self._clear_stage()

    async def _enter(self, viewer: Viewer, connection: Socket) -> Viewing:
        """Let them look. One at a time: what is shown stays so until they are among those who look."""
        async with self._staging:
            self._require_room(viewer.handoff_id)
            await self._set_stage(viewer)
            assert self._display.rfb_socket is not None
            picture = await Picture.open(self._display.rfb_socket)
            if self.control.hold(viewer.handoff_id) is None:  # who is not among them yet is not told of its end
                await picture.close()
                raise not_held()
            viewing = Viewing(viewer, connection, picture, self.control, self._clipboard, self._stage, self.locks)
            self._viewings.append(viewing)
            return viewing

    def _require_room(self, handoff_id: str) -> None:
        if sum(each.viewer.handoff_id == handoff_id for each in self._viewings) >= _MOST_VIEWERS:
            raise unavailable(f"{_MOST_VIEWERS} viewers look at it already", "Close one of them.")

    async def _set_stage(self, viewer: Viewer) -> None:
        record = self.control.hold(viewer.handoff_id)
        pid = self._pid_of(viewer.browser_id)
        if record is None or pid is None:
            raise not_held()
        self._require_free_stage(viewer.handoff_id)
        if self._shown != viewer.handoff_id:
            for viewing in self._viewings:
                viewing.cut("other")  # nobody acts there, and somebody wants to act here
        await self._stage.show(pid)
        if not await self._stage.is_clear(_CLEAR_SECONDS):
            raise _not_clear()
        self._shown = viewer.handoff_id

    async def _clear_stage(self) -> None:
        async with self._staging:
            if not self._viewings:
                self._shown = None
                await self._stage.leave()
                await self._clipboard.clear()

    def _hold_changed(self, record: HoldRecord) -> None:
        """Called at the moment in which a hold changes: input is dead before anything else happens."""
        if record.phase is Phase.BEGINNING:
            self.locks.forget(record.browser_id)
        if record.phase is Phase.HELD:
            return
        why = "expired" if record.phase is Phase.EXPIRED else "over"
        self.control.end_hold(record.handoff_id, why)
        if record.phase is Phase.RETURNING:
            return  # nothing more is typed; they may look until the browser is the agent's again
        for viewing in self._viewings:
            if viewing.viewer.handoff_id == record.handoff_id:
                viewing.end(why)

    def _curtain_lost(self) -> None:
        """Without the curtain all of the desktop would be shown."""
        self.control.close()
        for viewing in self._viewings:
            viewing.cut("display")

    def lock(self, request: LockUi) -> UiLocked:
        """Drop what is typed here for a browser, for a moment; the person ends that by one click.

        Raises:
            Refused: `already_decided`: a lock stands, or the person has ended one in this hold.
        """
        hold = self._holds.active(request.browser_id)
        return self.locks.set(request, None if hold is None else hold.handoff_id)

    def _lock_changed(self, browser_id: str) -> None:
        for viewing in self._viewings:
            if viewing.viewer.browser_id == browser_id:
                viewing.tell_lock()

    def _control_changed(self, why: str) -> None:
        for viewing in self._viewings:
            viewing.tell_control(why)


def _not_clear() -> HandoffError:
    return make_error(
        ErrorCode.DESKTOP_HELD,
        "Something else of the desktop is before this browser, and could not be hidden.",
        holds="Nothing was shown; the hold is as it was.",
        do_next="Try again; if it stays, look whether the desktop's window manager answers.",
    )
