"""Telling programs of every state of a handoff: in order, by a workflow of its own that outlives this one."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import FailureError, WorkflowAlreadyStartedError

from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import delivery_workflow_id, message_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.news import MAX_DAYS, MAX_NEWS, Delivery, Details, MoreNews, News
from user_handoff.contract.notices import EndpointInfo
from user_handoff.workflows.record import Record

ANSWERED = "answered"
"""News that is no state: a person has answered."""


class Newsroom:
    """The news of one handoff. It is kept until it is known who wants it, and given up where nobody does."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._unsent: list[News] = []
        self._count = 0
        self._endpoints: tuple[EndpointInfo, ...] | None = None
        self._started = False
        self._sending: asyncio.Task[None] | None = None

    def entered(self) -> None:
        """The handoff entered a state."""
        self._note(self._record.state, over=self._record.state.ended)

    def answered(self) -> None:
        """A person has answered."""
        self._note(ANSWERED)

    def wanted_by(self, endpoints: tuple[EndpointInfo, ...]) -> None:
        """It is known now who wants to be told."""
        self._endpoints = endpoints
        self._send()

    async def sent(self) -> None:
        """Wait until all of it is with the workflow that delivers it: what is on its way when this one ends is lost."""
        await workflow.wait_condition(lambda: self._sending is None or self._sending.done())

    def _note(self, what: HandoffState | str, *, over: bool = False) -> None:
        if self._endpoints == () or (self._count >= MAX_NEWS and not over):
            return
        record = self._record
        self._unsent.append(
            News(
                number=self._count,
                news_id=message_id(record.handoff_id, "news", self._count),
                what=str(what),
                at=workflow.now(),
                over=over,
                expires_at=record.deadline,
                answer=record.reply.answer if record.reply else None,
                result=record.result,
                reason=record.reason,
                code=record.refusal.code if record.refusal else None,
            )
        )
        self._count += 1
        self._send()

    def _send(self) -> None:
        if self._endpoints == ():
            self._unsent.clear()
        elif self._endpoints and self._unsent and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        # One at a time: what is sent at once arrives in any order.
        while self._unsent:
            news = tuple(self._unsent)
            self._unsent.clear()
            try:
                await (self._signal(news) if self._started else self._start(news))
            except FailureError as error:
                workflow.logger.warning("Programs are told no more of this handoff: %s", type(error).__name__)
                self._endpoints = ()
                self._unsent.clear()

    async def _start(self, news: tuple[News, ...]) -> None:
        request, endpoints = self._record.request, self._endpoints or ()
        wanted = any(endpoint.details for endpoint in endpoints)
        details = Details(owner=request.owner, instructions=request.instructions, boundary=request.boundary)
        try:
            delivery = await workflow.start_child_workflow(
                Workflows.DELIVERY,
                Delivery(
                    handoff_id=self._record.handoff_id,
                    endpoints=endpoints,
                    details=details if wanted else None,
                    news=news,
                ),
                id=self._delivery_id,
                task_queue=SERVER_QUEUE,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                execution_timeout=timedelta(days=MAX_DAYS),
                static_summary="Tells programs of this handoff",
            )
        except WorkflowAlreadyStartedError:
            await self._signal(news)
        else:
            # How it ends is its own affair.
            delivery.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._started = True

    async def _signal(self, news: tuple[News, ...]) -> None:
        handle = workflow.get_external_workflow_handle(self._delivery_id)
        await handle.signal(Workflows.NEWS, MoreNews(news=news))

    @property
    def _delivery_id(self) -> str:
        return delivery_workflow_id(self._record.request.handoff_id)
