"""Asking Temporal until something answers, and saying in our own types why it did not."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

from temporalio.client import (
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, make_error
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import ID_PATTERN
from user_handoff.contract.takeover import unknown_takeover

_LOG = logging.getLogger(__name__)

_LOST: Final = frozenset(
    {
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.DEADLINE_EXCEEDED,
        RPCStatusCode.CANCELLED,
        RPCStatusCode.RESOURCE_EXHAUSTED,
        RPCStatusCode.ABORTED,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.UNKNOWN,
        # A query that no worker answers.
        RPCStatusCode.FAILED_PRECONDITION,
    }
)

T = TypeVar("T")


async def ask(
    call: Callable[[], Awaitable[T]],
    workflow_id: str,
    *,
    patience_seconds: float,
    receipt: bool = False,
    bounded: bool = True,
) -> T:
    """Call, and call again while connections are lost: the same call, so that a request keeps its ids.

    Args:
        call: Makes one call; it must be safe to repeat.
        workflow_id: Whom it is about, for the error.
        patience_seconds: How long to go on while nothing answers.
        receipt: True where the call asks for a change: without an answer it may have been made.
        bounded: False where the call itself may wait for long; then only an outage is bounded.

    Raises:
        HandoffError: What the workflow refused with, or why there is no answer.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + patience_seconds
    pause = 0.1
    while True:
        began = clock()
        try:
            async with asyncio.timeout_at(deadline if bounded else None):
                return await call()
        except (RPCError, TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
            _let_cancellation_through(error)
            if isinstance(error, RPCError) and error.status not in _LOST:
                raise _refusal(error, workflow_id) from error
            if not bounded and clock() - began > patience_seconds:
                # It was waiting in peace until now: the outage begins here.
                deadline = clock() + patience_seconds
            if clock() + pause >= deadline:
                raise _no_answer(workflow_id, receipt) from error
        except (WorkflowUpdateFailedError, WorkflowQueryFailedError, WorkflowFailureError) as error:
            raise _carried(error, workflow_id) from error
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2.0)


async def told_by_each(ids: Iterable[str], look: Callable[[str], Awaitable[T]], at_once: int = 10) -> list[T]:
    """What many workflows tell, in their order: one that cannot tell hides no other.

    Args:
        ids: Which. Those that are gone are left out, and so is one that does not answer while others do.
        look: Asks one of them.
        at_once: How many are asked at once.

    Raises:
        HandoffError: None of them answers.
    """
    gate = asyncio.Semaphore(at_once)
    silent: dict[str, HandoffError] = {}

    async def told(workflow_id: str) -> list[T]:
        async with gate:
            try:
                return [await look(workflow_id)]
            except Gone:
                return []
            except HandoffError as error:
                silent[workflow_id] = error
                return []

    found = [each for told_by_one in await asyncio.gather(*map(told, ids)) for each in told_by_one]
    if silent and not found:
        raise next(iter(silent.values()))
    for workflow_id, error in silent.items():
        _LOG.warning("%s is left out of a list: %s Look at it in the Temporal UI.", workflow_id, error.what)
    return found


def _let_cancellation_through(error: BaseException) -> None:
    # The SDK turns a cancelled update into an error of its own.
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from error


def unknown_handoff(handoff_id: str) -> HandoffError:
    """No handoff has this id, or it has ended and takes no requests."""
    return make_error(
        ErrorCode.UNKNOWN_HANDOFF,
        "There is no such handoff, or it has ended.",
        holds="Nothing was changed.",
        do_next="Check its id: `handoff list` names those that wait; the summary of one tells how it ended.",
        handoff_id=handoff_id[:210],
    )


def _unknown(workflow_id: str) -> HandoffError:
    if workflow_id.startswith("takeover/"):
        return unknown_takeover(workflow_id)
    if not workflow_id.startswith(("session/", "principal/", "inbox/")):
        return unknown_handoff(workflow_id)
    return make_error(
        ErrorCode.SESSION_NOT_FOUND,
        "There is no such session, or it has ended.",
        holds="Nothing was changed.",
        do_next="Open a session first: POST /v1/sessions, or `HandoffClient.open_session`.",
    )


def _refusal(error: RPCError, name: str) -> HandoffError:
    """What Temporal refused, typed."""
    if error.status is RPCStatusCode.NOT_FOUND:
        return _unknown(name)
    return make_error(
        ErrorCode.TEMPORAL_UNREACHABLE,
        f"Temporal refused the call ({error.status.name.lower()}).",
        holds="Nothing was changed.",
        do_next="Check the credentials and the namespace: handoff doctor.",
    )


def _no_answer(name: str, receipt: bool) -> HandoffError:
    """Neither Temporal nor a worker answered in time.

    Args:
        name: The workflow's id.
        receipt: True where the call asked for a change, which may have been made.
    """
    if receipt:
        return make_error(
            ErrorCode.OUTCOME_UNKNOWN,
            "Temporal, or the worker that runs handoffs, gave no receipt in time.",
            holds="The request may or may not have been taken.",
            do_next="Make the same call again: under the same ids it counts once.",
            workflow_id=name,
        )
    return make_error(
        ErrorCode.TEMPORAL_UNREACHABLE,
        "Temporal, or the worker that runs handoffs, does not answer.",
        holds="Nothing was changed.",
        do_next="Start them (handoff up, or handoff server), or check TEMPORAL_ADDRESS.",
        workflow_id=name,
    )


def _carried(error: BaseException, name: str) -> HandoffError:
    """The typed error that a failed update, query or workflow carries."""
    ours = from_failure(error)
    if ours is not None:
        return ours
    cause = error.cause if isinstance(error, WorkflowUpdateFailedError) else None
    if isinstance(cause, ApplicationError) and cause.type == "AcceptedUpdateCompletedWorkflow":
        return _unknown(name)
    return make_error(
        ErrorCode.FAILED,
        "The workflow failed without a reason of ours.",
        holds="What was asked for is not known to be done.",
        do_next="Look at it in the Temporal UI.",
        workflow_id=name,
    )


def safe_id(value: str) -> str:
    """An id that may stand in a query of a list.

    Raises:
        Refused: ``invalid_request``.
    """
    if not re.fullmatch(ID_PATTERN, value):
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            "That is not an id.",
            holds="Nothing was done.",
            do_next="Give letters, digits, - and _ only.",
        )
    return value
