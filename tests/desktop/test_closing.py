"""Closing a browser that somebody may have, on a real desktop."""

import pytest

from tests.desktop.support import Agent
from user_handoff.contract import browser as b
from user_handoff.contract import handoff as h
from user_handoff.contract.errors import ErrorCode, Held


async def refusal(agent: Agent) -> Held:
    """What closing it is refused with unless nobody has it."""
    with pytest.raises(Held) as refused:
        await agent.desktop.close_browser(b.CloseBrowser(browser_id=agent.browser_id, unless_held=True))
    assert refused.value.code is ErrorCode.BROWSER_HELD
    return refused.value


async def test_it_is_not_closed_under_a_handoff_where_that_is_asked_for(agent: Agent) -> None:
    """A9: the handoff is named with what ends it, and stands."""
    receipt = await agent.begin()
    assert f"`handoff close {receipt.handoff_id}`" in (await refusal(agent)).do_next
    assert (await agent.info()).state == "held"
    assert (await agent.finish(receipt)).state is h.HandoffState.RECOVERING
    await agent.desktop.close_browser(b.CloseBrowser(browser_id=agent.browser_id, unless_held=True))
    assert agent.browser_id not in agent.desktop.browsers.ids
