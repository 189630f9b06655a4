"""What one handoff leaves in history, and what its parent is told, on a real server."""

import gc
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from tests.waiting import until
from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoff, Handoffs
from user_handoff.contract.handoff import HandoffState, Outcome
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import EVENT_SIGNAL
from user_handoff.worker.server import server_worker

MAX_EVENTS = 60
MAX_BYTES = 25_000


@asynccontextmanager
async def _agent(client: Client, desktop: FakeDesktop, cached: int) -> AsyncIterator[WorkflowHandle[Any, Any]]:
    async with (
        server_worker(client, max_cached_workflows=cached),
        desktop.serving(client, shared=True),
        Worker(client, task_queue="agents", workflows=agents.ALL, max_cached_workflows=cached),
    ):
        yield await client.start_workflow(agents.Exporter.run, 600, id=new_id("a"), task_queue="agents")


async def _child(client: Client, desktop: FakeDesktop) -> Handoff:
    await until(lambda: bool(desktop.holds))
    (handoff_id,) = desktop.holds
    child = Handoff(client, None, client.get_workflow_handle(handoff_id, result_type=Outcome))
    await child.until(HandoffState.HELD)
    return child


async def _size(handle: WorkflowHandle[Any, Any]) -> tuple[int, int]:
    info = (await handle.describe()).raw_description.workflow_execution_info
    return info.history_length, info.history_size_bytes


async def _told(agent: WorkflowHandle[Any, Any]) -> list[str]:
    """The states that the agent was told."""
    history = await agent.fetch_history()
    signals = [e.workflow_execution_signaled_event_attributes for e in history.events]
    events = [s.input.payloads[0] for s in signals if s.signal_name == EVENT_SIGNAL]
    converter = agent._client.data_converter.payload_converter
    return [converter.from_payload(payload)["state"] for payload in events]


@pytest.mark.parametrize("cached", [1000, 0])
async def test_a_plain_handoff_is_small(client: Client, cached: int) -> None:
    """F3: 60 events and 25 KB, with and without a cache; pages and pictures are not in it."""
    desktop = FakeDesktop()
    async with server_worker(client, max_cached_workflows=cached), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        assert (await handoffs.finished(handoff)).verified
        events, size = await _size(handoff.handle)
    assert events <= MAX_EVENTS
    assert size <= MAX_BYTES


@pytest.mark.parametrize("cached", [1000, 0])
async def test_a_handoff_that_an_agent_asked_for_is_as_small(client: Client, cached: int) -> None:
    """F3: it tells its parent when to look, and its session of the sign-in, and no more; the end is its own result."""
    desktop = FakeDesktop()
    async with _agent(client, desktop, cached) as agent:
        child = await _child(client, desktop)
        await child.reply()
        assert await agent.result() == child.id
        events, size = await _size(child.handle)
        assert await _told(agent) == [HandoffState.RECOVERING]
    assert events <= MAX_EVENTS
    assert size <= MAX_BYTES


async def test_a_handoff_whose_agent_is_gone_goes_on_to_its_end(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """F3: there is nobody to tell, which is no error of the handoff."""
    desktop = FakeDesktop()
    with caplog.at_level(logging.INFO):
        async with _agent(client, desktop, 1000) as agent:
            child = await _child(client, desktop)
            await agent.terminate()
            await child.reply()
            await child.until(HandoffState.RECOVERING)
            await until(lambda: "The workflow that asked is gone" in caplog.text)
            desktop.look(child.id)
            assert (await child.outcome()).verified
        gc.collect()  # a task whose error nobody took says so when it is thrown away
    assert Counter(record.levelname for record in caplog.records)["ERROR"] == 0
