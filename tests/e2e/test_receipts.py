"""Receipts that are lost on each part of their way: what was asked for is done once, and told again as it was."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import psutil
import pytest
from standardwebhooks.webhooks import Webhook
from temporalio.client import ActivityFailureError

from tests.cut_wire import CutWire
from tests.e2e.bench import EFFECTS, Bench
from tests.e2e.far import Far, Four, running_far
from tests.e2e.lab import Lab
from tests.e2e.stack import OWNER, Stack
from tests.gateway.world import entry_of
from tests.waiting import until
from user_handoff.cli.state_files import webhook_secret
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode, OutcomeUnknown
from user_handoff.contract.handoff import Answer
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.desktop.reservation.records import STARTED
from user_handoff.gateway.links import issue_link
from user_handoff.worker.server import server_worker
from user_handoff.workflows import desk


@pytest.fixture(scope="module")
async def far(stack: Stack) -> AsyncIterator[Far]:
    async with running_far(stack) as far:
        yield far


def _start(calls: list[Callable[[], Awaitable[Any]]]) -> "list[asyncio.Task[Any]]":
    return [asyncio.ensure_future(call()) for call in calls]


async def test_receipts_that_are_lost_on_their_way_to_the_client(far: Far) -> None:
    """A17, K11, K12: the client asks again under the same ids by itself."""
    async with Four.open(far) as four:
        far.caller.mute = True
        asked = _start(four.calls(far.handoffs))
        await four.known()
        assert not any(task.done() for task in asked)
        far.caller.drop()
        await four.check(await asyncio.gather(*asked))


async def test_receipts_that_are_lost_on_their_way_from_the_runner(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    """A17, F3: done on the desktop, and nobody is told until the wire is mended, or the next runner is asked."""
    for name, seconds in {"BEGIN_SECONDS": -3.0, "FINISH_SECONDS": 2.0}.items():
        monkeypatch.setattr(desk, name, seconds)

    async def cut() -> None:
        far.runner.drop()

    async def kill() -> None:
        await far.stack.kill(far.stack.runner)
        far.runner.drop()
        await far.stack.runner.start()

    await far.stack.server.stop()
    async with server_worker(far.stack.client), Four.open(far) as four:
        await four.check(await four.one_by_one([kill, cut, kill, cut]))
    await far.stack.server.start()


async def test_a_server_worker_that_is_killed_before_it_can_tell_does_nothing_twice(far: Far) -> None:
    """A17, F3: what it decided was lost with it; another decides the same."""
    async with Four.open(far) as four:
        await four.guarded(four.ids[1:])  # else its polls may go to what comes after a begin
        far.server.deaf = True
        asked = _start(four.calls(far.stack.handoffs))

        async def being_decided() -> list[bool]:
            return [await _being_decided(far, handoff_id) for handoff_id in four.ids[1:]]

        await until(being_decided, 20, wanted=any)
        await far.stack.kill(far.stack.server)
        far.server.drop()
        await far.stack.server.start()
        await four.check(await asyncio.gather(*asked))


async def _being_decided(far: Far, handoff_id: str) -> bool:
    """Whether a worker has a task of this workflow."""
    described = await far.stack.client.get_workflow_handle(handoff_id).describe()
    return described.raw_description.pending_workflow_task.HasField("started_time")


async def test_an_answer_whose_receipt_is_lost_between_gateway_and_person_counts_once(far: Far) -> None:
    """A17, K24: the form and the webhook are sent again, and say the same."""
    stack = far.stack
    address = str(stack.server.facts()["gateway_url"]).removeprefix("http://")
    (page, _), (hook, _) = await asyncio.gather(stack.begin(), stack.begin())
    async with CutWire(*_split(address)).serving() as wire, httpx.AsyncClient(timeout=30) as http:
        base = f"http://{wire.address}"
        link = await issue_link(stack.handoffs, base, page.handoff_id)
        entry = entry_of((await http.get(link)).text)
        assert (await http.post(f"{link}/enter", data={"step": "enter", "entry": entry})).status_code == 303
        body = json.dumps({"handoff_id": hook.handoff_id, "answer": "declined", "by": "desk"})
        now = datetime.now(UTC)
        signed = Webhook(webhook_secret(stack.state)).sign("msg_1", now, body)
        headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signed}
        sends: list[Callable[[], Awaitable[httpx.Response]]] = [
            lambda: http.post(f"{link}/reply", data={"answer": "declined"}),
            lambda: http.post(f"{base}/webhooks/handoffs/{hook.handoff_id}/reply", content=body, headers=headers),
        ]
        wire.mute = True
        asked = [asyncio.ensure_future(send()) for send in sends]
        for request in (page, hook):
            await until(partial(stack.handoffs.summary, request.handoff_id), 20, wanted=lambda now: now.answer)
        wire.drop()
        for task in asked:
            with pytest.raises(httpx.HTTPError):
                await task
        form, receipt = [await send() for send in sends]
        assert (form.status_code, form.headers["location"]) == (303, link.removeprefix(base)), (
            "no word of an earlier one"
        )
        assert (receipt.status_code, receipt.json()["accepted"]) == (200, True)
    for request in (page, hook):
        assert (await stack.handoffs.summary(request.handoff_id)).answer is Answer.DECLINED
        await stack.ask(Activities.CLOSE_BROWSER, b.BrowserRequest(browser_id=request.browser_id), type(None))


def _split(address: str) -> tuple[str, int]:
    host, port = address.rsplit(":", 1)
    return host, int(port)


# --- effects ---


@pytest.fixture(scope="module")
async def bench(far: Far) -> AsyncIterator[Bench]:
    async with Lab().serving() as lab:
        spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_lab", owner=OWNER, url=lab.url)
        bench = Bench(far, lab, spec)
        opened = await bench.lost(Activities.OPEN_BROWSER, spec, b.BrowserInfo, lambda: lab.hits["/shown"])
        assert (opened.browser_id, lab.hits["/"]) == (spec.browser_id, 1), "opened once"
        yield bench
        gone = b.BrowserRequest(browser_id=spec.browser_id)
        await far.stack.ask(Activities.CLOSE_BROWSER, gone, type(None))


@pytest.mark.parametrize("name", EFFECTS)
async def test_an_effect_whose_receipt_is_lost_is_done_once_and_told_again(bench: Bench, name: str) -> None:
    """A17, K12: each kind: the caller was told nothing, and asks again under the same id."""
    make, kind, trace = EFFECTS[name]
    effect = await make(bench, await bench.fresh())
    before = bench.lab.hits[trace]

    def done() -> bool:
        written = bench.far.effect(effect.effect_id)
        return written not in (None, STARTED) and (not trace or bench.lab.hits[trace] > before)

    receipt = await bench.lost(name, effect, kind, done)
    assert (receipt.effect_id, receipt.outcome) == (effect.effect_id, b.EffectOutcome.COMPLETED)
    assert receipt == kind.model_validate_json(bench.far.effect(effect.effect_id) or "")
    await bench.look()
    assert bench.lab.hits[trace] == before + (1 if trace else 0)


async def test_a_close_whose_receipt_is_lost_is_told_again(far: Far) -> None:
    """A17."""
    spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_lab", owner=OWNER)
    opened = await far.stack.ask(Activities.OPEN_BROWSER, spec, b.BrowserInfo)
    ask = b.BrowserRequest(browser_id=opened.browser_id)
    bench = Bench(far, Lab(), spec)
    await bench.lost(Activities.CLOSE_BROWSER, ask, type(None), lambda: not psutil.pid_exists(opened.pid))


@pytest.mark.parametrize("kind", [Activities.CLICK, Activities.NAVIGATE])
async def test_an_effect_over_a_killed_runner_is_unknown_and_never_done_again(bench: Bench, kind: str) -> None:
    """A17, K12, F3: it had reached the page; nobody saw its end, and nobody does it a second time."""
    page, far, lab = await bench.fresh(), bench.far, bench.lab
    lab.released.clear()
    effect: b.PageEffect = b.Navigate(**bench.new(), url=f"{lab.url}/hang")
    if kind == Activities.CLICK:
        effect = b.Click(**bench.new(), element_id=page.find(role="button", name="Hang"))
    before = lab.hits["/hang"]
    asked = asyncio.ensure_future(far.stack.ask(kind, effect, b.EffectReceipt, seconds=2))
    await until(lambda: lab.hits["/hang"] > before)
    await far.stack.kill(far.stack.runner)
    with pytest.raises(ActivityFailureError):
        await asked
    lab.released.set()
    await far.stack.runner.start()
    with pytest.raises(OutcomeUnknown) as unknown:
        await bench.told(kind, effect, b.EffectReceipt)
    assert unknown.value.code is ErrorCode.OUTCOME_UNKNOWN
    assert unknown.value.details["outcome"] == b.EffectOutcome.OUTCOME_UNKNOWN
    await bench.look()
    assert lab.hits["/hang"] == before + 1
