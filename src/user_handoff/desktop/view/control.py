"""Who may type on this desktop now: the lease, and the hold that it serves."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Protocol

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.evidence.noting import Notes, Unnoted
from user_handoff.desktop.handoff.holds import Holds
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.lease.lease import TTL_SECONDS, Lease
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.view.tickets import Viewer

log = logging.getLogger(__name__)


class Holder(Protocol):
    """A viewer's connection, as far as control goes."""

    @property
    def viewer(self) -> Viewer:
        """Who it is."""

    def input_over(self, why: str) -> None:
        """Their input is over at this moment."""


class Control:
    """The one lease of a desktop. Its own clock ends it; the file is the truth, and is read before every dispatch."""

    def __init__(
        self,
        leases: Leases,
        subject: str,
        holds: Holds,
        changed: Callable[[str], None],
        *,
        ttl: float = TTL_SECONDS,
        notes: Notes | None = None,
    ) -> None:
        """Prepare.

        Args:
            leases: The leases.
            subject: The desktop.
            holds: Which browsers a person has.
            changed: Called with the reason when somebody got or lost control.
            ttl: How long a lease lasts without a renewal, in seconds.
            notes: Takes what happened.
        """
        self._notes = notes or Unnoted()
        self._leases = leases
        self._subject = subject
        self._under_takeover = f"{subject}.view"
        self._holds = holds
        self._changed = changed
        self._ttl = ttl
        self._lease: Lease | None = None
        self._holder: Holder | None = None
        self._clock: asyncio.TimerHandle | None = None

    def hold(self, handoff_id: str) -> HoldRecord | None:
        """The record of a hold that a person has now; None where it has ended, expired, or never was."""
        record = self._holds.record(handoff_id)
        return record if record is not None and record.phase is Phase.HELD and record.seconds_left > 0 else None

    def forget(self) -> None:
        """At the start: end what an earlier runner, whose connections are gone, left behind."""
        for subject in (self._subject, self._under_takeover):
            left = self._leases.current(subject)
            if left is not None and left.cause == "view":
                self._leases.end(left)

    def seems_to_type(self, holder: Holder) -> bool:
        """True where they have control as far as is known without a look at the leases: nothing is sent on that."""
        return self._lease is not None and self._holder is holder and self.hold(holder.viewer.handoff_id) is not None

    def may_type(self, holder: Holder) -> bool:
        """True where this viewer has control at this moment, and the browser is still held for them."""
        lease = self._lease
        if lease is None or self._holder is not holder:
            return False
        record = self.hold(holder.viewer.handoff_id)
        return record is not None and self._leases.stands(lease) and self._taken_over_stands(record)

    def _taken_over_stands(self, record: HoldRecord) -> bool:
        """True where the hold is no takeover, or the takeover's own lease stands at this moment."""
        if record.taken is None:
            return True
        try:
            standing = self.standing
        except HandoffError as error:
            log.error("control is off: %s", error.what)
            return False
        return standing is not None and standing.lease_id == record.taken.lease_id

    @property
    def standing(self) -> Lease | None:
        """The lease of the desktop that stands, whoever has it."""
        return self._leases.current(self._subject)

    @property
    def lease(self) -> Lease | None:
        """The lease of whoever acts through a view; a person who took over may have that of the desktop besides."""
        standing = self.standing
        return standing if standing is None or standing.cause == "view" else self._leases.current(self._under_takeover)

    def is_mine(self, holder: Holder, lease: Lease) -> bool:
        """True where a lease is this viewer's."""
        return self._holder is holder and self._lease is not None and self._lease.lease_id == lease.lease_id

    def take(self, holder: Holder, instead_of: str | None = None) -> Lease:
        """Give this viewer control.

        Args:
            holder: Who asks for it.
            instead_of: The lease of another viewer of the same hold that they take it from, by an explicit act.

        Raises:
            Refused: `not_held`: the hold is over. `forbidden`: they may only look.
            Held: `lease_taken`: somebody has it.
        """
        viewer = holder.viewer
        record = self.hold(viewer.handoff_id)
        if record is None:
            raise not_held()
        if viewer.mode != "control":
            raise make_error(ErrorCode.FORBIDDEN, "This viewer may only look.", holds="Nothing was changed.")
        if self._holder is holder and self._lease is not None and self._leases.stands(self._lease):
            return self._lease
        self._require_same_hold(viewer, instead_of)
        if not self._taken_over_stands(record):
            raise not_held()
        lease = self._leases.take(
            self._subject if record.taken is None else self._under_takeover,
            viewer.viewer_id,
            viewer.handoff_id,
            seconds=record.seconds_left,
            ttl=self._ttl,
            instead_of=instead_of,
        )
        self._end_for("taken")
        self._lease, self._holder = lease, holder
        self._wind()
        self._note("lease_taken", viewer)
        log.info("%s: %s has control", viewer.handoff_id, viewer.viewer_id)
        self._changed("taken")
        return lease

    def renew(self, holder: Holder) -> None:
        """The viewer is still there. What is over stays over."""
        self._renew_takeover(holder.viewer)
        if self._lease is None or self._holder is not holder:
            return
        try:
            record = self.hold(holder.viewer.handoff_id)
            if record is None:
                raise not_held()
            self._lease = self._leases.renew(self._lease)
            self._wind()
        except HandoffError:
            self._finish("lost")

    def _renew_takeover(self, viewer: Viewer) -> None:
        """Who took over is there, whether they type at this moment or only look."""
        record = self.hold(viewer.handoff_id)
        if record is not None and record.taken is not None and viewer.mode == "control":
            with contextlib.suppress(HandoffError):  # then it is over, and its own clock ends it
                self._leases.renew_by_id(self._subject, record.taken.lease_id)

    def give_up(self, holder: Holder, why: str = "given_up") -> None:
        """End the control of this viewer, if they have it."""
        if self._holder is holder:
            self._finish(why)

    def end_hold(self, handoff_id: str, why: str) -> None:
        """End the control of whoever acts for this hold."""
        if self._holder is not None and self._holder.viewer.handoff_id == handoff_id:
            self._finish(why)

    def close(self) -> None:
        """End all control."""
        self._finish("closed")

    def _require_same_hold(self, viewer: Viewer, instead_of: str | None) -> None:
        if instead_of is None:
            return
        standing = self.standing
        if standing is not None and standing.about != viewer.handoff_id:
            raise make_error(
                ErrorCode.LEASE_TAKEN,
                "Somebody acts on this desktop for another request.",
                holds="They keep control.",
                do_next="Wait until they are done.",
            )

    def _wind(self) -> None:
        """Set the clock to the end of the lease as it stands."""
        if self._clock is not None:
            self._clock.cancel()
        assert self._lease is not None
        left = max(0.0, self._lease.ends - time.monotonic())
        self._clock = asyncio.get_running_loop().call_later(left, self._run_out)

    def _run_out(self) -> None:
        assert self._lease is not None
        self._finish("expired" if time.monotonic() >= self._lease.deadline else "silent")

    def _finish(self, why: str) -> None:
        lease = self._lease
        if lease is None:
            return
        self._end_for(why)
        try:
            self._leases.end(lease)
        except HandoffError as error:
            log.error("a lease could not be ended, and ends by itself: %s", error.what)
        log.info("%s: control has ended: %s", lease.about, why)
        self._changed(why)

    def _end_for(self, why: str) -> None:
        """Input is dead first; everything else comes after."""
        holder, self._lease, self._holder = self._holder, None, None
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
        if holder is not None:
            holder.input_over(why)
            self._note("lease_lost" if why == "lost" else "lease_ended", holder.viewer, why)

    def _note(self, event: str, viewer: Viewer, why: str | None = None) -> None:
        self._notes.note(
            event, browser_id=viewer.browser_id, about=viewer.handoff_id, viewer_id=viewer.viewer_id, why=why
        )


def not_held() -> HandoffError:
    """The refusal where the browser is not held for a person, or no longer."""
    return make_error(
        ErrorCode.NOT_HELD,
        "The browser is not held for a person now.",
        holds="Nobody was let in, and nothing was typed.",
        do_next="Open the link anew while the request waits.",
    )
