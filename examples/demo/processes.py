"""Which processes a run started, and whether they are gone: known by a mark in their environment, never by name."""

import asyncio
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

import psutil

MARK_VARIABLE = "USER_HANDOFF_DEMO_RUN"


@dataclass(frozen=True, slots=True)
class Found:
    """A process of the run."""

    pid: int
    started: float
    command: str

    def process(self) -> psutil.Process | None:
        """The process while exactly it lives."""
        try:
            process = psutil.Process(self.pid)
            return process if process.create_time() == self.started and process.status() != "zombie" else None
        except psutil.NoSuchProcess:
            return None


@dataclass
class Run:
    """Knows again what it started, even in another process session.

    Attributes:
        state: The run's state folder: a process that was told of it belongs to the run too.
        mark: The value of `MARK_VARIABLE` for all processes of this run.
    """

    state: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    def begin(self) -> None:
        """Mark everything that this process starts from now on."""
        os.environ[MARK_VARIABLE] = self.mark

    def living(self) -> list[Found]:
        """The processes of this run that live now."""
        found, me = [], os.getpid()
        for process in psutil.process_iter():
            try:
                told = [*process.cmdline(), *process.environ().values()]
                ours = self.mark in told or any(str(self.state) in text for text in told)
                if ours and process.pid != me and process.status() != "zombie":
                    found.append(Found(process.pid, process.create_time(), " ".join(process.cmdline())))
            except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                continue
        return found

    def texts(self) -> str:
        """Arguments and environments of the living processes, to be searched for secrets."""
        parts = []
        for one in self.living():
            process = one.process()
            if process is not None:
                parts += [one.command, *(f"{name}={value}" for name, value in process.environ().items())]
        return "\n".join(parts)

    async def end(self, grace: float = 5) -> list[Found]:
        """Wait until nothing of the run is left, and kill what stays.

        Args:
            grace: Seconds that everything has to end by itself.

        Returns:
            What had to be killed: nothing, when all is well.
        """
        deadline = asyncio.get_running_loop().time() + grace
        left = self.living()
        while left and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.05)
            left = self.living()
        for found in left:
            process = found.process()
            if process is not None:
                process.kill()
        return left
