"""A person beside the agent."""

from collections.abc import AsyncIterator

import pytest

from tests.desktop.support import Agent
from tests.desktop.takeover.support import Taker


@pytest.fixture
async def taker(editor: Agent) -> AsyncIterator[Taker]:
    """Takes over the browser of an agent, which has it again after the test."""
    taker = Taker(editor)
    yield taker
    hold = editor.desktop.holds.active(editor.browser_id)
    if hold is not None and hold.taken is not None:
        await taker.give_back()
        await editor.look()
