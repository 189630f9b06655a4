"""A stack at the far end of its wires, and four handoffs whose receipts can be lost there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState

from tests.cut_wire import CutWire
from tests.e2e.stack import Stack, runner_command, server_command
from tests.waiting import until
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.contract import browser as b
from user_handoff.contract.errors import Gone
from user_handoff.contract.handoff import Answer, BeginReceipt, HandoffRequest, HandoffState, Reply, Summary
from user_handoff.contract.names import Activities
from user_handoff.desktop.handoff.records import HoldRecord
from user_handoff.desktop.reservation.ledger import Ledger

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

    def mend(self) -> None:
        """Lose nothing any more."""
        for wire in (self.server, self.runner, self.caller):
            if wire.mute or wire.deaf:
                wire.drop()

    def phase(self, handoff_id: str) -> str:
        """Where a hold stands on its desktop."""
        with contextlib.closing(self.ledger) as ledger:
            kept = ledger.get_hold(handoff_id)
        return str(HoldRecord.model_validate_json(kept).phase) if kept else ""

    def effect(self, effect_id: str) -> str | None:
        """What the desktop has written down of an effect."""
        with contextlib.closing(self.ledger) as ledger:
            return ledger.see_effect(effect_id)


@contextlib.asynccontextmanager
async def running_far(stack: Stack) -> AsyncIterator[Far]:
    """Put every part of the stack behind a wire, and back again."""
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
        try:
            begun = await asyncio.gather(*(far.stack.handoffs.begin(request) for request in asked[1:]))
            yield cls(far, asked, begun)
        finally:
            far.mend()
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
            await until(lambda: self.done(which))  # noqa: B023
            assert which == 1 or not asked.done(), "an answer is noted at once; what it asks of the desktop is not"
            await lose[which]()
            receipts.append(await asked)
        return receipts

    async def guarded(self, handoff_ids: list[str]) -> None:
        """Wait until the desktop watches these, and asks for what comes next."""
        for handoff_id in handoff_ids:
            await until(partial(_guarded, self.far, handoff_id))
        # what takes a task asks for the next one before it does it
        browser = b.BrowserRequest(browser_id=self.asked[1].browser_id)
        await self.far.stack.ask(Activities.BROWSER_INFO, browser, b.BrowserInfo)

    async def summaries(self) -> list[Summary]:
        return [await self.far.stack.handoffs.summary(handoff_id) for handoff_id in self.ids]

    async def known(self) -> None:
        """Wait until the workflows know all of it."""
        wanted = [HandoffState.HELD, HandoffState.RECOVERING, HandoffState.RECOVERING, HandoffState.CLOSED]

        async def states() -> list[HandoffState]:
            with contextlib.suppress(Gone):  # the one that begins may not be there yet
                return [summary.state for summary in await self.summaries()]
            return []

        await until(states, 40, wanted=lambda now: now == wanted)

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


async def _guarded(far: Far, handoff_id: str) -> bool:
    """Whether the desktop watches the hold, and nothing else of it is in flight: its next poll is for what follows."""
    described = (await far.stack.client.get_workflow_handle(handoff_id).describe()).raw_description
    running = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
    pending = [(a.activity_type.name, a.state) for a in described.pending_activities]
    return pending == [(Activities.GUARD, running)] and not described.HasField("pending_workflow_task")
