"""A real server, and who asks it from several processes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.handoffs import start_server
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import new_id
from user_handoff.worker.server import server_worker

OWNER = "agent:access"
MAKES = "agent:makes"


@pytest.fixture(scope="package")
async def env() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture(scope="package")
async def client(env: WorkflowEnvironment) -> AsyncIterator[HandoffClient]:
    async with server_worker(env.client):
        yield HandoffClient(env.client, patience_seconds=30)


@pytest.fixture
async def access(client: HandoffClient) -> AsyncIterator[Access]:
    """The access of one process."""
    access = Access(client, patience_seconds=30)
    yield access
    await access.aclose()


@pytest.fixture
async def elsewhere(client: HandoffClient) -> AsyncIterator[Access]:
    """The access of another process."""
    access = Access(client, patience_seconds=30)
    yield access
    await access.aclose()


@pytest.fixture
async def session_id(client: HandoffClient) -> str:
    return (await client.open_session(new_id("s"), OWNER)).session_id


async def code(call: Awaitable[object]) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        await call
    return refused.value.code


async def refused_within(seconds: float, call: Callable[[], Awaitable[object]], expected: ErrorCode) -> None:
    """Ask until it is refused, and not for longer than this after now; what was asked in time may be answered later."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    while True:
        asked = clock()
        try:
            await call()
        except HandoffError as error:
            assert error.code is expected
            return
        assert asked < deadline, "still let in"
        await asyncio.sleep(0.02)
