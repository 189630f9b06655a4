"""One cell of the kill matrix: an agent, a person, and a process that is killed at one step."""

import asyncio
import contextlib
import time
from collections.abc import Callable

from temporalio.client import ActivityFailureError, WorkflowFailureError, WorkflowHandle
from temporalio.service import RPCError

from benchmarks.chaos.agent import QUEUE, ChaosAgent
from benchmarks.chaos.cells import Cell, Step, Victim
from benchmarks.chaos.parts import Lives, Parts
from benchmarks.chaos.prober import Prober
from examples import person
from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    Download,
    DownloadReceipt,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.errors import Gone, HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import HandoffState, Summary
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities

_CELL_SECONDS = 75
_OPEN_SECONDS = 60
_SLOW_EFFECT_SECONDS = 2.5
_END_SECONDS = 5


class Drive:
    """The run of one cell."""

    def __init__(self, parts: Parts, victim: Victim, step: Step) -> None:
        self._parts = parts
        self._stack = parts.stack
        self._victim = victim
        self._step = step
        self._killed = 0.0

    async def run(self) -> Cell:
        """Go through a whole handoff, kill once, and look at what is left."""
        agent = await self._stack.client.start_workflow(
            ChaosAgent.run, self._stack.portal.url, id=new_id("agent"), task_queue=QUEUE
        )
        browser_id = await asyncio.wait_for(agent.execute_update(ChaosAgent.opened), _OPEN_SECONDS)
        lives = self._parts.lives(browser_id)
        async with Prober(self._parts, browser_id).probing() as prober:
            try:
                async with asyncio.timeout(_CELL_SECONDS):
                    outcome = await self._outcome(agent, browser_id, lives, prober)
            except TimeoutError:
                outcome = f"not over after {_CELL_SECONDS} s"
        seconds = time.monotonic() - self._killed
        left = await self._left(browser_id, lives)
        return Cell(self._victim, self._step, outcome, prober.refused, prober.admitted, left, round(seconds, 1))

    async def _outcome(
        self, agent: WorkflowHandle[ChaosAgent, int], browser_id: str, lives: Lives, prober: Prober
    ) -> str:
        walking = asyncio.create_task(self._walk(agent, browser_id, lives, prober))
        ending = asyncio.ensure_future(agent.result())
        try:
            await asyncio.wait({walking, ending}, return_when=asyncio.FIRST_COMPLETED)
            if walking.done() and not self._victim.has_the_browser:
                walking.result()
            rows = await ending
        except WorkflowFailureError as failure:
            error = from_failure(failure.cause)
            told = str(error.code) if error else type(failure.cause).__name__
        else:
            told = "" if rows == 12 else f"{rows} rows"
        finally:
            walking.cancel()
            ending.cancel()
            await asyncio.gather(walking, ending, return_exceptions=True)
        return await self._said(browser_id, lives, told)

    async def _said(self, browser_id: str, lives: Lives, told: str) -> str:
        summary = await self._stack.handoffs.summary(await self._handoff_id(browser_id))
        why = summary.reason or summary.code
        said = f"{summary.result}{f' ({why})' if why else ''}"
        if told:
            return f"{said}, agent told {told}"
        info = await self._parts.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
        return f"{said}, {'same' if info.pid == lives.chromium.pid else 'another'} browser"

    async def _handoff_id(self, browser_id: str) -> str:
        query = f"WorkflowType = 'Handoff' AND HandoffBrowser = '{browser_id}'"
        while True:
            async for row in self._stack.client.list_workflows(query):
                return row.id
            await asyncio.sleep(0.02)

    # --- the way through the handoff ---

    async def _walk(
        self, agent: WorkflowHandle[ChaosAgent, int], browser_id: str, lives: Lives, prober: Prober
    ) -> None:
        """From the agent's wish to its end. Ends early, by cancellation, where the agent is told so."""
        slow = await self._slow_effect(browser_id, prober) if self._step is Step.BEGIN else None
        await agent.signal(ChaosAgent.hand_over)
        if slow:
            await _until(lambda: prober.reserved() is not None)
            await self._strike(lives)
            await asyncio.gather(slow, return_exceptions=True)
        summary = await self._held(browser_id)
        if self._step is Step.HELD:
            await self._strike(lives)
        await self._person(summary, lives)
        await self._answer(summary, lives)
        await self._stack.handoffs.result(summary.handoff_id)
        if self._step is Step.VERIFIED:
            await self._strike(lives)
        await agent.signal(ChaosAgent.go_on)

    async def _strike(self, lives: Lives) -> None:
        self._killed = time.monotonic()
        await self._parts.kill(self._victim, lives)
        await self._parts.restart(self._victim)

    async def _slow_effect(self, browser_id: str, prober: Prober) -> "asyncio.Task[DownloadReceipt]":
        """An effect that is in flight for a while: a click, and a download that never comes."""
        look = await self._look(browser_id)
        effect = Download(
            browser_id=browser_id, effect_id=new_id("e"), element_id=look, timeout_seconds=_SLOW_EFFECT_SECONDS
        )
        task = asyncio.create_task(self._parts.ask(Activities.DOWNLOAD, effect, DownloadReceipt))
        await _until(prober.in_flight)
        return task

    async def _look(self, browser_id: str) -> str:
        seen = await self._parts.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser_id), Snapshot)
        return seen.find(role="textbox", name="User name")

    async def _held(self, browser_id: str) -> Summary:
        return await self._in_state(await self._handoff_id(browser_id), HandoffState.HELD)

    async def _in_state(self, handoff_id: str, state: HandoffState) -> Summary:
        while True:
            summary = await self._stack.handoffs.summary(handoff_id)
            if summary.state is state:
                return summary
            await asyncio.sleep(0.02)

    async def _person(self, summary: Summary, lives: Lives) -> None:
        """The person signs in; where they are the step, the kill comes while they type."""
        count = self._stack.portal.state()["focus"]["count"]
        signing_in = asyncio.create_task(self._sign_in(summary))
        try:
            if self._step is Step.TYPING:
                await _until(lambda: self._stack.portal.state()["focus"]["count"] > count)
                await self._strike(lives)
            await signing_in
        except person.NotSeen:
            if not self._victim.has_the_browser:
                raise
        finally:
            signing_in.cancel()
            await asyncio.gather(signing_in, return_exceptions=True)

    async def _sign_in(self, summary: Summary) -> None:
        """Sign in; who mistypes goes back to the form and tries once more."""
        before = self._stack.portal.state()
        try:
            await self._stack.sign_in(summary)
        except person.NotSeen:
            if self._victim.has_the_browser:
                raise
            after = self._stack.portal.state()
            wrong = {name: after[name] - before[name] for name in ("wrong_passwords", "wrong_codes")}
            backs = wrong["wrong_passwords"] + 2 * wrong["wrong_codes"]
            assert summary.receipt
            window = summary.receipt.surface.window_id
            keys = ["Alt_L+Left"] * backs or ["F5"]
            await person.act("keys", self._stack.display, window, self._stack.portal, keys=keys)
            await self._stack.sign_in(summary)

    async def _answer(self, summary: Summary, lives: Lives) -> None:
        """The person says that they are done. A process that the step waits for is frozen meanwhile."""
        frozen = {Step.FINISHING: self._stack.runner.pid, Step.RECOVERING: self._parts.agent.pid}.get(self._step)
        if frozen is None:
            await self._stack.answer(summary)
            return
        state = HandoffState.FINISHING if self._step is Step.FINISHING else HandoffState.RECOVERING
        with self._parts.frozen(frozen):
            await self._stack.answer(summary)
            await self._in_state(summary.handoff_id, state)
            await self._strike(lives)

    # --- what is left ---

    async def _left(self, browser_id: str, lives: Lives) -> tuple[str, ...]:
        """Close the browser, and name what is there all the same."""
        with contextlib.suppress(ActivityFailureError, RPCError, HandoffError, Gone):
            await self._parts.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))
        watched = {"host": lives.host, "chromium": lives.chromium}
        watched |= {f"child {child.pid}": child for child in lives.children}
        if self._victim is Victim.DISPLAY:
            watched |= {f"display {part.pid}": part for part in lives.display}
        end = time.monotonic() + _END_SECONDS
        while any(part.alive() for part in watched.values()) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        left = [name for name, part in watched.items() if part.alive()]
        return (*left, *self._reserved(browser_id))

    def _reserved(self, browser_id: str) -> list[str]:
        ledger = self._parts.ledger()
        try:
            holders = [f"holder {row.holder_id}" for row in ledger.holders() if row.browser_id == browser_id]
            return holders + [f"permit {row.effect_id}" for row in ledger.permits() if row.browser_id == browser_id]
        finally:
            ledger.close()


async def _until(check: Callable[[], object]) -> None:
    while not check():  # noqa: ASYNC110  (what is waited for may be anything)
        await asyncio.sleep(0.01)
