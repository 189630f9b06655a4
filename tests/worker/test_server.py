"""The worker of the server queue."""

import asyncio

from temporalio.client import Client
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.testing import WorkflowEnvironment

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.names import Activities, Workflows
from user_handoff.worker.server import run_server_worker, server_worker


async def test_a_plain_client_is_taught_our_models(server: WorkflowEnvironment, client: Client) -> None:
    plain = await Client.connect(client.service_client.config.target_host)
    desktop = FakeDesktop()
    async with server_worker(plain) as worker, desktop.serving(client):
        assert worker.client.data_converter.payload_converter_class is PydanticPayloadConverter
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        assert (await handoffs.finished(handoff)).verified


async def test_a_worker_ends_soon_after_it_is_told_to_and_another_goes_on(client: Client) -> None:
    """F3: also where both run at once for a while."""
    desktop, stop = FakeDesktop(), asyncio.Event()
    first = asyncio.create_task(run_server_worker(client, stop=stop))
    async with desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        await handoffs.idle(handoff)
        stop.set()
        async with asyncio.timeout(30):
            await first
        async with server_worker(client):
            assert (await handoffs.finished(handoff)).verified


async def test_many_handoffs_begin_at_once(client: Client) -> None:
    """F8: none starves."""
    desktop = FakeDesktop()
    async with server_worker(client), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        requests = [await handoffs.request() for _ in range(20)]
        begun = await asyncio.gather(*(handoffs.begin(request) for request in requests))
        assert len({receipt.handoff_fence for _, receipt in begun}) == 20
        await asyncio.gather(*(handoff.handle.signal(Workflows.CLOSE) for handoff, _ in begun))
        await asyncio.gather(*(handoff.outcome() for handoff, _ in begun))
        await until(lambda: desktop.calls.count(Activities.CLOSE) == 20)
