"""From a person's Done to "the agent may act", against the least that Temporal takes for an update and an activity.

The agent may act, after a look, from the moment at which its desktop has taken the browser back. Its workflow hears of
that a little later, by a signal: `told`.
"""

import tempfile
import time
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import WorkflowUpdateStage
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from benchmarks.bench_handoff import ask, open_browser
from benchmarks.numbers import Times
from tests.e2e.stack import Stack, running_stack
from user_handoff.contract.browser import BrowserInfo, Snapshot, SnapshotRequest
from user_handoff.contract.handoff import Answer, HandoffEvent, HandoffRequest, HandoffState, Outcome, Reply
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import EVENT_SIGNAL, SERVER_QUEUE, Activities, Workflows

COUNT = 30
LIMITS = {"may_act_ratio": 1.5}

_QUEUE = "bench"
_WARM_UP = 5


@activity.defn
async def nothing() -> None:
    """What a bare activity does."""


@workflow.defn
class Bare:
    """Temporal alone."""

    @workflow.run
    async def run(self) -> None:
        """Stay until terminated."""
        await workflow.wait_condition(lambda: False)

    @workflow.update
    async def go(self) -> None:
        """One update, one activity."""
        await workflow.execute_activity(nothing, start_to_close_timeout=timedelta(seconds=10))


@workflow.defn
class Asking:
    """An agent that hands over and waits until it may act again."""

    def __init__(self) -> None:
        self._held = False
        self._back = False

    @workflow.run
    async def run(self, request: HandoffRequest) -> None:
        """Hand over."""
        await workflow.execute_child_workflow(
            Workflows.HANDOFF, request, id=request.handoff_id, task_queue=SERVER_QUEUE, result_type=Outcome
        )

    @workflow.signal(name=EVENT_SIGNAL)
    def told(self, event: HandoffEvent) -> None:
        """What an agent's workflow is told."""
        self._held = self._held or event.state is HandoffState.HELD
        self._back = self._back or event.state is HandoffState.RECOVERING

    @workflow.update
    async def held(self) -> None:
        """Wait until a person is waited for."""
        await workflow.wait_condition(lambda: self._held)

    @workflow.update
    async def back(self) -> None:
        """Wait until the browser is the agent's again."""
        await workflow.wait_condition(lambda: self._back)


async def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds of both, in turns within one run, and the ratio of their medians."""
    done, told, bare = Times(), Times(), Times()
    with tempfile.TemporaryDirectory(prefix="handoff-") as folder:
        async with (
            running_stack(Path(folder)) as stack,
            Worker(
                stack.client,
                task_queue=_QUEUE,
                workflows=[Bare, Asking],
                activities=[nothing],
                workflow_runner=UnsandboxedWorkflowRunner(),
            ),
        ):
            least = await stack.client.start_workflow(Bare.run, id=new_id("bare"), task_queue=_QUEUE)
            session_id, browser = await open_browser(stack)
            for number in range(_WARM_UP + count):
                timed = (done, told, bare) if number >= _WARM_UP else (Times(), Times(), Times())
                await _one(stack, session_id, browser, *timed[:2])
                with timed[2].one():
                    await least.execute_update(Bare.go)
    return {
        "count": count,
        "may_act_ms_p50": done.milliseconds(50),
        "may_act_ms_p95": done.milliseconds(95),
        "told_ms_p50": told.milliseconds(50),
        "told_ms_p95": told.milliseconds(95),
        "bare_ms_p50": bare.milliseconds(50),
        "bare_ms_p95": bare.milliseconds(95),
        "may_act_ratio": round(done.percentile(50) / bare.percentile(50), 3),
        "told_ratio": round(told.percentile(50) / bare.percentile(50), 3),
    }


async def _one(stack: Stack, session_id: str, browser: BrowserInfo, done: Times, told: Times) -> None:
    request = await ask(stack, session_id, browser, finish_on_reply=True)
    request = request.model_copy(update={"tell_held": True})
    agent = await stack.client.start_workflow(Asking.run, request, id=new_id("agent"), task_queue=_QUEUE)
    await agent.execute_update(Asking.held)
    back = await agent.start_update(Asking.back, wait_for_stage=WorkflowUpdateStage.ACCEPTED)
    began = time.time()
    with told.one():
        await stack.handoffs.reply(request.handoff_id, Reply(answer=Answer.DONE), new_id("r"))
        await back.result()
    done.seconds.append(await _taken_back(stack, request.handoff_id) - began)
    await stack.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser.browser_id), Snapshot)
    await agent.result()


async def _taken_back(stack: Stack, handoff_id: str) -> float:
    """When the desktop had taken the browser back, as Temporal noted it, in seconds since the epoch."""
    handle, finishing = stack.client.get_workflow_handle(handoff_id), -1
    async for event in handle.fetch_history_events():
        if event.activity_task_scheduled_event_attributes.activity_type.name == Activities.FINISH:
            finishing = event.event_id
        if event.activity_task_completed_event_attributes.scheduled_event_id == finishing:
            return event.event_time.ToNanoseconds() / 1e9
    raise AssertionError("it was not taken back")
