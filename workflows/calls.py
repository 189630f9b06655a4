"""Calling a desktop from an agent's workflow: an effect at most once, an observation again if need be."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType, is_cancelled_exception

from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import from_failure
from user_handoff.contract.names import SERVER_QUEUE, Activities
from user_handoff.contract.session import CURRENT, CurrentRequest, CurrentSession

T = TypeVar("T")

PATIENCE = timedelta(seconds=60)
"""How long a desktop that nobody serves is waited for."""

_MARGIN = timedelta(seconds=15)
"""What is left to a desktop beyond the time that it was given itself."""

_ONCE = RetryPolicy(maximum_attempts=1)
_AGAIN = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_attempts=3)
_WHILE_FULL = RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=5))


async def effect(queue: str, name: str, arg: Any, result_type: type[T], *, seconds: float, summary: str) -> T:
    """Do something at most once.

    Raises:
        Refused: Nothing was done; the code says why.
        OutcomeUnknown: It was started and its end was not seen.
    """
    return await _call(queue, name, [arg], result_type, seconds, _ONCE, summary)


async def observation(queue: str, name: str, arg: Any, result_type: type[T], *, seconds: float, summary: str) -> T:
    """Look, three times at most: what a desktop refuses is not asked again, what it does not answer is.

    Raises:
        Refused: The code says why.
        OutcomeUnknown: No answer came.
    """
    return await _call(queue, name, [arg], result_type, seconds, _AGAIN, summary)


async def claim(queue: str, name: str, result_type: type[T], *, summary: str) -> T:
    """Ask the first desktop that is free, for a minute.

    Raises:
        Refused: No desktop answered, or all are full.
    """
    return await _call(queue, name, [], result_type, 15, _WHILE_FULL, summary, within=PATIENCE)


async def exact_session(session_id: str, owner: str, key: str) -> str:
    """The exact id of a session: where it is `CURRENT`, that of the owner's newest open one, the same for each key.

    Raises:
        Refused: ``session_not_found``: the owner has none open.
    """
    if session_id != CURRENT:
        return session_id
    ask = CurrentRequest(owner=owner, key=key)
    found = await observation(
        SERVER_QUEUE, Activities.CURRENT_SESSION, ask, CurrentSession, seconds=15, summary="Find the current session"
    )
    return found.session_id


async def _call(
    queue: str,
    name: str,
    args: Sequence[Any],
    result_type: type[T],
    seconds: float,
    retry: RetryPolicy,
    summary: str,
    within: timedelta | None = None,
) -> T:
    try:
        result: T = await workflow.execute_activity(
            name,
            args=args,
            task_queue=queue,
            result_type=result_type,
            schedule_to_start_timeout=PATIENCE,
            start_to_close_timeout=timedelta(seconds=seconds) + _MARGIN,
            schedule_to_close_timeout=within,
            retry_policy=retry,
            summary=summary,
        )
    except ActivityError as failure:
        if is_cancelled_exception(failure):
            raise
        raise from_failure(failure) or _untyped(failure) from failure
    return result


def _untyped(failure: ActivityError) -> HandoffError:
    cause = failure.cause
    if isinstance(cause, ApplicationError) and cause.type == ErrorCode.BROWSER_LIMIT:
        return make_error(
            ErrorCode.BROWSER_LIMIT,
            "Every desktop is full.",
            holds="Nothing was started.",
            do_next="Close a browser (`handoff status` there lists them), or start another desktop.",
            outcome=EffectOutcome.NOT_STARTED,
        )
    if isinstance(cause, TimeoutError) and cause.type is TimeoutType.SCHEDULE_TO_START:
        return make_error(
            ErrorCode.RUNNER_UNAVAILABLE,
            "No desktop took the request.",
            holds="Nothing was done.",
            do_next="See whether its runner is up (handoff runner), then ask again.",
            outcome=EffectOutcome.NOT_STARTED,
        )
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        f"{failure.activity_type} was started, and its end was not seen.",
        holds="It may or may not have been done.",
        do_next="Take a snapshot and look before you act again.",
        outcome=EffectOutcome.OUTCOME_UNKNOWN,
    )
