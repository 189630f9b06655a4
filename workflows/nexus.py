"""Handoffs of another namespace, as an agent's workflow asks for them through a Nexus endpoint.

remote = RemoteHandoffs("user-handoff")
outcome = await remote.handoff(HandoffRequest(...))
outcome.require_verified()
"""

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import NexusOperationError, is_cancelled_exception

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import BeginReceipt, FinishReceipt, HandoffRequest, Outcome, Summary
from user_handoff.contract.nexus import AskSummary, FinishHandoff, HandoffService

PATIENCE = timedelta(minutes=2)
"""How long an answer is waited for, and asked for again under the same ids."""

T = TypeVar("T")


class RemoteHandoffs:
    """The handoffs behind one endpoint. Every refusal is a `HandoffError`, as it is at home."""

    def __init__(self, endpoint: str, patience: timedelta = PATIENCE) -> None:
        """Use an endpoint.

        Args:
            endpoint: Its name: its target is the namespace and the task queue of `handoff server`.
            patience: How long `begin`, `finish` and `summary` are tried. `handoff` waits as long as the handoff lasts.
        """
        self._service = workflow.create_nexus_client(service=HandoffService, endpoint=endpoint)
        self._patience = patience

    async def handoff(self, request: HandoffRequest) -> Outcome:
        """Ask a person, and wait for how it ends. A running handoff of the same association is joined.

        To cancel this call is to close the browser, as it is to cancel a handoff.

        Raises:
            HandoffError: It could not be asked; the code says why.
        """
        return await _typed(self._service.execute_operation(HandoffService.handoff, request), "handoff")

    async def begin(self, request: HandoffRequest) -> BeginReceipt:
        """Ask for a hold, and wait until it exists; asked again, the same receipt.

        Raises:
            HandoffError: The code says why; `OutcomeUnknown` where no receipt came in time.
        """
        call = self._service.execute_operation(HandoffService.begin, request, schedule_to_close_timeout=self._patience)
        return await _typed(call, "begin")

    async def finish(self, handoff_id: str, handoff_fence: str) -> FinishReceipt:
        """Take the browser back by its exact fence; asked again, the same receipt.

        Raises:
            HandoffError: The code says why; `OutcomeUnknown` where no receipt came in time.
        """
        finish = FinishHandoff(handoff_id=handoff_id, handoff_fence=handoff_fence)
        call = self._service.execute_operation(HandoffService.finish, finish, schedule_to_close_timeout=self._patience)
        return await _typed(call, "finish")

    async def summary(self, handoff_id: str) -> Summary:
        """What holds now, also after the end.

        Raises:
            HandoffError: ``unknown_handoff``, or `OutcomeUnknown` where no answer came in time.
        """
        ask = AskSummary(handoff_id=handoff_id)
        call = self._service.execute_operation(HandoffService.summary, ask, schedule_to_close_timeout=self._patience)
        return await _typed(call, "summary")


async def _typed(call: Coroutine[Any, Any, T], name: str) -> T:
    try:
        return await call
    except NexusOperationError as failure:
        if is_cancelled_exception(failure):
            raise
        raise from_failure(failure) or make_error(
            ErrorCode.OUTCOME_UNKNOWN,
            f"The operation {name} got no answer.",
            holds="It may or may not have been done.",
            do_next="Ask again: under the same ids it counts once.",
        ) from failure
