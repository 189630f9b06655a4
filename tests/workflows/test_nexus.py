"""Agents whose workers, and whose namespace, are their own: a child, a signal from outside, and a Nexus service."""

import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio import workflow
from temporalio.api.nexus.v1 import EndpointSpec, EndpointTarget
from temporalio.api.operatorservice.v1 import CreateNexusEndpointRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.waiting import until
from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import FinishRequest, HandoffRequest, HandoffState, Outcome, Result
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import SERVER_QUEUE, Activities, Workflows
from user_handoff.contract.session import CURRENT
from user_handoff.plugin import HandoffPlugin
from user_handoff.worker.server import server_worker

with workflow.unsafe.imports_passed_through():
    from user_handoff.workflows.nexus import RemoteHandoffs

ENDPOINT, NAMESPACE, QUEUE = "user-handoff", "agents", "remote-agents"


@workflow.defn
class Remote:
    """Asks for one thing through Nexus."""

    @workflow.run
    async def run(self, what: str, request: HandoffRequest, fence: str = "") -> Any:
        remote = RemoteHandoffs(ENDPOINT, timedelta(seconds=60))
        if what == "handoff":
            return await remote.handoff(request)
        if what == "begin":
            return await remote.begin(request)
        if what == "finish":
            return await remote.finish(request.handoff_id, fence)
        return await remote.summary(request.handoff_id)


@workflow.defn
class Steps:
    """Begins, waits for the word of a person from outside, and finishes, each by Nexus."""

    def __init__(self) -> None:
        self._go = False

    @workflow.run
    async def run(self, request: HandoffRequest) -> list[str]:
        remote = RemoteHandoffs(ENDPOINT)
        receipt = await remote.begin(request)
        again = await remote.begin(request)
        held = await remote.summary(receipt.handoff_id)
        await workflow.wait_condition(lambda: self._go)
        await remote.finish(receipt.handoff_id, receipt.handoff_fence)
        twice = await remote.finish(receipt.handoff_id, receipt.handoff_fence)
        return [str(receipt == again), held.state, str(twice.state)]

    @workflow.signal
    def go(self) -> None:
        """The person is done."""
        self._go = True


@pytest.fixture(scope="module")
async def elsewhere(server: WorkflowEnvironment) -> Client:
    """A client of another namespace of the same server, with an endpoint to ours."""
    ours = server.client
    await ours.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=Duration(seconds=86_400))
    )
    target = EndpointTarget(worker=EndpointTarget.Worker(namespace=ours.namespace, task_queue=SERVER_QUEUE))
    spec = EndpointSpec(name=ENDPOINT, target=target)
    await ours.operator_service.create_nexus_endpoint(CreateNexusEndpointRequest(spec=spec))
    address = ours.service_client.config.target_host

    async def connected() -> Client | None:
        with contextlib.suppress(RPCError):  # a namespace is known everywhere a moment after it was made
            client = await Client.connect(address, namespace=NAMESPACE, plugins=[HandoffPlugin()])
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=NAMESPACE))
            return client
        return None

    return await until(connected, 60)


@pytest.fixture
async def remote(elsewhere: Client, handoffs: Handoffs) -> AsyncIterator[Client]:
    """The same, with a worker of its own there."""
    async with Worker(elsewhere, task_queue=QUEUE, workflows=[Remote, Steps]):
        yield elsewhere


async def asked(remote: Client, what: str, request: HandoffRequest, fence: str = "") -> WorkflowHandle[Any, Any]:
    return await remote.start_workflow(
        Remote.run,
        args=[what, request, fence],
        id=new_id("a"),
        task_queue=QUEUE,
        execution_timeout=timedelta(seconds=90),
    )


async def refused(agent: WorkflowHandle[Any, Any]) -> ErrorCode:
    with pytest.raises(WorkflowFailureError) as failed:
        await agent.result()
    error = from_failure(failed.value)
    assert isinstance(error, HandoffError), repr(failed.value.cause)
    return error.code


async def test_an_agent_of_another_namespace_hands_over_and_waits_for_the_outcome(
    remote: Client, handoffs: Handoffs
) -> None:
    request = await handoffs.request()
    agent = await asked(remote, "handoff", request)
    handoff = handoffs.of(request)
    await until(lambda: request.handoff_id in handoffs.desktop.holds, 60)
    await handoffs.finished(handoff)
    outcome = Outcome.model_validate(await agent.result())
    assert (outcome.handoff_id, outcome.result) == (request.handoff_id, Result.VERIFIED)


async def test_an_agent_of_another_namespace_begins_and_finishes_by_itself(remote: Client, handoffs: Handoffs) -> None:
    """A7, A17: asked again, the same receipts."""
    request = await handoffs.request(finish_on_reply=False)
    agent = await remote.start_workflow(Steps.run, request, id=new_id("a"), task_queue=QUEUE)
    handoff = handoffs.of(request)
    await until(lambda: request.handoff_id in handoffs.desktop.holds, 60)
    await handoff.reply()
    await agent.signal(Steps.go)
    assert await agent.result() == ["True", "held", "recovering"]
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified


