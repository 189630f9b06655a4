"""The agent's API, in a worker of the agent's own, against the server's worker and a desktop in memory."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.worker import Worker

from tests.waiting import until
from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoff
from user_handoff.contract.errors import ErrorCode, HandoffExpired, NotCompleted, Refused
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.worker.server import server_worker

QUEUE = "agents"


@dataclass
class World:
    client: Client
    desktop: FakeDesktop

    async def start(self, agent: Any, *args: Any) -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(agent, args=args, id=new_id("a"), task_queue=QUEUE)

    async def handoffs(self, count: int = 1) -> list[Handoff]:
        """The handoffs that the desktop holds, once there are so many."""
        await until(lambda: len(self.desktop.holds) >= count)
        return [
            Handoff(self.client, None, self.client.get_workflow_handle(handoff_id)) for handoff_id in self.desktop.holds
        ]


@pytest.fixture
async def world(client: Client) -> AsyncIterator[World]:
    desktop = FakeDesktop()
    async with (
        server_worker(client),
        desktop.serving(client, shared=True),
        Worker(client, task_queue=QUEUE, workflows=agents.ALL),
    ):
        yield World(client, desktop)


async def _error(agent: WorkflowHandle[Any, Any]) -> Exception:
    with pytest.raises(WorkflowFailureError) as caught:
        async with asyncio.timeout(30):
            await agent.result()
    error = from_failure(caught.value)
    assert error is not None, repr(caught.value.cause)
    return error


async def test_an_agent_hands_over_looks_at_every_page_again_and_goes_on(world: World) -> None:
    """A12, A16: the agent's own fresh look ends the recovery; nothing else did."""
    agent = await world.start(agents.Exporter.run, 600)
    (handoff,) = await world.handoffs()
    await handoff.until(HandoffState.HELD)
    looked = len(world.desktop.snapshots)
    await handoff.reply()
    async with asyncio.timeout(30):
        assert await agent.result() == handoff.id
    assert set(world.desktop.snapshots[looked:]) == {"p1", "p2"}
    assert len(world.desktop.effects) == 1


async def test_an_agent_whose_handoff_expires_fails_at_the_boundary_and_the_hold_stays(world: World) -> None:
    """A14, B5, K21."""
    agent = await world.start(agents.Exporter.run, 1)
    error = await _error(agent)
    assert isinstance(error, HandoffExpired)
    assert error.details["rule_id"] == "sign-in-password"
    (handoff,) = await world.handoffs()
    assert (await handoff.summary()).state is HandoffState.EXPIRED
    assert not world.desktop.effects and not world.desktop.finished
    await handoff.close()


async def test_an_agent_never_waits_for_a_handoff_that_was_refused(world: World) -> None:
    world.desktop.refuse[Activities.BEGIN] = ErrorCode.SURFACE_NOT_FOUND
    error = await _error(await world.start(agents.Exporter.run, 600))
    assert isinstance(error, Refused) and error.code is ErrorCode.SURFACE_NOT_FOUND


async def test_an_agent_never_waits_for_a_handoff_that_was_closed(world: World) -> None:
    agent = await world.start(agents.Exporter.run, 600)
    (handoff,) = await world.handoffs()
    await handoff.close()
    error = await _error(agent)
    assert isinstance(error, NotCompleted) and error.code is ErrorCode.CLOSED


async def test_an_agent_never_waits_for_a_handoff_that_was_terminated(world: World) -> None:
    agent = await world.start(agents.Exporter.run, 600)
    (handoff,) = await world.handoffs()
    await handoff.handle.terminate()
    error = await _error(agent)
    assert isinstance(error, NotCompleted) and error.code is ErrorCode.FAILED


async def test_two_handoffs_of_one_agent_are_told_apart(world: World) -> None:
    """F8, K25: each ends by itself."""
    agent = await world.start(agents.Several.run)
    first, second = await world.handoffs(2)
    await first.reply("declined")
    await first.until(HandoffState.COMPLETED)
    assert (await second.summary()).state is HandoffState.HELD
    await second.reply()
    async with asyncio.timeout(30):
        assert sorted(await agent.result()) == sorted([f"{first.id} declined", f"{second.id} verified"])


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (ErrorCode.BROWSER_HELD, "Held browser_held"),
        (ErrorCode.STALE_ELEMENT, "Stale stale_element"),
        (ErrorCode.PAGE_GONE, "Gone page_gone"),
        (ErrorCode.BOUNDARY_REACHED, "Refused boundary_reached"),
    ],
)
async def test_a_refused_effect_is_raised_as_the_error_that_it_is(world: World, code: ErrorCode, said: str) -> None:
    """A9."""
    world.desktop.refuse[Activities.CLICK] = code
    assert await (await world.start(agents.Clicker.run)).result() == said
    assert world.desktop.calls.count(Activities.CLICK) == 1


async def test_an_effect_whose_receipt_is_lost_is_never_done_again(world: World) -> None:
    """A17, K12."""
    world.desktop.crash_once.add(Activities.CLICK)
    said = await (await world.start(agents.Clicker.run)).result()
    assert said == "OutcomeUnknown outcome_unknown outcome_unknown"
    assert len(world.desktop.effects) == 1


async def test_an_agent_that_is_cancelled_leaves_the_person_alone(world: World) -> None:
    """F3: the hold stands, and nothing is taken back."""
    agent = await world.start(agents.Exporter.run, 600)
    (handoff,) = await world.handoffs()
    await handoff.until(HandoffState.HELD)
    await agent.cancel()
    with pytest.raises(WorkflowFailureError):
        await agent.result()
    assert (await handoff.summary()).state is HandoffState.HELD
    await handoff.close()


async def test_an_agent_may_look_while_a_person_has_the_browser(world: World) -> None:
    """A9."""
    agent = await world.start(agents.Watcher.run)
    (handoff,) = await world.handoffs()
    await until(lambda: bool(world.desktop.snapshots))
    assert (await handoff.summary()).state is HandoffState.HELD
    await handoff.reply("declined")
    assert await agent.result() == ["held", "declined"]


async def test_an_agent_that_waits_for_a_hold_is_told_that_it_was_refused(world: World) -> None:
    world.desktop.refuse[Activities.BEGIN] = ErrorCode.HANDOFF_UNSUPPORTED
    assert await (await world.start(agents.Watcher.run)).result() == ["handoff_unsupported"]


async def test_an_agent_tidies_up_and_is_told_where_a_session_takes_no_message(world: World) -> None:
    assert await (await world.start(agents.Tidy.run)).result() == "session_closed"
    assert Activities.CLOSE_BROWSER in world.desktop.calls


async def test_a_lost_look_is_taken_again(world: World) -> None:
    """A17: an observation changes nothing."""
    world.desktop.crash_once.add(Activities.SNAPSHOT)
    agent = await world.start(agents.Exporter.run, 600)
    (handoff,) = await world.handoffs()
    assert world.desktop.calls.count(Activities.SNAPSHOT) == 2
    await agent.cancel()
    await handoff.close()
