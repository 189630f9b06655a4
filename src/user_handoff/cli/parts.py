"""The parts that `handoff up` starts, and how it keeps them running."""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from user_handoff.cli.children import end, last_lines, spawn
from user_handoff.cli.state_files import Part
from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError, from_dict
from user_handoff.desktop.state import private_folder

READY_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0
"""A part that ran for this long is started again after the first, short pause."""

Say = Callable[[str], None]


class Kept(Protocol):
    """A part that can be started, watched and ended."""

    name: str

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""

    async def start(self) -> object:
        """Start it and return when it is ready; raise a HandoffError, with nothing left running, when it is not."""

    async def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""

    async def stop(self) -> None:
        """End it."""


class Command:
    """A `handoff` command in a process of its own."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        state: Path,
        env: Mapping[str, str] | None = None,
        grace: float = 30,
        fds: Sequence[int] = (),
    ) -> None:
        """Prepare; nothing is started.

        Args:
            name: The command, also the name of its status file and its log.
            arguments: Its arguments, without the state folder.
            state: The state folder.
            env: Its whole environment; None: that of this process.
            grace: Seconds that it has to end.
            fds: The descriptors of this process that it has, too.
        """
        self._fds = fds
        self.name = name
        self._command = [sys.executable, "-P", "-m", "user_handoff.cli.main", name, "--state", str(state), *arguments]
        self._part = Part(state, name)
        self._log = private_folder(state / "logs") / f"{name}.log"
        self._env = env
        self._grace = grace
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def facts(self) -> dict[str, object]:
        """What it said of itself when it became ready."""
        return {k: v for k, v in self._part.status().items() if k not in ("pid", "started", "status")}

    async def start(self) -> None:
        """Start it and return when it is ready.

        Raises:
            HandoffError: What the command itself said.
            SetupError: `start_failed`: it ended, or was not ready in time.
        """
        offset = self._log.stat().st_size if self._log.exists() else 0
        self._process = await spawn(self._command, self._log, self._env, fds=self._fds)
        try:
            await self._until_ready(offset)
        except BaseException:
            await self.stop()
            raise

    async def wait(self) -> int:
        """Wait until it has ended, and return its exit code."""
        return -1 if self._process is None else await self._process.wait()

    async def stop(self) -> None:
        """End it."""
        if self._process is not None:
            await end(self._process, self._grace)

    async def _until_ready(self, offset: int) -> None:
        process = self._process
        assert process is not None
        deadline = asyncio.get_running_loop().time() + READY_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            ended = process.returncode is not None  # looked at first: what it wrote before it ended is there
            status = self._part.status()
            if status.get("pid") == process.pid:
                if status["status"] == "ready":
                    return
                if status["status"] == "failed" and status.get("error"):
                    raise from_dict(status["error"])
            if ended:
                raise self._failed(f"ended with exit code {process.returncode}", offset)
            await asyncio.sleep(0.05)
        raise self._failed(f"was not ready within {READY_SECONDS:.0f} s", offset)

    def _failed(self, how: str, offset: int) -> SetupError:
        said = last_lines(self._log, offset, 4)
        return SetupError(
            ErrorCode.START_FAILED,
            f"`handoff {self.name}` {how}. It said: {said or 'nothing'}",
            holds="What was started was ended again.",
            do_next=f"Read {self._log}; `handoff doctor` checks what it needs.",
        )


async def keep(part: Kept, say: Say) -> None:
    """Start a part again whenever it ends, after a pause that grows while it keeps ending. Runs until cancelled."""
    clock = asyncio.get_running_loop().time
    pause = FIRST_PAUSE_SECONDS
    while True:
        began = clock()
        code = await part.wait()
        if clock() - began > STEADY_SECONDS:
            pause = FIRST_PAUSE_SECONDS
        say(f"{part.name} ended ({_how(code)}); it is started again in {pause:.0f} s.")
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        try:
            await part.start()
        except HandoffError as error:
            say(f"{part.name} could not be started: {error}")
        else:
            say(f"{part.name} runs again, as process {part.pid}.")


def _how(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
