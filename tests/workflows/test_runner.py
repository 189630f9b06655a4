"""The presence of a desktop machine."""

from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.handoff import HandoffState, Result, RevokeReason
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.runner import Capabilities, RunnerInfo, RunnerView
from user_handoff.worker.runner import beat
from user_handoff.workflows.runner import RunnerWorkflow

Runner = WorkflowHandle[Any, RunnerView]


def _info(desktop: FakeDesktop, **more: Any) -> RunnerInfo:
    fields: dict[str, Any] = {
        "client_id": desktop.client_id,
        "desktop_id": desktop.desktop_id,
        "queue": desktop.queue,
        "version": "0.1.0",
        "capabilities": Capabilities(browser_user_handoff=True, surface_backend="x11", virtual=True),
    }
    return RunnerInfo(**{**fields, **more})


async def _until(runner: Runner, *, online: bool) -> RunnerView:
    return await until(lambda: runner.query(RunnerWorkflow.view), 20, wanted=lambda view: view.online is online)


async def test_a_beat_starts_the_presence_and_later_ones_renew_what_it_says(client: Client, handoffs: Handoffs) -> None:
    info = _info(handoffs.desktop)
    runner = await beat(client, info)
    assert (await runner.query(RunnerWorkflow.view)).info == info
    more = info.model_copy(update={"browsers": (new_id("b"),)})
    assert (await beat(client, more)).result_run_id == runner.result_run_id
    view = await runner.query(RunnerWorkflow.view)
    assert view.online and view.info == more
    await runner.signal(Workflows.RETIRE)
    assert not (await runner.result()).online


async def test_a_machine_that_is_not_heard_of_is_offline_until_it_is_heard_again(
    skipping: WorkflowEnvironment, timed: Handoffs
) -> None:
    info = _info(timed.desktop)
    runner = await beat(skipping.client, info)
    await skipping.fast_forward(runner, timedelta(seconds=60))
    await beat(skipping.client, info)
    await skipping.fast_forward(runner, timedelta(seconds=60))
    assert (await runner.query(RunnerWorkflow.view)).online
    await skipping.fast_forward(runner, timedelta(seconds=31))
    await _until(runner, online=False)
    await beat(skipping.client, info)
    await _until(runner, online=True)
    await runner.signal(Workflows.RETIRE)


async def test_a_replaced_desktop_loses_its_holds_and_the_new_one_keeps_its_own(
    client: Client, handoffs: Handoffs
) -> None:
    """A15."""
    runner = await beat(client, _info(handoffs.desktop))
    old, _ = await handoffs.begin()
    fresh = FakeDesktop(client_id=handoffs.desktop.client_id)
    async with fresh.serving(client):
        new, _ = await Handoffs(client, fresh, handoffs.session_id).begin()
        await handoffs.listed(old, new)
        await beat(client, _info(fresh))
        outcome = await old.outcome()
        assert (outcome.result, outcome.reason) == (Result.REVOKED, RevokeReason.RUNNER_REPLACED)
        assert (await new.summary()).state is HandoffState.HELD
        await new.close()
    await beat(client, _info(handoffs.desktop))
    assert (await runner.query(RunnerWorkflow.view)).info.desktop_id == fresh.desktop_id
    await runner.signal(Workflows.RETIRE)


async def test_a_long_presence_continues_as_new_and_remembers_who_was_replaced(
    client: Client, handoffs: Handoffs
) -> None:
    runner = await beat(client, _info(handoffs.desktop))
    fresh = FakeDesktop(client_id=handoffs.desktop.client_id)
    await beat(client, _info(fresh))
    await handoffs.pad(runner, Workflows.HEARTBEAT, _info(fresh))
    current: Runner = client.get_workflow_handle(runner.id)
    await beat(client, _info(handoffs.desktop))
    assert (await current.query(RunnerWorkflow.view)).info.desktop_id == fresh.desktop_id
    assert (await current.describe()).run_id != runner.result_run_id
    await current.signal(Workflows.RETIRE)
