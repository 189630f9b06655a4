"""The Nexus service of handoffs: each operation is a call that may be made again under the same ids."""

from collections.abc import Awaitable
from typing import NoReturn, TypeVar

from nexusrpc import HandlerError, HandlerErrorType, OperationError, OperationErrorState
from nexusrpc.handler import StartOperationContext, service_handler, sync_operation
from temporalio import nexus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.nexus import WorkflowRunOperationContext, workflow_run_operation

from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError, OutcomeUnknown, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.handoff import BeginReceipt, FinishReceipt, HandoffRequest, Outcome, Summary
from user_handoff.contract.nexus import AskSummary, FinishHandoff, HandoffService
from user_handoff.workflows.handoff import HandoffWorkflow

PATIENCE_SECONDS = 7.0
"""How long one try waits. The server gives a try ten seconds, and tries again as long as the caller wants."""

T = TypeVar("T")


@service_handler(service=HandoffService)
class HandoffServiceHandler:
    """Answers for the handoffs of this worker's namespace."""

    @workflow_run_operation
    async def handoff(self, ctx: WorkflowRunOperationContext, request: HandoffRequest) -> nexus.WorkflowHandle[Outcome]:
        """Start a handoff, or join the one that runs."""
        client = _client()
        exact = await _typed(client.exact_session(request.session_id, request.owner, request.message_id))
        request = request.model_copy(update={"session_id": exact})
        try:
            return await self._start(ctx, request, WorkflowIDConflictPolicy.FAIL)
        except WorkflowAlreadyStartedError:
            summary = await _typed(client.summary(request.handoff_id))
        if summary.owner != request.owner:
            _refuse(_refusal(ErrorCode.NOT_OWNER, "This handoff was asked for by somebody else.", request))
        try:
            return await self._start(ctx, request, WorkflowIDConflictPolicy.USE_EXISTING)
        except WorkflowAlreadyStartedError:
            what = "This browser, session and message had their handoff already."
            _refuse(_refusal(ErrorCode.ASSOCIATION_USED, what, request))

    async def _start(
        self, ctx: WorkflowRunOperationContext, request: HandoffRequest, conflict: WorkflowIDConflictPolicy
    ) -> nexus.WorkflowHandle[Outcome]:
        return await ctx.start_workflow(
            HandoffWorkflow.run,
            request,
            id=request.handoff_id,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=conflict,
        )

    @sync_operation
    async def begin(self, ctx: StartOperationContext, request: HandoffRequest) -> BeginReceipt:
        """Ask for a hold."""
        return await _typed(_client().begin(request))

    @sync_operation
    async def finish(self, ctx: StartOperationContext, finish: FinishHandoff) -> FinishReceipt:
        """Take the browser back."""
        return await _typed(_client().finish(finish.handoff_id, finish.handoff_fence))

    @sync_operation
    async def summary(self, ctx: StartOperationContext, ask: AskSummary) -> Summary:
        """Tell."""
        return await _typed(_client().summary(ask.handoff_id))


def _client() -> HandoffClient:
    return HandoffClient(nexus.client(), patience_seconds=PATIENCE_SECONDS)


async def _typed(call: Awaitable[T]) -> T:
    """The answer; a refusal ends the operation, and no answer has it tried again."""
    try:
        return await call
    except OutcomeUnknown as error:
        raise HandlerError(str(error), type=HandlerErrorType.UNAVAILABLE) from error
    except HandoffError as error:
        if error.code is ErrorCode.TEMPORAL_UNREACHABLE:
            raise HandlerError(str(error), type=HandlerErrorType.UNAVAILABLE) from error
        _refuse(error)


def _refuse(error: HandoffError) -> NoReturn:
    raise OperationError(str(error), state=OperationErrorState.FAILED) from to_failure(error)


def _refusal(code: ErrorCode, what: str, request: HandoffRequest) -> HandoffError:
    return make_error(
        code,
        what,
        holds="That one is as it was.",
        do_next="Hand over under a new message of your own session.",
        handoff_id=request.handoff_id,
    )
