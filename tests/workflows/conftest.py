"""A real server, with its worker, and desktops in memory."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs, start_server, start_skipping_server
from user_handoff.worker.server import server_worker


@pytest.fixture(scope="package")
async def server() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture(scope="package")
def client(server: WorkflowEnvironment) -> Client:
    return server.client


@pytest.fixture
async def handoffs(client: Client) -> AsyncIterator[Handoffs]:
    """Handoffs under one session and on one desktop, with the server's worker running."""
    desktop = FakeDesktop()
    async with server_worker(client), desktop.serving(client):
        yield await Handoffs.open(client, desktop)


@pytest.fixture(scope="package")
async def skipping() -> AsyncIterator[WorkflowEnvironment]:
    """A real server on which a workflow's clock can be put forward."""
    env = await start_skipping_server()
    yield env
    await env.shutdown()


@pytest.fixture
async def timed(skipping: WorkflowEnvironment) -> AsyncIterator[Handoffs]:
    """Handoffs on that server."""
    desktop = FakeDesktop(guard_rests=timedelta(minutes=5))
    async with server_worker(skipping.client), desktop.serving(skipping.client):
        yield await Handoffs.open(skipping.client, desktop)
