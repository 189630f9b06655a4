"""What a handoff asks of its desktop and of the server: one method an activity, with its patience."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType, is_cancelled_exception

from user_handoff.contract.conditions import AnyCondition, Observation
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import (
    BeginHold,
    BeginReceipt,
    CheckCondition,
    CloseReceipt,
    FinishHold,
    FinishReceipt,
    GuardHold,
    HandoffRequest,
    HoldEnd,
    HoldRequest,
    LinkGrant,
    Notice,
)
from user_handoff.contract.names import SERVER_QUEUE, Activities
from user_handoff.contract.session import Authorize, Authorized

T = TypeVar("T")

HEARTBEAT = timedelta(seconds=10)
"""A desktop that says nothing for so long while it works is taken to be gone, and asked again."""

BEGIN_SECONDS, FINISH_SECONDS, CLOSE_SECONDS = 25.0, 30.0, 60.0
"""How long a desktop that took a request is waited for, beyond the time to drain, before it is asked again."""

FOREVER = timedelta(days=30)
RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=500), backoff_coefficient=1.5, maximum_interval=timedelta(seconds=5)
)


class Desk:
    """The desktop of one handoff. Every answer is a value or a typed error, never an exception.

    Attributes:
        configured: Whom the server tells; known once it was asked.
    """

    def __init__(self, request: HandoffRequest) -> None:
        self._request = request
        self._patience = timedelta(seconds=request.lost_after_seconds)
        self._fence = ""
        self.configured = Authorized(notifies=True)

    async def authorize(self) -> HandoffError | None:
        """Ask the server whether the owner may hand over under this message, and whether somebody is told of it."""
        request = self._request
        answer = await answer_of(
            workflow.start_activity(
                Activities.AUTHORIZE,
                Authorize(session_id=request.session_id, message_id=request.message_id, owner=request.owner),
                task_queue=SERVER_QUEUE,
                result_type=Authorized | None,  # type: ignore[arg-type]
                start_to_close_timeout=timedelta(seconds=15),
                schedule_to_close_timeout=timedelta(minutes=2),
                retry_policy=RETRY,
                summary="May this agent hand over?",
            ),
            self._refused,
        )
        if isinstance(answer, HandoffError) and answer.code in (ErrorCode.RUNNER_LOST, ErrorCode.FAILED):
            return make_error(
                ErrorCode.SESSION_NOT_FOUND,
                "The session could not be asked.",
                holds="Nothing is held.",
                do_next="See whether the server worker is up; then ask again with a new message.",
                session_id=request.session_id,
            )
        if isinstance(answer, HandoffError):
            return answer
        self.configured = answer or self.configured
        return None

    async def begin(self) -> BeginReceipt | HandoffError:
        """Ask for the hold."""
        request = self._request
        hold = BeginHold(
            handoff_id=request.handoff_id,
            browser_id=request.browser_id,
            session_id=request.session_id,
            message_id=request.message_id,
            owner=request.owner,
            timeout_seconds=request.timeout_seconds,
            preempt=request.preempt,
        )
        receipt = await self._ask(
            Activities.BEGIN,
            hold,
            BeginReceipt,
            timedelta(seconds=hold.drain_seconds + BEGIN_SECONDS),
            within=self._patience + timedelta(minutes=1),
            summary="Hold the browser",
        )
        if isinstance(receipt, BeginReceipt):
            self._fence = receipt.handoff_fence
        return receipt

    async def guard(self, watch: AnyCondition | None = None) -> HoldEnd | HandoffError:
        """Watch the hold until it ends, or a condition is observed in it."""
        hold = self._hold()
        # what an earlier version of a desktop does not know is sent only where it is needed
        ask = hold if watch is None else GuardHold(**hold.model_dump(), watch=watch)
        return await self._ask(Activities.GUARD, ask, HoldEnd, FOREVER, summary="Watch the hold")

    async def finish(self, *, confirmed: bool = False) -> FinishReceipt | HandoffError:
        """Take the browser back, and say so where a person has confirmed what it shows."""
        hold = self._hold()
        return await self._ask(
            Activities.FINISH,
            FinishHold(**hold.model_dump(), confirmed=True) if confirmed else hold,
            FinishReceipt,
            timedelta(seconds=FINISH_SECONDS),
            summary="Take the browser back",
        )

    async def close(self) -> CloseReceipt | HandoffError:
        """Close the browser, and the hold with it."""
        return await self._ask(
            Activities.CLOSE,
            self._hold(),
            CloseReceipt,
            timedelta(seconds=CLOSE_SECONDS),
            summary="Close the browser",
        )

    async def check(self) -> Observation | HandoffError:
        """Look for what must be observable now."""
        condition, seconds = self._request.verify, self._request.verify_seconds
        assert condition is not None
        return await self._ask(
            Activities.CHECK,
            CheckCondition(browser_id=self._request.browser_id, condition=condition, timeout_seconds=seconds),
            Observation,
            timedelta(seconds=seconds + 15),
            summary="Look for the outcome",
        )

    async def undo_begin(self) -> None:
        """Find out whether a begin without an answer made a hold after all, and finish it if so."""
        receipt = await self.begin()
        if isinstance(receipt, BeginReceipt):
            await self.finish()

    async def notify(self, deadline: datetime) -> LinkGrant | HandoffError | None:
        """Tell a person."""
        request = self._request
        notice = Notice(
            handoff_id=request.handoff_id,
            owner=request.owner,
            instructions=request.instructions,
            boundary=request.boundary,
            expires_at=deadline,
        )
        link: LinkGrant | HandoffError | None = await answer_of(
            workflow.start_activity(
                Activities.NOTIFY,
                notice,
                task_queue=SERVER_QUEUE,
                result_type=LinkGrant | None,  # type: ignore[arg-type]
                start_to_close_timeout=timedelta(seconds=30),
                schedule_to_close_timeout=timedelta(seconds=request.timeout_seconds),
                retry_policy=RETRY,
                summary="Tell a person",
            )
        )
        return link

    def _refused(self, failure: ActivityError) -> None:
        """A refusal says, too, whom the server tells of it."""
        cause = failure.cause
        if isinstance(cause, ApplicationError) and len(cause.details) > 1:
            self.configured = Authorized.model_validate(cause.details[1])

    def _hold(self) -> HoldRequest:
        return HoldRequest(
            handoff_id=self._request.handoff_id, browser_id=self._request.browser_id, handoff_fence=self._fence
        )

    async def _ask(
        self,
        name: str,
        arg: object,
        result_type: type[T],
        takes: timedelta,
        *,
        summary: str,
        within: timedelta | None = None,
    ) -> T | HandoffError:
        return await ask_desktop(
            self._request.queue, name, arg, result_type, takes, self._patience, summary=summary, within=within
        )


async def ask_desktop(
    queue: str,
    name: str,
    arg: object,
    result_type: type[T],
    takes: timedelta,
    patience: timedelta,
    *,
    summary: str,
    within: timedelta | None = None,
) -> T | HandoffError:
    """What a desktop answers.

    Args:
        queue: Where it is asked.
        name: Which activity.
        arg: What is asked.
        result_type: What it answers.
        takes: How long one attempt may take.
        patience: How long it may wait for a runner: the one sign of a queue that nobody polls.
        summary: What the UI shows of it.
        within: How long all attempts may take.
    """
    answer: T | HandoffError = await answer_of(
        workflow.start_activity(
            name,
            arg,
            task_queue=queue,
            result_type=result_type,
            schedule_to_start_timeout=patience,
            start_to_close_timeout=takes,
            schedule_to_close_timeout=within,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
            summary=summary,
        )
    )
    return answer


async def answer_of(handle: "asyncio.Task[Any]", on_failure: Callable[[ActivityError], None] | None = None) -> Any:
    """What an activity answers; its failure as a typed error, and not raised."""
    try:
        return await handle
    except ActivityError as failure:
        if is_cancelled_exception(failure):
            raise
        if on_failure:
            on_failure(failure)
        return from_failure(failure) or _silence(failure)


def _silence(failure: ActivityError) -> HandoffError:
    """The error for an activity that gave no answer of ours."""
    cause = failure.cause
    timed_out = isinstance(cause, TimeoutError)
    never_started = (
        isinstance(cause, TimeoutError) and cause.type is TimeoutType.SCHEDULE_TO_START and cause.cause is None
    )
    return make_error(
        ErrorCode.RUNNER_LOST if timed_out else ErrorCode.FAILED,
        f"{failure.activity_type} got no answer." if timed_out else f"{failure.activity_type} failed.",
        holds="It was not started." if never_started else "It may have been done.",
        do_next="See whether the desktop's runner is up; then ask again with a new message.",
        never_started=never_started,
    )
