"""Agents on the desktop in memory: what they are refused, what is done, and what they are told."""

import asyncio

from tests.testing.agents import Clicker, Exporter, Impatient, Keeper
from tests.testing.conftest import QUEUE, Agents
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.testing import ScriptedPerson


async def test_what_a_person_has_is_refused_and_old_ids_are_dead_afterwards(agent: Agents) -> None:
    """E10: A9, A10, A13 as on a real desktop."""
    tried = asyncio.Event()
    async with agent.on(ScriptedPerson(waits_for=tried)) as desktop:
        handle = await agent.client.start_workflow(Impatient.run, id=new_id("a"), task_queue=QUEUE)
        async with asyncio.timeout(30):
            await until(lambda: handle.query(Impatient.tried))
            assert not desktop.effects
            tried.set()
            said = await handle.result()
    assert said == {
        "held click": "browser_held",
        "held state": "held",
        "held look": "True",
        "held desktop": "desktop_held",
        "held picture": "desktop_held",
        "outcome": "verified",
        "old click": "stale_element",
        "new click": "done",
        "desktop": "done",
        "desktop again": "stale_generation",
        "popup unseen": "[False, False]",
    }
    assert desktop.done("click") == ["Details"]


async def test_an_agent_acts_on_pages_that_are_written_down(agent: Agents) -> None:
    async with agent.on() as desktop:
        said = await agent.run(Clicker.run)
    assert said == [
        "done",
        "stale_element",
        "https://portal.example/details",
        "navigation_failed",
        "url_refused",
        "https://portal.example/open",
    ]
    assert [each.kind for each in desktop.effects] == ["click", "back"]


async def test_a_login_is_saved_and_a_browser_opened_with_it(agent: Agents) -> None:
    """B6."""
    async with agent.on():
        assert await agent.run(Keeper.run) == ["https://portal.example/invoices", "unknown_state"]


async def test_an_effect_can_be_let_fail_or_lose_its_receipt(agent: Agents) -> None:
    """E10: A17, for an agent that must look before it acts again."""
    async with agent.on() as desktop:
        desktop.fail_next(ErrorCode.ACTION_TIMEOUT)
        desktop.fail_next(ErrorCode.OUTCOME_UNKNOWN)
        said = await agent.run(Clicker.run)
    assert said[:3] == ["action_timeout", "outcome_unknown", "https://portal.example/details"]
    assert desktop.done("click") == ["Next"]


async def test_a_browser_can_be_let_end_under_its_hold(agent: Agents) -> None:
    """E10: the outcome is revoked, and says why."""
    never = asyncio.Event()
    async with agent.on(ScriptedPerson(waits_for=never)) as desktop:
        running = asyncio.ensure_future(agent.run(Exporter.run, 600))
        await until(lambda: bool(desktop.asked))
        desktop.end_browser(desktop.asked[0].handoff_id.split("/")[1])
        assert await running == "revoked"
