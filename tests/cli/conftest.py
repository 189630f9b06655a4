"""Fixtures of the command line's tests."""

import asyncio
import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner, Result

from tests.gateway.world import World, open_world
from tests.relay.conftest import make_desk
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.main import app
from user_handoff.desktop.reservation.ledger import Ledger

Handoff = Callable[..., subprocess.CompletedProcess[str]]
Call = Callable[..., Awaitable[Result]]

SECONDS = 60


def command(*arguments: str) -> list[str]:
    """The handoff command of the Python that runs the tests."""
    return [sys.executable, "-P", "-m", "user_handoff.cli.main", *arguments]


def clean_environment(**more: str) -> dict[str, str]:
    """An environment that configures neither Temporal, nor a display, nor a state folder."""
    dropped = ("TEMPORAL_", "HANDOFF_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"):
        kept.pop(name, None)
    return kept | {"TEMPORAL_CONFIG_FILE": os.devnull} | more


@pytest.fixture
def handoff() -> Handoff:
    """Run the handoff command to its end."""

    def call(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            env=clean_environment() if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    return call


@pytest.fixture(scope="package")
async def world() -> AsyncIterator[World]:
    """One world for all commands: each test has a handoff of its own."""
    async with open_world() as opened:
        yield opened


@pytest.fixture
def environment(world: World, tmp_path: Path) -> dict[str, str]:
    """What a command needs to find that world."""
    target = world.temporal.service_client.config.target_host
    return clean_environment(TEMPORAL_ADDRESS=target, HANDOFF_STATE=str(tmp_path))


@pytest.fixture
def call(environment: dict[str, str]) -> Call:
    """Run a command in this process."""

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(lambda: CliRunner().invoke(app, arguments, env=environment))

    return run


@contextlib.asynccontextmanager
async def terminal(*arguments: str, env: dict[str, str], columns: int) -> AsyncIterator["Terminal"]:
    """Run a command on a terminal of its own."""
    ours, theirs = pty.openpty()
    env = env | {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40"}
    process = await asyncio.create_subprocess_exec(
        *command(*arguments), env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = Terminal(process)
    asyncio.get_running_loop().add_reader(ours, shown.read, ours)
    try:
        yield shown
    finally:
        asyncio.get_running_loop().remove_reader(ours)
        if process.returncode is None:
            process.kill()
            await process.wait()
        os.close(ours)


class Terminal:
    """What was written on a terminal."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""
        self.over = asyncio.Event()

    def read(self, end: int) -> None:
        try:
            more = os.read(end, 65_536)
        except OSError:  # the last writer is gone
            more = b""
        self.said += more.decode(errors="replace")
        if not more:
            asyncio.get_running_loop().remove_reader(end)
            self.over.set()


async def on_terminal(*arguments: str, env: dict[str, str], columns: int) -> str:
    """What a command writes on a terminal until it ends."""
    async with terminal(*arguments, env=env, columns=columns) as shown, asyncio.timeout(SECONDS):
        await shown.over.wait()
        assert await shown.process.wait() == 0, shown.said
        return shown.said


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedTemporal]:
    """A running embedded server without a web UI."""
    engine = EmbeddedTemporal(tmp_path_factory.mktemp("temporal") / "state", port=0, ui_port=None)
    await engine.start()
    yield engine
    await engine.stop()


def processes_of(state: Path) -> list[psutil.Process]:
    """The processes that name this state folder on their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE and str(state) in " ".join(process.info["cmdline"] or []):
            found.append(process)
    return found


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A state folder; whatever a failed test left running on it is ended."""
    path = tmp_path / "state"
    yield path
    for process in processes_of(path):
        process.kill()


@pytest.fixture
def ledger(state: Path) -> Iterator[Ledger]:
    """The ledger of a desktop that is served there."""
    ledger = make_desk(state)
    yield ledger
    ledger.close()


@pytest.fixture
def env(state: Path) -> dict[str, str]:
    """What a command needs to find that desktop."""
    return clean_environment(HANDOFF_STATE=str(state))
