"""What a takeover asks of its desktop: one method an activity, with its patience."""

from datetime import timedelta
from typing import Literal, TypeVar, cast

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.names import Activities
from user_handoff.contract.takeover import (
    BeginTakeover,
    GuardTakeover,
    ReturnTakeover,
    TakeoverBegun,
    TakeoverNow,
    TakeoverRequest,
    TakeoverState,
)
from user_handoff.workflows.desk import BEGIN_SECONDS, FINISH_SECONDS, FOREVER, ask_desktop

T = TypeVar("T")

_INTERRUPTS = timedelta(seconds=15)
"""How long a person who interrupts waits for a desktop that nobody serves."""


class TakeoverDesk:
    """The desktop of one takeover. Every answer is a value or a typed error, never an exception."""

    def __init__(self, request: TakeoverRequest) -> None:
        self._request = request

    async def begin(self) -> TakeoverBegun | HandoffError:
        """Ask for the browser."""
        request = self._request
        begin = BeginTakeover(
            takeover_id=request.takeover_id,
            browser_id=request.browser_id,
            number=request.number,
            role=request.role,
            by=request.by,
            cause=request.cause,
            why=request.why,
            seconds=request.seconds,
            preempt=request.preempt,
        )
        takes = timedelta(seconds=begin.drain_seconds + BEGIN_SECONDS)
        # Who waits no longer has gone: what is begun much later is nobody's, and its lease ends it.
        return await self._ask(
            Activities.BEGIN_TAKEOVER, begin, TakeoverBegun, takes, _INTERRUPTS, "Give a person the browser", takes
        )

    async def guard(self, known: TakeoverState) -> TakeoverNow | HandoffError:
        """Wait until it stands elsewhere."""
        request = self._request
        guard = GuardTakeover(takeover_id=request.takeover_id, browser_id=request.browser_id, known=known)
        patience = timedelta(seconds=request.lost_after_seconds)
        return await self._ask(Activities.GUARD_TAKEOVER, guard, TakeoverNow, FOREVER, patience, "Watch the takeover")

    async def give_back(self, wanted: ReturnTakeover) -> TakeoverNow | HandoffError:
        """Take the browser back from the person."""
        takes, patience = timedelta(seconds=FINISH_SECONDS), timedelta(seconds=self._request.lost_after_seconds)
        return await self._ask(
            Activities.RETURN_TAKEOVER, wanted, TakeoverNow, takes, patience, "Give the browser back", patience + takes
        )

    def return_as(self, how: str, note: str) -> ReturnTakeover:
        """What is asked of the desktop where the person gives it back."""
        return ReturnTakeover(
            takeover_id=self._request.takeover_id,
            browser_id=self._request.browser_id,
            how=cast(Literal["returned", "cancelled"], how),
            note=note,
        )

    async def _ask(
        self,
        name: str,
        arg: object,
        result_type: type[T],
        takes: timedelta,
        patience: timedelta,
        summary: str,
        within: timedelta | None = None,
    ) -> T | HandoffError:
        return await ask_desktop(
            self._request.queue, name, arg, result_type, takes, patience, summary=summary, within=within
        )
