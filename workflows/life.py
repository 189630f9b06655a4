"""The steps of a handoff's life, one at a time."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

from temporalio import workflow

from user_handoff.contract.conditions import AnyCondition, Completion
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import (
    BeginReceipt,
    FinishReceipt,
    FinishRequest,
    HandoffRequest,
    HandoffState,
    HoldEnd,
    Reply,
    Result,
    RevokeReason,
)
from user_handoff.contract.secret_questions import secret_refusal
from user_handoff.contract.session import PostMessage
from user_handoff.workflows.desk import Desk
from user_handoff.workflows.record import Record
from user_handoff.workflows.telling import Telling

_UNSURE = (ErrorCode.RUNNER_UNAVAILABLE, ErrorCode.FAILED, ErrorCode.OUTCOME_UNKNOWN)
"""Refusals after which there may be a hold all the same."""

_NO_BROWSER = (ErrorCode.BROWSER_GONE, ErrorCode.UNKNOWN_BROWSER)


class Life:
    """The life of one handoff. Messages note what is wanted; `step` does the first thing that can be done."""

    def __init__(self, request: HandoffRequest) -> None:
        self.record = Record(request, workflow.info().workflow_id, workflow.now())
        self.finish_wanted = False
        self.close_wanted = False
        self.revoke_wanted: RevokeReason | None = None
        self.finishes: list[FinishReceipt | HandoffError] = []
        self.close_error: HandoffError | None = None
        self._desk = Desk(request)
        self._beginning: asyncio.Task[BeginReceipt | HandoffError] | None = None
        self._guard: asyncio.Task[Any] | None = None
        self._finishing: asyncio.Task[Any] | None = None
        self._closing: asyncio.Task[Any] | None = None
        self._checking: asyncio.Task[Any] | None = None
        self._telling = Telling(self.record)
        self._lean = True

    def start(self) -> None:
        """Ask for the hold."""
        # One mark for all that keeps a history short: see `Telling.entered` and `leave`.
        self._lean = self._telling.lean = workflow.patched("lean")
        self._telling.began()
        self._beginning = asyncio.create_task(self._begin())

    def _steps(self) -> list[tuple[bool, Callable[[], None]]]:
        """What could be done now, the first first."""
        state = self.record.state
        begun = state is not HandoffState.REQUESTED
        open_ = state in (HandoffState.HELD, HandoffState.EXPIRED)
        over = self.record.turn_over and self.record.request.finish_on_reply
        finish = self.finish_wanted or (over and state is HandoffState.HELD and not self.finishes)
        return [
            (self.revoke_wanted is not None, self._on_revoked),
            (not begun and _done(self._beginning), self._on_begun),
            (_done(self._finishing), self._on_finished),
            (_done(self._guard) and self._finishing is None and self._checking is None, self._on_guard_ended),
            (_done(self._closing), self._on_closed),
            (_done(self._checking) and self._closing is None, self._on_checked),
            (begun and self.close_wanted and self._closing is None, self._start_closing),
            (open_ and finish and self._finishing is None and self._closing is None, self._start_finishing),
            (state is HandoffState.HELD and self._seconds_left() <= 0 and self._closing is None, self._on_deadline),
        ]

    def _next(self) -> Callable[[], None] | None:
        return next((act for ready, act in self._steps() if ready), None)

    async def step(self) -> None:
        """Wait until something can be done, and do it. The deadline is the last of all that is ready."""
        waits = self.record.state is HandoffState.HELD and self._closing is None and self._seconds_left() > 0
        try:
            await workflow.wait_condition(
                lambda: self._next() is not None,
                timeout=timedelta(seconds=self._seconds_left()) if waits else None,
                timeout_summary="A person is waited for: see User Metadata" if waits else None,
            )
        except asyncio.CancelledError:
            self._cancelled()
        except TimeoutError:
            (self._next() or self._on_deadline)()
        else:
            act = self._next()
            if act:
                act()

    async def leave(self) -> None:
        """After the end: tell the session of a sign-in, leave nothing behind, and answer everybody who waits."""
        if self.record.signed_in and (self._lean or workflow.patched("tells-its-session")):
            await _to_the_end(self._telling.session())
        refusal = self.record.refusal
        if refusal and refusal.code in _UNSURE and not refusal.details.get("never_started"):
            self._telling.parent()  # it need not wait for what follows
            await _to_the_end(self._desk.undo_begin())
        await _to_the_end(self._telling.news.sent())
        await _to_the_end(workflow.wait_condition(workflow.all_handlers_finished))

    def take_reply(self, reply: Reply) -> None:
        """Note an answer."""
        if self.record.take_reply(reply):
            self._telling.news.answered()
        self._telling.show()

    def take_finish(self, finish: FinishRequest) -> None:
        """Note that the browser is to be taken back, if the fence is right."""
        if self.record.finish_refusal(finish) is None:
            self.finish_wanted = True

    def take_close(self) -> None:
        """Note that the browser is to be closed."""
        self.close_wanted, self.close_error = True, None

    async def _begin(self) -> BeginReceipt | HandoffError:
        return self._secret_refusal() or await self._authorize() or await self._desk.begin()

    async def _authorize(self) -> HandoffError | None:
        refusal = await self._desk.authorize()
        self._telling.news.wanted_by(self._desk.configured.endpoints)
        return refusal

    def _secret_refusal(self) -> HandoffError | None:
        """Instructions are a todo, whatever message carries them: none may ask a person to write a secret down."""
        request = self.record.request
        todo = PostMessage(message_id=request.message_id, text=request.instructions)
        refusal = secret_refusal(todo, request.session_id)
        # What had begun before this was refused goes on.
        return refusal if refusal is not None and workflow.patched("refuses-secret-instructions") else None

    def _on_begun(self) -> None:
        assert self._beginning is not None
        receipt = self._beginning.result()
        if isinstance(receipt, HandoffError):
            self._refuse(receipt)
            return
        left = timedelta(seconds=receipt.expires_in_seconds)
        # The desktop's clock counts only as far as it fits ours: the hold was made between asking and now.
        made = min(max(receipt.expires_at - left, self.record.requested_at), workflow.now())
        self.record.receipt = receipt
        self.record.deadline = made + left
        self._enter(HandoffState.HELD)
        self._guard = asyncio.create_task(self._desk.guard(self._watched()))
        if self.record.reply is None and not self.close_wanted:
            self._telling.person(self._desk)

    def _refuse(self, error: HandoffError) -> None:
        if error.code is ErrorCode.RUNNER_LOST:
            error = make_error(
                ErrorCode.RUNNER_UNAVAILABLE,
                "The desktop did not answer.",
                holds=error.holds,
                do_next=error.do_next,
                **error.details,
            )
        self.record.refusal = error
        self._end(HandoffState.REFUSED, Result.REFUSED, message=str(error))

    def _start_finishing(self) -> None:
        self.finish_wanted = False
        self._enter(HandoffState.FINISHING)
        self._finishing = asyncio.create_task(self._desk.finish(confirmed=self.record.confirmed))

    def _on_finished(self) -> None:
        assert self._finishing is not None
        receipt, self._finishing = self._finishing.result(), None
        self.finishes.append(receipt)
        if isinstance(receipt, FinishReceipt):
            self.record.finish_receipt = receipt.model_copy(update={"state": HandoffState.RECOVERING})
            self._enter(HandoffState.RECOVERING)
        elif receipt.code is ErrorCode.RUNNER_LOST:
            self._lost(str(receipt))
        else:  # nothing was taken back: still held, and what ended it, if anything did, comes by the guard
            self.record.message = str(receipt)
            self._enter(HandoffState.EXPIRED if self.record.expired else HandoffState.HELD)

    def _on_guard_ended(self) -> None:
        assert self._guard is not None
        end, self._guard = self._guard.result(), None
        if isinstance(end, HoldEnd) and end.how == "observed":
            # it stands: from here its end alone is waited for
            self.record.observed = True
            self._guard = asyncio.create_task(self._desk.guard())
            return
        if self.record.state is HandoffState.HELD and self._seconds_left() <= 0:
            self.record.expired = True  # the end was seen first, as after an outage, and came after the deadline
        if isinstance(end, HandoffError):
            gone = end.code in _NO_BROWSER
            self._revoked(RevokeReason.BROWSER_CRASHED if gone else RevokeReason.RUNNER_LOST, str(end))
        elif end.how == "closed":
            self._end(HandoffState.CLOSED, Result.CLOSED, message="The browser was closed.")
        elif end.how == "revoked":
            self._revoked(end.reason or RevokeReason.RUNNER_LOST)
        else:
            self._on_recovered()

    def _watched(self) -> AnyCondition | None:
        """What is looked for while the person has the browser."""
        request = self.record.request
        return None if request.completion is Completion.PERSON else request.verify

    def _on_recovered(self) -> None:
        if self.record.state is not HandoffState.RECOVERING:
            self._enter(HandoffState.RECOVERING)
        said = self.record.said_result()
        if said is None and self.record.request.verify is not None and not self.record.expired:
            self._checking = asyncio.create_task(self._desk.check())
        else:
            message = "" if said else "No condition was looked for."
            self._end(HandoffState.COMPLETED, said or Result.NOT_VERIFIED, message=message)

    def _on_checked(self) -> None:
        assert self._checking is not None
        seen, self._checking = self._checking.result(), None
        if isinstance(seen, HandoffError):
            if seen.code is ErrorCode.RUNNER_LOST:
                self._lost(str(seen))
            else:
                self._end(HandoffState.COMPLETED, Result.NOT_VERIFIED, message=str(seen))
            return
        self.record.observation = seen
        result = Result.VERIFIED if seen.met else Result.NOT_VERIFIED
        self._end(HandoffState.COMPLETED, result, message="" if seen.met else "The condition was not observed.")

    def _start_closing(self) -> None:
        self._closing = asyncio.create_task(self._desk.close())

    def _on_closed(self) -> None:
        assert self._closing is not None
        receipt, self._closing, self.close_wanted = self._closing.result(), None, False
        if not isinstance(receipt, HandoffError) or receipt.code in _NO_BROWSER:
            self._end(HandoffState.CLOSED, Result.CLOSED, message="The browser was closed.")
            return
        self.close_error = receipt
        if receipt.code is ErrorCode.RUNNER_LOST:
            self._lost(str(receipt))

    def _on_deadline(self) -> None:
        self.record.expired = True
        self.record.message = "Nobody finished in time. The browser is open and stays paused."
        self._enter(HandoffState.EXPIRED)

    def _on_revoked(self) -> None:
        assert self.revoke_wanted is not None
        self._revoked(self.revoke_wanted)

    def _revoked(self, reason: RevokeReason, message: str = "") -> None:
        result = Result.RUNNER_LOST if reason is RevokeReason.RUNNER_LOST else Result.REVOKED
        self._end(HandoffState.REVOKED, result, reason=reason, message=message or f"The hold ended: {reason}.")

    def _lost(self, message: str) -> None:
        self._revoked(RevokeReason.RUNNER_LOST, message)

    def _cancelled(self) -> None:
        self.record.message = "Cancelled: the browser is closed, since a hold never ends by itself."
        self.take_close()

    def _enter(self, state: HandoffState) -> None:
        self.record.state = state
        self._telling.entered()

    def _end(
        self, state: HandoffState, result: Result, *, reason: RevokeReason | None = None, message: str = ""
    ) -> None:
        self.record.end(state, result, reason=reason, message=message)
        self._telling.entered()

    def _seconds_left(self) -> float:
        deadline = self.record.deadline
        return (deadline - workflow.now()).total_seconds() if deadline else 0.0


async def _to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Bring to an end what a cancellation must not cut short."""
    task = asyncio.create_task(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            continue


def _done(task: asyncio.Task[Any] | None) -> bool:
    return task is not None and task.done()
