"""The scripted person answers a real handoff as a person would, and its outcome is observed, not believed."""

import pytest

from tests.testing.agents import Exporter
from tests.testing.conftest import DETAILS, INVOICES, LOGIN, Agents
from user_handoff.contract.handoff import HandoffState
from user_handoff.testing import Page, ScriptedPerson

AS_TOLD = [
    (ScriptedPerson("done"), "11 bytes"),
    (ScriptedPerson("done", does_it=False), "not_verified"),
    (ScriptedPerson("done", goes_to=DETAILS.url), "not_verified"),
    (ScriptedPerson("could_not", note="the code did not come"), "failed the code did not come"),
    (ScriptedPerson("declined", note="not today"), "declined not today"),
    (ScriptedPerson("never", after_seconds=0.2), "expired"),
]


@pytest.mark.parametrize(("person", "result"), AS_TOLD, ids=[result for _, result in AS_TOLD])
async def test_an_agent_is_told_how_it_ended(agent: Agents, person: ScriptedPerson, result: str) -> None:
    """E10: with the agent's own time of ten minutes, and without waiting for them."""
    async with agent.on(person) as desktop:
        assert await agent.run(Exporter.run, 600) == result
    assert desktop.done("download") == (["Export"] if result == "11 bytes" else [])


async def test_what_a_person_was_asked_is_kept(agent: Agents) -> None:
    async with agent.on() as desktop:
        await agent.run(Exporter.run, 600)
    (asked,) = desktop.asked
    assert (asked.instructions, asked.state, asked.owner) == ("Sign in to the portal", HandoffState.HELD, "exporter")
    assert asked.boundary is not None and asked.boundary.url == LOGIN.url


async def test_several_people_take_a_handoff_each_and_the_last_one_all_that_follow(agent: Agents) -> None:
    async with agent.on(ScriptedPerson("declined"), ScriptedPerson("done")):
        said = [await agent.run(Exporter.run, 600) for _ in range(3)]
    assert said == ["declined", "11 bytes", "11 bytes"]


async def test_walls_behind_walls_are_passed_one_by_one(agent: Agents) -> None:
    code = Page("https://portal.example/code", [], behind=LOGIN)
    behind = Page(INVOICES.url, INVOICES.controls, behind=code)
    async with agent.on(pages=[behind]) as desktop:
        assert await agent.run(Exporter.run, 600) == "not_verified"
    assert len(desktop.asked) == 1
