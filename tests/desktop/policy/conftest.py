"""One browser with the built-in stop list."""

from collections.abc import AsyncIterator

import pytest

from tests.desktop.support import Agent
from user_handoff.desktop.desktop import Desktop


@pytest.fixture(scope="session")
async def guarded(desktop: Desktop) -> AsyncIterator[Agent]:
    """A browser for all of these tests: each begins on a page of its own."""
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()