async def test_a_handoff_that_was_begun_is_joined(remote: Client, handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    assert handoff.request is not None
    agent = await asked(remote, "handoff", handoff.request)
    await handoffs.finished(handoff)
    assert Outcome.model_validate(await agent.result()).verified


@pytest.mark.parametrize("what", ["handoff", "begin"])
async def test_nobody_joins_the_handoff_of_another(remote: Client, handoffs: Handoffs, what: str) -> None:
    """A5."""
    handoff, _ = await handoffs.begin()
    assert handoff.request is not None
    other = handoff.request.model_copy(update={"owner": "agent:other"})
    assert await refused(await asked(remote, what, other)) is ErrorCode.NOT_OWNER
    assert (await handoff.summary()).state is HandoffState.HELD


async def test_a_session_of_another_hands_nothing_over(remote: Client, handoffs: Handoffs) -> None:
    """A4, A5: the refusal is the same as at home."""
    request = await handoffs.request(owner="agent:other")
    assert await refused(await asked(remote, "begin", request)) is ErrorCode.NOT_OWNER
    current = await handoffs.request(owner="agent:nobody", session_id=CURRENT)
    assert await refused(await asked(remote, "handoff", current)) is ErrorCode.SESSION_NOT_FOUND


@pytest.mark.parametrize(
    ("what", "fence", "expected"),
    [
        ("finish", "f_wrong", ErrorCode.FENCE_MISMATCH),
        ("handoff", "", ErrorCode.ASSOCIATION_USED),
        ("begin", "", None),
    ],
)
async def test_what_is_over_stays_so(
    remote: Client, handoffs: Handoffs, what: str, fence: str, expected: ErrorCode | None
) -> None:
    """A16, A18: and begin asked again gives the first receipt."""
    handoff, receipt = await handoffs.begin(id="begin")
    assert handoff.request is not None
    if what == "finish":
        assert await refused(await asked(remote, what, handoff.request, fence)) is expected
        return
    await handoffs.finished(handoff)
    agent = await asked(remote, what, handoff.request)
    if expected is not None:
        assert await refused(agent) is expected
    else:
        assert (await agent.result())["handoff_fence"] == receipt.handoff_fence


async def test_a_handoff_that_never_was_is_unknown(remote: Client, handoffs: Handoffs) -> None:
    assert await refused(await asked(remote, "summary", await handoffs.request())) is ErrorCode.UNKNOWN_HANDOFF


async def test_to_cancel_the_operation_is_to_close_the_browser(remote: Client, handoffs: Handoffs) -> None:
    request = await handoffs.request()
    agent = await asked(remote, "handoff", request)
    await until(lambda: request.handoff_id in handoffs.desktop.holds, 60)
    handoff = handoffs.of(request)
    await handoffs.idle(handoff)
    await agent.cancel()
    assert (await handoff.outcome()).result is Result.CLOSED
    await until(lambda: Activities.CLOSE in handoffs.desktop.calls, 60)


async def test_an_agents_own_worker_is_the_caller_by_a_child_and_by_signals_from_outside(client: Client) -> None:
    """A second worker that has our workflows by name alone; the person's word comes from outside."""
    desktop = FakeDesktop()
    async with (
        server_worker(client),
        desktop.serving(client, shared=True),
        Worker(client, task_queue="agents", workflows=agents.ALL),
    ):
        agent = await client.start_workflow(agents.Exporter.run, 600, id=new_id("a"), task_queue="agents")
        await until(lambda: bool(desktop.holds), 60)
        (handoff_id,) = desktop.holds
        child = client.get_workflow_handle(handoff_id)
        await child.signal(Workflows.REPLY, {"answer": "done"})
        assert await agent.result() == handoff_id


async def test_signals_from_outside_alone_hand_over_and_take_back(client: Client, handoffs: Handoffs) -> None:
    """A program of any language that can start a workflow with a signal."""
    request = await handoffs.request(finish_on_reply=False)
    handle: WorkflowHandle[Any, Outcome] = await client.start_workflow(
        Workflows.HANDOFF,
        request,
        id=request.handoff_id,
        task_queue=SERVER_QUEUE,
        start_signal=Workflows.BEGIN,
        result_type=Outcome,
    )
    handoff = handoffs.of(request)
    held = await handoff.until(HandoffState.HELD, seconds=60)
    assert held.receipt is not None
    await handle.signal(Workflows.REPLY, {"answer": "done"})
    await handle.signal(Workflows.FINISH, FinishRequest(handoff_fence=held.receipt.handoff_fence))
    await handoff.until(HandoffState.RECOVERING, seconds=60)
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified
    assert (await HandoffClient(client).summary(handoff.id)).state is HandoffState.COMPLETED
