"""A desktop's verbs for programs without a workflow, on a real server and a desktop in memory."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.metadata import version

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import start_server
from user_handoff.client import desktop as desktop_client
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode, Held, OutcomeUnknown, Refused
from user_handoff.contract.ids import new_id, runner_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Activities, Workflows
from user_handoff.contract.runner import Capabilities, RunnerInfo
from user_handoff.worker.server import server_worker


@pytest.fixture(scope="module")
async def env() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture
async def desktop(env: WorkflowEnvironment) -> AsyncIterator[FakeDesktop]:
    desktop = FakeDesktop()
    async with desktop.serving(env.client, shared=True):
        yield desktop


@pytest.fixture
def client(env: WorkflowEnvironment) -> DesktopClient:
    return DesktopClient(env.client, patience_seconds=60)


def click(effect_id: str | None = None) -> b.Click:
    return b.Click(browser_id="b_1", element_id="e1", effect_id=effect_id or new_id("e"))


async def test_a_browser_is_opened_where_there_is_room_and_says_whose_it_is(
    client: DesktopClient, desktop: FakeDesktop
) -> None:
    claim = await client.claim()
    spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_1", owner="agent:x")
    first, second = [await client.open_browser(claim.queue, spec) for _ in range(2)]
    assert first == second
    assert (first.owner, first.session_id, first.queue) == ("agent:x", "s_1", desktop.queue)
    assert desktop.calls.count(Activities.OPEN_BROWSER) == 1


@pytest.mark.parametrize("other", [{"url": "https://other.example/"}, {"session_id": "s_2"}, {"read_only": True}])
async def test_the_id_of_a_browser_opens_no_other_one(
    client: DesktopClient, desktop: FakeDesktop, other: dict[str, object]
) -> None:
    """K24: nor does it return the first one, on whatever desktop it is asked for."""
    spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_1", owner="agent:x")
    await client.open_browser(desktop.queue, spec)
    for queue in (desktop.queue, "desktop-that-nobody-serves"):
        with pytest.raises(Refused) as refused:
            await client.open_browser(queue, spec.model_copy(update=other))
        assert refused.value.code is ErrorCode.ID_REUSED
    assert desktop.calls.count(Activities.OPEN_BROWSER) == 1


async def test_the_same_effect_id_is_done_once_also_at_the_same_time(
    client: DesktopClient, desktop: FakeDesktop
) -> None:
    """A17, K24."""
    effect = click()
    gate = desktop.gate(Activities.CLICK)
    both = asyncio.gather(*(client.click(desktop.queue, effect) for _ in range(2)))
    gate.set()
    first, second = await both
    assert first == second == await client.click(desktop.queue, effect)
    assert desktop.effects == [effect]


async def test_another_effect_under_the_same_id_is_the_desktops_to_judge(
    client: DesktopClient, desktop: FakeDesktop
) -> None:
    """K24: its own ledger knows what was asked for; Temporal's receipt of the first would tell of another."""
    first = click()
    other = first.model_copy(update={"element_id": "e2"})
    await client.click(desktop.queue, first)
    await client.click(desktop.queue, other)
    await client.click(desktop.queue, first.model_copy(update={"timeout_seconds": 3}))
    assert desktop.effects == [first, other]


async def test_a_refused_effect_may_be_asked_again_under_its_id(client: DesktopClient, desktop: FakeDesktop) -> None:
    """A9: nothing was done, and the code is the desktop's."""
    effect = click()
    desktop.refuse[Activities.CLICK] = ErrorCode.BROWSER_HELD
    with pytest.raises(Held) as refused:
        await client.click(desktop.queue, effect)
    assert refused.value.code is ErrorCode.BROWSER_HELD
    desktop.refuse.clear()
    assert (await client.click(desktop.queue, effect)).outcome is b.EffectOutcome.COMPLETED
    assert len(desktop.effects) == 1


async def test_an_effect_whose_receipt_was_lost_is_unknown_and_not_done_again(
    client: DesktopClient, desktop: FakeDesktop
) -> None:
    """A17, K12."""
    desktop.crash_once.add(Activities.CLICK)
    with pytest.raises(OutcomeUnknown) as lost:
        await client.click(desktop.queue, click())
    assert lost.value.details["outcome"] == "outcome_unknown"
    assert len(desktop.effects) == 1


async def test_a_look_whose_answer_was_lost_is_taken_again(client: DesktopClient, desktop: FakeDesktop) -> None:
    desktop.crash_once.add(Activities.SNAPSHOT)
    assert (await client.snapshot(desktop.queue, b.SnapshotRequest(browser_id="b_1"))).text
    assert desktop.calls.count(Activities.SNAPSHOT) == 2


async def test_without_a_runner_nothing_was_started(client: DesktopClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop_client, "QUEUE_PATIENCE", timedelta(seconds=1))
    with pytest.raises(Refused) as refused:
        await client.click("desktop.nobody.polls", click())
    assert refused.value.code is ErrorCode.RUNNER_UNAVAILABLE
    assert refused.value.details["outcome"] == "not_started"
    with pytest.raises(Refused) as none:
        await client.claim(within_seconds=1)
    assert none.value.code is ErrorCode.RUNNER_UNAVAILABLE


async def test_desktops_that_are_online_are_listed(env: WorkflowEnvironment, client: DesktopClient) -> None:
    """F8."""
    here = Capabilities(browser_user_handoff=True, surface_backend="x11", virtual=True)
    infos = [
        RunnerInfo(
            client_id=new_id("c"), desktop_id="d_1", queue=f"q{n}", version=version("temporalio"), capabilities=here
        )
        for n in range(2)
    ]
    async with server_worker(env.client):
        for info in infos:
            await env.client.start_workflow(
                Workflows.RUNNER, info, id=runner_workflow_id(info.client_id), task_queue=SERVER_QUEUE
            )
        await until(client.desktops, 60, wanted=lambda found: sorted(d.queue for d in found) == ["q0", "q1"])
        await env.client.get_workflow_handle(runner_workflow_id(infos[0].client_id)).signal(Workflows.RETIRE)
        await until(client.desktops, 60, wanted=lambda found: [d.queue for d in found] == ["q1"])
