"""Receipts that are lost on each part of their way: what was asked for is done once, and told again as it was."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import psutil
import pytest
from standardwebhooks.webhooks import Webhook
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import ActivityFailureError

from tests.cut_wire import CutWire
from tests.e2e.lab import Lab
from tests.e2e.stack import OWNER, Stack, runner_command, server_command
from tests.gateway.world import entry_of
from tests.waiting import until
from user_handoff.cli.state_files import webhook_secret
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.errors import ErrorCode, Gone, OutcomeUnknown
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import Answer, BeginReceipt, HandoffRequest, HandoffState, Reply, Summary
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.desktop.handoff.records import HoldRecord
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.records import STARTED
from user_handoff.gateway.links import issue_link
from user_handoff.worker.server import server_worker
from user_handoff.workflows import desk

DONE = Reply(answer=Answer.DONE, by="robin")


@dataclass
class Far:
    """A stack of which every part is at the far end of a wire to Temporal."""

    stack: Stack
    server: CutWire
    runner: CutWire
    caller: CutWire
    handoffs: HandoffClient
    """At the far end of the caller's wire."""

    @property
    def ledger(self) -> Ledger:
        """The desktop's own truth."""
        return Ledger(self.stack.state / "desktop" / f"{self.stack.runner.facts()['desktop_id']}.ledger.db")

    def phase(self, handoff_id: str) -> str:
        """Where a hold stands on its desktop."""
        with contextlib.closing(self.ledger) as ledger:
            kept = ledger.get_hold(handoff_id)
        return str(HoldRecord.model_validate_json(kept).phase) if kept else ""

    def effect(self, effect_id: str) -> str | None:
        """What the desktop has written down of an effect."""
        with contextlib.closing(self.ledger) as ledger:
            return ledger.see_effect(effect_id)


@pytest.fixture(scope="module")
async def far(stack: Stack) -> AsyncIterator[Far]:
    host, port = stack.engine.address.split(":")
    near = stack.server, stack.runner
    async with contextlib.AsyncExitStack() as parts:
        server, runner, caller = [await parts.enter_async_context(CutWire(host, int(port)).serving()) for _ in range(3)]
        for part in reversed(near):
            await part.stop()
        stack.server = server_command(stack.state, server.address)
        stack.runner = runner_command(stack.state, runner.address)
        try:
            for part in (stack.server, stack.runner):
                await part.start()
            temporal = await connect_temporal(caller.address)
            yield Far(stack, server, runner, caller, HandoffClient(temporal, patience_seconds=40))
        finally:
            for part in (stack.runner, stack.server):
                await part.stop()
            stack.server, stack.runner = near
            for part in near:
                await part.start()


