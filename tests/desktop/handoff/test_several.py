"""Several holds on one desktop."""

import asyncio
from functools import partial

from examples.portal import Portal
from tests.desktop.support import Agent, code_of, move
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import BeginReceipt
from user_handoff.desktop.host.control import HostControl


async def give_back(agent: Agent, receipt: BeginReceipt) -> None:
    await agent.finish(receipt)
    await agent.look()


async def test_the_desktop_is_free_only_after_the_last_of_its_holds(agent: Agent, portal: Portal) -> None:
    """K82, A10: also while the second one still drains; looking works all the while."""
    first, other = await agent.begin(), await Agent.open(agent.desktop, f"{portal.url}/slow?ms=3000")
    slow, control = (
        (await other.look()).find(role="button", name="Slow"),
        agent.desktop.browsers.get(other.browser_id).control,
    )
    click = asyncio.create_task(other.click(slow))
    await until(partial(_in_flight, control))
    begin = asyncio.create_task(other.begin())
    await until(lambda: agent.desktop.holds.active(other.browser_id))
    await give_back(agent, first)
    assert not begin.done()
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD
    second = await begin
    assert click.done() and (await click).outcome is b.EffectOutcome.COMPLETED
    assert "Slow" in (await other.look()).text
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD
    again = await agent.begin()
    await give_back(other, second)
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD
    await give_back(agent, again)
    assert (await move(agent.desktop)).outcome is b.EffectOutcome.COMPLETED
    await other.close()


async def _in_flight(control: HostControl) -> bool:
    return (await control.status()).in_flight > 0
