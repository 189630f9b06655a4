"""Holds in memory: which browser a person has, under the rules of the real ones."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from user_handoff.contract import handoff as h
from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.testing.browser import MemoryBrowser
from user_handoff.testing.person import ScriptedPerson

_SURFACE = h.Surface(backend="x11", window_id=1, pid=1, process_started=0.0, x=0, y=0, width=1280, height=800)


@dataclass
class Hold:
    """One hold, also after its end."""

    browser: MemoryBrowser
    receipt: h.BeginReceipt
    person: ScriptedPerson
    finished: h.FinishReceipt | None = None
    over: "asyncio.Future[h.HoldEnd]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def active(self) -> bool:
        """True until the fresh look that follows its finish, or another end."""
        return not self.over.done()

    def end(self, how: str, reason: h.RevokeReason | None = None) -> None:
        """End it; the first end stands."""
        if self.active:
            end = {"handoff_id": self.receipt.handoff_id, "how": how, "reason": reason}
            self.over.set_result(h.HoldEnd.model_validate(end))


class Holds:
    """The holds of one desktop."""

    def __init__(self) -> None:
        self._holds: dict[str, Hold] = {}

    def active(self, browser: MemoryBrowser | None = None) -> Hold | None:
        """The hold that a browser is under, or any of the desktop."""
        found = (hold for hold in self._holds.values() if hold.active and browser in (None, hold.browser))
        return next(found, None)

    def begin(self, browser: MemoryBrowser, request: h.BeginHold, next_person: Callable[[], ScriptedPerson]) -> Hold:
        """Hold a browser; asking again changes nothing.

        Raises:
            Refused: ``not_owner``, ``handoff_active`` or ``association_used``.
        """
        known = self._holds.get(request.handoff_id)
        if known is not None and known.active:
            return known
        if browser.spec.owner != request.owner:
            raise _not_begun(ErrorCode.NOT_OWNER, "The browser belongs to another principal.")
        if self.active(browser):
            raise _not_begun(ErrorCode.HANDOFF_ACTIVE, "Another handoff has this browser.")
        if known is not None:
            raise _not_begun(ErrorCode.ASSOCIATION_USED, "This browser, session and message had their handoff already.")
        person = next_person()
        seconds = min(request.timeout_seconds, person.hold_seconds or request.timeout_seconds)
        receipt = h.BeginReceipt(
            handoff_id=request.handoff_id,
            handoff_fence=secrets.token_urlsafe(18),
            surface=_SURFACE,
            expires_at=datetime.now(UTC) + timedelta(seconds=seconds),
            expires_in_seconds=seconds,
            pages=browser.page_infos(),
        )
        self._holds[request.handoff_id] = Hold(browser, receipt, person)
        return self._holds[request.handoff_id]

    def checked(self, request: h.HoldRequest) -> Hold:
        """The hold that is named, for who has its exact fence.

        Raises:
            Gone: ``unknown_handoff``.
            Stale: ``fence_mismatch``.
        """
        hold = self._holds.get(request.handoff_id)
        if hold is None:
            raise _unknown(request.handoff_id)
        if hold.receipt.handoff_fence != request.handoff_fence:
            raise make_error(
                ErrorCode.FENCE_MISMATCH,
                "The fence is not the one of this hold.",
                holds="The hold stands as it was.",
                do_next="Use the fence that begin returned.",
                handoff_id=request.handoff_id,
            )
        return hold

    def finish(self, request: h.HoldRequest) -> h.FinishReceipt:
        """Take a browser back; every page must be looked at before effects on it. Asking again changes nothing.

        Raises:
            Gone: ``unknown_handoff``.
            Stale: ``fence_mismatch``.
        """
        hold = self.checked(request)
        if hold.finished is None:
            if not hold.active:
                raise _unknown(request.handoff_id)
            hold.browser.given_back()
            hold.finished = h.FinishReceipt(
                handoff_id=request.handoff_id,
                pages=hold.browser.page_infos(),
                state=h.HandoffState.RECOVERING,
            )
        return hold.finished

    def looked(self, browser: MemoryBrowser, page_id: str | None) -> None:
        """A page was looked at: the first look after a finish ends the hold; one during a hold resumes nothing."""
        hold = self.active(browser)
        if hold is not None and hold.finished is None:
            return
        browser.tab(page_id).needs_snapshot = False
        if hold is not None:
            hold.end("recovered")

    def check_close(self, browser: MemoryBrowser) -> None:
        """Refuse to close a browser under its person.

        Raises:
            Held: ``browser_held``.
        """
        hold = self.active(browser)
        if hold is not None and hold.finished is None:
            raise make_error(
                ErrorCode.BROWSER_HELD,
                "A handoff holds this browser.",
                holds="It was not closed, and is as it was.",
                do_next=f"`handoff close {hold.receipt.handoff_id}` ends the handoff, and closes the browser with it.",
                handoff_id=hold.receipt.handoff_id,
            )

    def check_effect(self, browser: MemoryBrowser | None) -> None:
        """Refuse an effect while a person has the browser; None: an effect on the whole desktop.

        Raises:
            Held: ``browser_held`` or ``desktop_held``.
        """
        hold = self.active(browser)
        if hold is not None:
            raise make_error(
                ErrorCode.BROWSER_HELD if browser else ErrorCode.DESKTOP_HELD,
                f"A person has {'this browser' if browser else 'a browser on this desktop'}.",
                holds="The effect was not started.",
                do_next="Wait until the person is done, take a fresh snapshot, then act.",
                handoff_id=hold.receipt.handoff_id,
                outcome=str(EffectOutcome.NOT_STARTED),
            )


def _not_begun(code: ErrorCode, what: str) -> HandoffError:
    return make_error(code, what, holds="Nothing was begun.", do_next="Hand over under a new message.")


def _unknown(handoff_id: str) -> HandoffError:
    return make_error(
        ErrorCode.UNKNOWN_HANDOFF,
        "This desktop knows no such hold.",
        holds="Nothing was changed.",
        do_next="Read the summary of the handoff.",
        handoff_id=handoff_id,
    )
