"""What programs outside a workflow use: ask for a handoff, answer it, take the browser back, read how it went."""

import hashlib
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from temporalio.client import Plugin, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.envconfig import ClientConnectConfig
from temporalio.exceptions import WorkflowAlreadyStartedError

from user_handoff.client.calls import safe_id, told_by_each, unknown_handoff
from user_handoff.client.connection import connect_temporal
from user_handoff.client.sessions import SessionClient
from user_handoff.contract.entering import LinkStep, OpenedLink, UseLink
from user_handoff.contract.errors import ErrorCode, Gone, make_error
from user_handoff.contract.handoff import (
    LINK_SECONDS,
    BeginReceipt,
    CloseReceipt,
    FinishReceipt,
    FinishRequest,
    HandoffRequest,
    LinkGrant,
    Outcome,
    Reply,
    ReplyReceipt,
    Summary,
)
from user_handoff.contract.ids import Association, new_id
from user_handoff.contract.links import no_link_any_more
from user_handoff.contract.markdown import literal
from user_handoff.contract.names import SearchAttributes, Workflows

T = TypeVar("T")


class HandoffClient(SessionClient):
    """Handoffs and sessions, by name, over a Temporal client.

    Every call may be made again after it failed: ids of requests are derived from what is asked, or given by the
    caller, so that a lost receipt is asked again and nothing is done twice.
    """

    @classmethod
    async def connect(
        cls, config: ClientConnectConfig | None = None, *, plugins: Sequence[Plugin] = (), timeout_seconds: float = 10
    ) -> Self:
        """Connect by temporalio's own environment configuration.

        Args:
            config: Where to connect; None reads ``TEMPORAL_*`` variables and the Temporal configuration file.
            plugins: Plugins of the Temporal client.
            timeout_seconds: The bound of connecting.

        Raises:
            SetupError: ``temporal_unreachable`` or ``namespace_missing``.
        """
        return cls(await connect_temporal(timeout_seconds=timeout_seconds, plugins=plugins, config=config))

    def within(self, patience_seconds: float) -> Self:
        """The same client with another patience."""
        return type(self)(self.temporal, task_queue=self._task_queue, patience_seconds=patience_seconds)

    # --- a handoff ---

    async def begin(self, request: HandoffRequest) -> BeginReceipt:
        """Ask for a hold, and wait until it exists.

        The same call again returns the same receipt, also after the handoff ended: `summary` tells what holds now.

        Args:
            request: Its session may be `CURRENT`: the exact one is found before anything is checked, and named by the
                receipt's `handoff_id`. The same message means the same session again, also when another is newer.

        Raises:
            Refused: The code says why; nothing is held.
            OutcomeUnknown: No receipt came in time: call again, or ask for the `summary`.
        """
        session_id = await self.exact_session(request.session_id, request.owner, request.message_id)
        request = request.model_copy(update={"session_id": session_id})

        async def call() -> BeginReceipt:
            start: WithStartWorkflowOperation[Any, Outcome] = WithStartWorkflowOperation(
                Workflows.HANDOFF,
                request,
                id=request.handoff_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                static_summary=literal(request.instructions.splitlines()[0][:200]),
            )
            # The workflow id is the association, so one fixed update id names its one begin.
            receipt: BeginReceipt = await self.temporal.execute_update_with_start_workflow(
                Workflows.BEGIN, request, start_workflow_operation=start, id="begin", result_type=BeginReceipt
            )
            return receipt

        try:
            return await self._again(call, request.handoff_id, receipt=True)
        except WorkflowAlreadyStartedError as error:
            raise make_error(
                ErrorCode.ASSOCIATION_USED,
                "This browser, session and message had their handoff already.",
                holds="That handoff has ended; nothing new was held.",
                do_next="Post a new message, and begin with its id.",
                handoff_id=request.handoff_id,
            ) from error

    async def reply(self, handoff_id: str, reply: Reply, reply_id: str) -> ReplyReceipt:
        """Record a person's answer; the first one stands.

        Args:
            handoff_id: Which handoff.
            reply: The answer. It proves nothing: the outcome is observed.
            reply_id: Minted once by the door it came through: the same id again returns the same receipt.

        Raises:
            Gone: ``unknown_handoff``.
            Refused: ``not_held``: it had ended, and nobody had answered.
            OutcomeUnknown: No receipt came in time: send it again under the same id.
        """
        try:
            return await self._update(handoff_id, Workflows.REPLY, reply, f"reply.{reply_id}", ReplyReceipt)
        except Gone:
            summary = await self.summary(handoff_id)
        if summary.answer is None:
            raise make_error(
                ErrorCode.NOT_HELD,
                f"The handoff had ended ({summary.state}) before this answer.",
                holds="The answer was not recorded.",
                do_next="Nothing is left to do here; the agent asks again if it still needs the step.",
                handoff_id=handoff_id,
                state=str(summary.state),
            )
        return ReplyReceipt(handoff_id=handoff_id, answer=summary.answer, accepted=False, state=summary.state)

    async def finish(self, handoff_id: str, handoff_fence: str) -> FinishReceipt:
        """Take the browser back with its exact fence; the same call again returns the same receipt.

        Raises:
            Stale: ``fence_mismatch``.
            Gone: ``unknown_handoff``, or it has ended.
            OutcomeUnknown: No receipt came in time: call again.
        """
        # Update ids are plain text everywhere: the fence itself does not belong in one.
        update_id = f"finish.{hashlib.sha256(handoff_fence.encode()).hexdigest()[:32]}"
        request = FinishRequest(handoff_fence=handoff_fence)
        return await self._update(handoff_id, Workflows.FINISH, request, update_id, FinishReceipt)

    async def close(self, handoff_id: str) -> CloseReceipt:
        """Close the browser, and the hold with it.

        Raises:
            Gone: ``unknown_handoff``.
            OutcomeUnknown: No receipt came in time: ask for the `summary`.
        """
        try:
            return await self._update(handoff_id, Workflows.CLOSE, None, f"close.{new_id('x')}", CloseReceipt)
        except Gone:
            summary = await self.summary(handoff_id)
            return CloseReceipt(handoff_id=handoff_id, state=summary.state)

    async def add_link(self, handoff_id: str, sha256: str, expires_in_seconds: float = LINK_SECONDS) -> None:
        """Let the link with this hash of its token open the person's page.

        Args:
            handoff_id: Which handoff.
            sha256: The hash.
            expires_in_seconds: For how long it can be entered, once. Whoever has entered stays.

        Raises:
            Gone: ``unknown_handoff``.
            Refused: ``not_held``: it has ended, or its time is up; or it has as many links as it may.
        """
        grant = LinkGrant(sha256=sha256, expires_in_seconds=expires_in_seconds)
        try:
            await self._update(handoff_id, Workflows.ADD_LINK, grant, f"link.{sha256}", object)
        except Gone:
            raise no_link_any_more(handoff_id, (await self.summary(handoff_id)).state) from None

    async def use_link(self, handoff_id: str, use: UseLink) -> None:
        """Take a step by a link.

        Raises:
            Gone: ``unknown_handoff``, or it has ended.
            Refused: ``link_unknown``, ``link_expired``, ``link_taken`` or ``forbidden``.
            OutcomeUnknown: No receipt came in time: take the step again.
        """
        # A browser finalizes or enters once; it may attach, and change its tab, again and again.
        once = use.step in (LinkStep.FINALIZE, LinkStep.ENTER)
        update_id = f"{use.step}.{use.sha256[:16]}.{use.seat_sha256[:16] if once else new_id('x')}"
        await self._update(handoff_id, Workflows.USE_LINK, use, update_id, object)

    async def opened_link(self, handoff_id: str, sha256: str) -> OpenedLink | None:
        """What holds now, for whoever shows a link, also after the end; None where it opens nothing.

        Raises:
            Gone: ``unknown_handoff``.
            SetupError: ``temporal_unreachable``: neither Temporal nor a worker answered in time.
        """
        handle = self.temporal.get_workflow_handle(_checked(handoff_id))
        return await self._again(lambda: handle.query(Workflows.OPEN_LINK, sha256, result_type=OpenedLink), handoff_id)

    async def summary(self, handoff_id: str) -> Summary:
        """What holds now, also after the end.

        Raises:
            Gone: ``unknown_handoff``.
            SetupError: ``temporal_unreachable``: neither Temporal nor a worker answered in time.
        """
        handle = self.temporal.get_workflow_handle(_checked(handoff_id))
        return await self._again(lambda: handle.query(Workflows.SUMMARY, result_type=Summary), handoff_id)

    async def result(self, handoff_id: str) -> Outcome:
        """Wait for the end, however long that takes.

        Raises:
            Gone: ``unknown_handoff``.
            SetupError: ``temporal_unreachable`` for longer than this client's patience.
        """
        handle = self.temporal.get_workflow_handle(_checked(handoff_id), result_type=Outcome)
        return await self._again(handle.result, handoff_id, bounded=False)

    async def waiting(
        self, *, browser_id: str = "", session_id: str = "", client_id: str = "", limit: int = 100
    ) -> list[Summary]:
        """The handoffs that wait for a person: not answered, and their time is not up. Newest first; see `going_on`."""
        found = await self.going_on(browser_id=browser_id, session_id=session_id, client_id=client_id, limit=limit)
        return [summary for summary in found if summary.waits]

    async def going_on(
        self, *, browser_id: str = "", session_id: str = "", client_id: str = "", limit: int = 100
    ) -> list[Summary]:
        """The handoffs that have not ended, answered and expired ones too, newest first.

        What Temporal lists lags a moment behind; each row here is what its workflow says now. One that cannot say it,
        while others can, is left out with a warning in the log.

        Args:
            browser_id: Only this browser's.
            session_id: Only this session's.
            client_id: Only this desktop machine's.
            limit: Look at so many at most.
        """
        wanted = {
            SearchAttributes.BROWSER: browser_id,
            SearchAttributes.SESSION: session_id,
            SearchAttributes.CLIENT: client_id,
        }
        terms = [f"WorkflowType = '{Workflows.HANDOFF}'", "ExecutionStatus = 'Running'"]
        terms += [f"{name} = '{safe_id(value)}'" for name, value in wanted.items() if value]

        async def listed() -> list[str]:
            return [row.id async for row in self.temporal.list_workflows(" AND ".join(terms), limit=limit)]

        found = await told_by_each(await self._again(listed, ""), self.summary)
        return [s for s in found if not s.state.ended]

    async def _update(self, handoff_id: str, name: str, arg: object, update_id: str, result: type[T]) -> T:
        handle = self.temporal.get_workflow_handle(_checked(handoff_id))
        args = [] if arg is None else [arg]
        return await self._again(
            lambda: handle.execute_update(name, args=args, id=update_id, result_type=result), handoff_id, receipt=True
        )


def _checked(handoff_id: str) -> str:
    try:
        Association.parse(handoff_id)
    except ValueError as error:
        raise unknown_handoff(handoff_id) from error
    return handoff_id
