"""An agent's workflow at the whole desktop, through a real Temporal server and the runner's own activities."""

import asyncio

import pytest
from temporalio.worker import Worker

from tests.desktop.hands import Hands, more_typed, two_windows
from tests.desktop.support import Agent
from tests.desktop.typist import Typist
from tests.waiting import until
from tests.workflows.handoffs import start_server
from user_handoff.activities.desktop import DesktopActivities
from user_handoff.contract.ids import new_id


async def test_an_agents_workflow_uses_the_desktop_and_is_told_that_a_person_cut_it_off(
    agent: Agent, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1, A17: through every layer the outcome is unknown, and not a cancelled activity."""
    identity = hands.desktop.identity
    activities = DesktopActivities(hands.desktop).on_own_queue()
    async with await start_server() as server:
        client = server.client
        async with (
            Worker(client, task_queue="typists", workflows=[Typist]),
            Worker(client, task_queue=identity.queue, activities=activities),
        ):
            with two_windows(hands.desktop) as target:
                await hands.focus(target, 0)
                # stuck: its own checks do not end it
                monkeypatch.setattr(hands.ledger, "recheck", lambda permit: None)
                run = await client.start_workflow(
                    Typist.run,
                    args=[identity.client_id, identity.desktop_id, identity.queue, "a" * 20_000],
                    id=new_id("a"),
                    task_queue="typists",
                )
                await until(lambda: more_typed(target))
                receipt = await agent.begin(drain_seconds=0.3, preempt=True)
                async with asyncio.timeout(30):
                    said = await run.result()
    assert said == ["copied ü", "completed", "OutcomeUnknown", "outcome_unknown", receipt.handoff_id]
