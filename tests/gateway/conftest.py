"""One world and one gateway for all tests of the gateway: each test has a handoff of its own."""

from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Browser
from temporalio.testing import WorkflowEnvironment

from tests.gateway.browsing import running_chromium
from tests.gateway.mcp.stage import Stage, open_stage
from tests.gateway.world import Site, World, open_site, open_world
from tests.workflows.handoffs import start_server


@pytest.fixture(scope="package")
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest.fixture(scope="package")
async def site(world: World) -> AsyncIterator[Site]:
    async with open_site(world) as opened:
        yield opened


@pytest.fixture
async def http(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as client:
        yield client


@pytest.fixture(scope="package")
async def chromium() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture(scope="module")
async def stage(temporal: WorkflowEnvironment) -> AsyncIterator[Stage]:
    """Workers, a desktop in memory and a gateway of its own, on the server that all stages share."""
    async with open_stage(temporal.client) as opened:
        yield opened
