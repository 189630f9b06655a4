"""The stack of the end-to-end tests, and an agent's worker as a process: each part is killed and started again."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psutil
from temporalio.common import RetryPolicy

from benchmarks.chaos.cells import Victim
from tests.e2e.stack import Stack, running_stack
from user_handoff.cli.temporal import embedded_environment
from user_handoff.contract.ids import new_id
from user_handoff.desktop.display.virtual import stop_virtual
from user_handoff.desktop.host.spec import HostRecord
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

R = TypeVar("R")

_ROOT = Path(__file__).resolve().parents[2]


class AgentWorker:
    """The process of the agent's worker."""

    def __init__(self, address: str, log: Path) -> None:
        self._environment = embedded_environment(address)
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process
        return self._process.pid

    async def start(self) -> None:
        """Start it; returns when it polls."""
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "benchmarks.chaos.agent_worker"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._environment,
                cwd=_ROOT,
            )
        assert self._process.stdout
        if await self._process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"the agent's worker did not start; see {self._log}")

    async def kill(self) -> None:
        """Kill it."""
        if self._process and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


@dataclass(frozen=True)
class Lives:
    """The processes of one browser, and those of its display.

    Attributes:
        host: The browser's host.
        chromium: Chromium's main process.
        children: Every other process below the host.
        display: The keeper of the display and its X server.
    """

    host: ProcessIdentity
    chromium: ProcessIdentity
    children: tuple[ProcessIdentity, ...]
    display: tuple[ProcessIdentity, ...]


@dataclass
class Parts:
    """Everything that can be killed."""

    stack: Stack
    agent: AgentWorker
    facts: dict[str, object]
    """What the runner last said of its desktop: it says nothing while it is away."""

    async def ask(self, name: str, request: object, result: type[R], seconds: float = 30) -> R:
        """Call an activity of the desktop, also while its runner is away, and wait so long for its answer."""
        answer: R = await self.stack.client.execute_activity(
            name,
            args=[request],
            id=new_id("a"),
            task_queue=str(self.facts["queue"]),
            result_type=result,
            schedule_to_close_timeout=timedelta(seconds=seconds),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
        return answer

    async def kill(self, victim: Victim, lives: Lives) -> None:
        """Kill a part, as a crash would."""
        match victim:
            case Victim.SERVER:
                await self.stack.kill(self.stack.server)
            case Victim.RUNNER:
                await self.stack.kill(self.stack.runner)
            case Victim.TEMPORAL:
                await self.stack.engine.kill()
            case Victim.AGENT:
                await self.agent.kill()
            case Victim.DISPLAY:
                psutil.Process(lives.display[0].pid).kill()
            case Victim.HOST:
                psutil.Process(lives.host.pid).kill()
            case Victim.CHROMIUM:
                psutil.Process(lives.chromium.pid).kill()

    async def restart(self, victim: Victim) -> None:
        """Start a part again, as whatever keeps it would; what has the browser is never started again."""
        match victim:
            case Victim.SERVER:
                await self.stack.server.start()
            case Victim.RUNNER:
                await self.stack.runner.start()
            case Victim.TEMPORAL:
                await self.stack.engine.start()
            case Victim.AGENT:
                await self.agent.start()

    async def mend(self, *, runner: bool) -> None:
        """Start whatever is not there, so that the next cell finds all of it.

        Args:
            runner: Start the runner anew also where it lives.
        """
        await self.stack.engine.start()
        if self.stack.server.pid is None:
            await self.stack.server.start()
        if runner and self.stack.runner.pid is not None:
            await self.stack.kill(self.stack.runner)
        if self.stack.runner.pid is None:
            await self.stack.runner.start()
        if not psutil.pid_exists(self.agent.pid):
            await self.agent.start()
        self.facts = self.stack.runner.facts()

    @contextlib.contextmanager
    def frozen(self, pid: int) -> Iterator[None]:
        """Stop a process for as long as the block runs, so that a step lasts."""
        process = ProcessIdentity.of(pid)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if process.alive():
                os.kill(pid, signal.SIGCONT)

    def lives(self, browser_id: str) -> Lives:
        """The processes of a browser."""
        record = HostRecord.read(self.stack.state / "desktop" / "browsers" / browser_id)
        children = psutil.Process(record.host.pid).children(recursive=True)
        keeper = self.stack.keeper
        display = [ProcessIdentity.of(child.pid) for child in psutil.Process(keeper.pid).children()]
        return Lives(
            record.host,
            record.browser,
            tuple(ProcessIdentity.of(child.pid) for child in children),
            (keeper, *display),
        )

    def ledger(self) -> Ledger:
        """The ledger of the desktop that is there now, to be read."""
        return Ledger(self.stack.state / "desktop" / f"{self.facts['desktop_id']}.ledger.db")


@contextlib.asynccontextmanager
async def running_parts(state: Path) -> AsyncIterator[Parts]:
    """Start all of it, and end all of it."""
    try:
        async with running_stack(state) as stack:
            log = state / "logs" / "agent.log"
            parts = Parts(stack, AgentWorker(stack.engine.address, log), stack.runner.facts())
            await parts.agent.start()
            try:
                yield parts
            finally:
                await parts.agent.kill()
    except BaseException:
        await stop_virtual(state / "desktop")  # a runner that had to be killed leaves it, and its browsers with it
        raise