@dataclass
class Four:
    """Four handoffs: one to begin, one to answer, one to finish and one to close."""

    far: Far
    asked: list[HandoffRequest]
    begun: list[BeginReceipt]

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, far: Far) -> AsyncIterator["Four"]:
        asked = await asyncio.gather(*(far.stack.request(finish_on_reply=n == 1) for n in range(4)))
        begun = await asyncio.gather(*(far.stack.handoffs.begin(request) for request in asked[1:]))
        yield cls(far, asked, begun)
        closing = (b.BrowserRequest(browser_id=request.browser_id) for request in asked)
        asks = (far.stack.ask(Activities.CLOSE_BROWSER, browser, type(None)) for browser in closing)
        await asyncio.gather(*asks, return_exceptions=True)  # one of them is closed

    @property
    def ids(self) -> list[str]:
        return [request.handoff_id for request in self.asked]

    def calls(self, client: HandoffClient) -> list[Callable[[], Awaitable[Any]]]:
        """The four calls, each the same whenever it is made again."""
        _, reply, finish, close = self.ids
        return [
            lambda: client.begin(self.asked[0]),
            lambda: client.reply(reply, DONE, "r1"),
            lambda: client.finish(finish, self.begun[1].handoff_fence),
            lambda: client.close(close),
        ]

    def done(self, which: int) -> bool:
        """Whether the desktop has done what a call asks of it, whoever knows."""
        wanted = ("held", "recovering", "recovering", "closed")[which]
        return self.far.phase(self.ids[which]) == wanted

    async def one_by_one(self, lose: list[Callable[[], Awaitable[None]]]) -> list[Any]:
        """Make each call so that the desktop does it and cannot tell; then lose the connection, each in its own way."""
        receipts = []
        for which, call in enumerate(self.calls(self.far.stack.handoffs)):
            await self.guarded(self.ids[1 if which == 0 else 0 : 3])
            self.far.runner.deaf = True
            asked = asyncio.ensure_future(call())
            await until(lambda: self.done(which), 15)  # noqa: B023
            assert which == 1 or not asked.done(), "an answer is noted at once; what it asks of the desktop is not"
            await lose[which]()
            receipts.append(await asked)
        return receipts

    async def guarded(self, handoff_ids: list[str]) -> None:
        """Wait until the desktop watches these, and asks for what comes next."""
        async with asyncio.timeout(30):
            while not all([await _guarded(self.far, handoff_id) for handoff_id in handoff_ids]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        # what takes a task asks for the next one before it does it
        browser = b.BrowserRequest(browser_id=self.asked[1].browser_id)
        await self.far.stack.ask(Activities.BROWSER_INFO, browser, b.BrowserInfo)

    async def summaries(self) -> list[Summary]:
        return [await self.far.stack.handoffs.summary(handoff_id) for handoff_id in self.ids]

    async def known(self) -> None:
        """Wait until the workflows know all of it."""
        wanted = [HandoffState.HELD, HandoffState.RECOVERING, HandoffState.RECOVERING, HandoffState.CLOSED]
        async with asyncio.timeout(40):
            while True:
                with contextlib.suppress(Gone):  # the one that begins may not be there yet
                    if [s.state for s in await self.summaries()] == wanted:
                        return
                await asyncio.sleep(0.05)

    async def check(self, receipts: list[Any]) -> None:
        """One hold, one finish; asked again, the same receipts."""
        await self.known()
        again = [await call() for call in self.calls(self.far.stack.handoffs)]
        assert again == receipts
        begin, reply, finish, close = receipts
        assert begin == (await self.summaries())[0].receipt
        assert (reply.accepted, reply.answer) == (True, Answer.DONE)
        assert [page.needs_snapshot for page in finish.pages] == [True]
        assert close.state is HandoffState.CLOSED
        with contextlib.closing(self.far.ledger) as ledger:
            holds = ledger.all_holds()
            records = [HoldRecord.model_validate_json(holds[handoff_id]) for handoff_id in self.ids]
            assert len(ledger.holders()) == 3, "the one that was closed has let go"
        assert [record.fence for record in records] == [begin.handoff_fence, *(r.handoff_fence for r in self.begun)]


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
        far.server.deaf = True
        asked = _start(four.calls(far.stack.handoffs))
        async with asyncio.timeout(20):
            while not any([await _being_decided(far, handoff_id) for handoff_id in four.ids[1:]]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await far.stack.kill(far.stack.server)
        far.server.drop()
        await far.stack.server.start()
        await four.check(await asyncio.gather(*asked))


async def _guarded(far: Far, handoff_id: str) -> bool:
    """Whether the desktop watches the hold, and nothing else of it is in flight: its next poll is for what follows."""
    described = (await far.stack.client.get_workflow_handle(handoff_id).describe()).raw_description
    running = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
    pending = [(a.activity_type.name, a.state) for a in described.pending_activities]
    return pending == [(Activities.GUARD, running)] and not described.HasField("pending_workflow_task")


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
        async with asyncio.timeout(20):
            for request in (page, hook):
                while (await stack.handoffs.summary(request.handoff_id)).answer is None:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
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


@dataclass
class Bench:
    """A browser at the lab."""

    far: Far
    lab: Lab
    spec: b.OpenBrowser

    async def look(self, page_id: str | None = None) -> b.Snapshot:
        ask = b.SnapshotRequest(browser_id=self.spec.browser_id, page_id=page_id)
        return await self.far.stack.ask(Activities.SNAPSHOT, ask, b.Snapshot)

    async def fresh(self) -> b.Snapshot:
        """The lab's page, as it is at first."""
        await self.far.stack.ask(Activities.NAVIGATE, b.Navigate(**self.new(), url=self.lab.url), b.EffectReceipt)
        return await self.look()

    def new(self) -> dict[str, Any]:
        return {"browser_id": self.spec.browser_id, "effect_id": new_id("e")}

    async def popup(self, page: b.Snapshot) -> str:
        """Open a second page."""
        click = b.Click(**self.new(), element_id=page.find(role="button", name="Open"))
        await self.far.stack.ask(Activities.CLICK, click, b.EffectReceipt)
        async with asyncio.timeout(10):
            while len(pages := (await self.look()).pages) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return next(each.page_id for each in pages if each.page_id != page.page.page_id)

    async def lost(self, name: str, effect: Any, kind: type[Any], done: Callable[[], object]) -> Any:
        """Do it so that its receipt is lost for good, and ask again under the same id."""
        wire = self.far.runner
        wire.deaf = True
        asked = asyncio.ensure_future(self.far.stack.ask(name, effect, kind, seconds=1))
        await until(done, 15)
        with pytest.raises(ActivityFailureError):
            await asked
        wire.drop()
        return await self.told(name, effect, kind)

    async def told(self, name: str, effect: Any, kind: type[Any]) -> Any:
        """Ask until there is an answer: the server may give a task to a connection that has just ended."""
        async with asyncio.timeout(30):
            while True:
                try:
                    return await self.far.stack.ask(name, effect, kind, seconds=4)
                except ActivityFailureError as failure:
                    if error := from_failure(failure):
                        raise error from failure


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


Make = Callable[[Bench, b.Snapshot], Awaitable[Any]]


def _element(kind: type[Any], role: str, name: str, **more: Any) -> Make:
    async def make(bench: Bench, page: b.Snapshot) -> Any:
        return kind(**bench.new(), element_id=page.find(role=role, name=name), **more)

    return make


async def _navigate(bench: Bench, page: b.Snapshot) -> b.Navigate:
    return b.Navigate(**bench.new(), url=f"{bench.lab.url}/there")


async def _back(bench: Bench, page: b.Snapshot) -> b.Back:
    there = b.Navigate(**bench.new(), url=f"{bench.lab.url}/there")
    await bench.far.stack.ask(Activities.NAVIGATE, there, b.EffectReceipt)
    return b.Back(**bench.new())


async def _close_page(bench: Bench, page: b.Snapshot) -> b.ClosePage:
    return b.ClosePage(**bench.new(), page_id=await bench.popup(page))


async def _computer(bench: Bench, page: b.Snapshot) -> c.ComputerEffect:
    look = await bench.far.stack.ask(Activities.OBSERVE_COMPUTER, c.ObserveComputer(), c.DisplayLook)
    window = next(w for w in look.windows if w.focused)
    click = c.ClickAt(x=window.x + window.width // 2, y=window.y + window.height // 2)
    return c.ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=click)


EFFECTS: dict[str, tuple[Make, type[b.EffectReceipt], str]] = {
    Activities.CLICK: (_element(b.Click, "button", "Click"), b.EffectReceipt, "/click"),
    Activities.FILL: (_element(b.Fill, "textbox", "Text", text="x"), b.EffectReceipt, "/fill"),
    Activities.PRESS: (_element(b.Press, "textbox", "Keys", key="a"), b.EffectReceipt, "/press"),
    Activities.SELECT: (_element(b.Select, "combobox", "Choice", labels=("Two",)), b.EffectReceipt, "/select"),
    Activities.NAVIGATE: (_navigate, b.EffectReceipt, "/there"),
    Activities.BACK: (_back, b.EffectReceipt, "/shown"),
    Activities.DOWNLOAD: (_element(b.Download, "link", "File"), b.DownloadReceipt, "/file"),
    Activities.CLOSE_PAGE: (_close_page, b.EffectReceipt, ""),
    Activities.COMPUTER: (_computer, c.ComputerReceipt, "/native"),
}


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
