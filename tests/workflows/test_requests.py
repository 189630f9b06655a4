"""A session's inbox on a real server: durable, on time, and replayable."""

from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer

from tests.waiting import until
from user_handoff.client import HandoffClient
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import inbox_workflow_id, new_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.requests import SaveRequest
from user_handoff.plugin import HandoffPlugin, with_our_modules
from user_handoff.worker.server import server_worker
from user_handoff.workflows.inbound import WellFormed
from user_handoff.workflows.requests import InboxWorkflow

OWNER = "agent:inbox"


async def _open(client: Client) -> tuple[RequestsClient, str, str]:
    handoffs, session_id = HandoffClient(client, patience_seconds=60), new_id("s")
    await handoffs.open_session(session_id, OWNER)
    requests = RequestsClient(handoffs, patience_seconds=60)
    return requests, session_id, await requests.issue_writer(session_id, OWNER, "Robin")


def _save(request_id: str, text: str = "Hello") -> SaveRequest:
    return SaveRequest(request_id=request_id, generation=1, text=text, send=True)


async def test_what_was_sent_outlives_the_worker(client: Client) -> None:
    """F3."""
    async with server_worker(client):
        requests, session_id, key = await _open(client)
        await requests.write(key, _save("r1"))
    async with server_worker(client):
        assert (await requests.view(session_id)).unread == 1
        found = await requests.read(session_id, "q1")
        assert found.request is not None
        assert found.request.text == "Hello"


async def test_a_new_run_carries_everything_over(client: Client) -> None:
    async with server_worker(client):
        requests, session_id, key = await _open(client)
        await requests.write(key, _save("r1"))
        await requests.read(session_id, "q1")
        await requests.write(key, _save("r2", "Second"))
        handle = client.get_workflow_handle(inbox_workflow_id(session_id))
        run_id = (await handle.describe()).run_id
        for number in range(120):
            await handle.signal(Workflows.EXPECT, f"message/{number}")
        await until(client.get_workflow_handle(handle.id).describe, 60, wanted=lambda now: now.run_id != run_id)
        view = await requests.view(session_id)
        assert (view.unread, view.edges, len(view.expects)) == (1, 3, 120)
        again = await requests.read(session_id, "q1")
        assert again.request is not None
        assert again.request.request_id == "r1"
        assert (await requests.write(key, _save("r2", "Second"))).generation == 1


async def test_an_inbox_replays(client: Client) -> None:
    async with server_worker(client):
        requests, session_id, key = await _open(client)
        await requests.write(key, _save("r1"))
        with pytest.raises(HandoffError) as refused:
            await requests.write(key, SaveRequest(request_id="r1", generation=1, text="Other"))
        assert refused.value.code is ErrorCode.STALE_VERSION
        await requests.expect(session_id, "message/m")
        await requests.read(session_id, "q1")
        history = await client.get_workflow_handle(inbox_workflow_id(session_id)).fetch_history()
    replayer = Replayer(
        workflows=[InboxWorkflow],
        plugins=[HandoffPlugin()],
        workflow_runner=with_our_modules(None),
        interceptors=[WellFormed()],
    )
    await replayer.replay_workflow(history)


async def test_a_request_expires_and_an_empty_inbox_is_forgotten(skipping: WorkflowEnvironment) -> None:
    """D1, K85: 30 minutes by default; a day later nothing is left."""
    async with server_worker(skipping.client):
        requests, session_id, key = await _open(skipping.client)
        await requests.write(key, _save("r1"))
        handle = skipping.client.get_workflow_handle(inbox_workflow_id(session_id))
        await skipping.fast_forward(handle, timedelta(minutes=31))
        await until(lambda: requests.view(session_id), 60, wanted=lambda view: not view.unread)
        assert (await requests.view(session_id)).edges == 2
        with pytest.raises(HandoffError) as empty:
            await requests.read(session_id, "q1")
        assert empty.value.code is ErrorCode.UNKNOWN_REQUEST
