"""A handoff as the agent that asked for it sees it."""

from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception

from user_handoff.contract.errors import ErrorCode, error_class, make_error
from user_handoff.contract.handoff import HandoffRequest, HandoffState, Outcome, Result
from user_handoff.contract.markdown import literal
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.workflows.inbox import Inbox

Look = Callable[[], Awaitable[None]]
"""Takes a fresh snapshot of every page: what ends a recovery."""


class Handoff:
    """A handoff that was asked for. It goes on whatever becomes of the workflow that asked."""

    def __init__(
        self, request: HandoffRequest, child: "workflow.ChildWorkflowHandle[object, Outcome]", inbox: Inbox, look: Look
    ) -> None:
        self.handoff_id = request.handoff_id
        self._request = request
        self._child = child
        self._inbox = inbox
        self._look = look

    @classmethod
    async def start(cls, request: HandoffRequest, look: Look) -> "Handoff":
        """Ask for a handoff.

        Raises:
            Refused: ``association_used``: this browser, session and message had theirs already.
        """
        inbox = Inbox.of_this_workflow()
        try:
            child = await workflow.start_child_workflow(
                Workflows.HANDOFF,
                request,
                id=request.handoff_id,
                task_queue=SERVER_QUEUE,
                result_type=Outcome,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                static_summary=literal(request.instructions.splitlines()[0][:200]),
            )
        except WorkflowAlreadyStartedError as error:
            raise make_error(
                ErrorCode.ASSOCIATION_USED,
                "This browser, session and message have had their handoff.",
                holds="That one is untouched.",
                do_next="Ask again under a new message.",
                handoff_id=request.handoff_id,
            ) from error
        return cls(request, child, inbox, look)

    async def held(self) -> None:
        """Wait until a person has the browser.

        Raises:
            HandoffError: It was refused, or ended before; the code says why.
        """
        await workflow.wait_condition(
            lambda: self._child.done() or bool(self._told(HandoffState.HELD)) or self._early() is not None
        )
        if self._told(HandoffState.HELD):
            return
        outcome = self._early() or await self._result()
        code = (outcome.code or ErrorCode.FAILED) if outcome.result is Result.REFUSED else ErrorCode.NOT_HELD
        raise error_class(code)(code, outcome.message or f"It ended {outcome.result}.", handoff_id=self.handoff_id)

    async def outcome(self) -> Outcome:
        """Wait for the end, and take the browser back when the person is done.

        Every page is looked at again as soon as that is possible. Returns at once with `expired` where nobody finished
        in time: the browser stays paused then.

        Raises:
            HandoffError: The fresh look failed, or the handoff's workflow was ended by force.
        """
        looked = False
        while True:
            await workflow.wait_condition(
                lambda: (
                    self._child.done()
                    or self._early() is not None
                    or (not looked and bool(self._told(HandoffState.RECOVERING)))  # noqa: B023
                )
            )
            early = self._early()
            if early is not None:
                return early
            if self._child.done():
                return await self._result()
            looked = True
            await self._look()

    def _told(self, state: HandoffState) -> bool:
        return self._inbox.get(self.handoff_id, state) is not None

    def _early(self) -> Outcome | None:
        """An outcome that is told before the handoff's workflow ends: expired, or refused and not yet cleared up."""
        event = self._inbox.outcome_of(self.handoff_id)
        return event.outcome if event else None

    async def _result(self) -> Outcome:
        try:
            return await self._child
        except ChildWorkflowError as error:
            if is_cancelled_exception(error) and workflow.cancellation_reason() is not None:
                raise
            raise make_error(
                ErrorCode.FAILED,
                "The handoff's workflow was ended by force.",
                holds="The browser stays paused until it is finished with the exact fence, or closed.",
                do_next="Close the browser, or look at the handoff in the Temporal UI.",
                handoff_id=self.handoff_id,
            ) from error
