"""Everything on one machine, as a user starts it: ``handoff up`` in a process of its own."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.demo.processes import Run
from user_handoff.desktop.display.display import Display, real_display
from user_handoff.desktop.display.record import read_record

READY_SECONDS = 60.0
STOP_SECONDS = 30.0
_SETTING = re.compile(r"TEMPORAL_|HANDOFF_(?!CHROMIUM$)")  # the demo is its own, whatever is set for another


class EngineFailed(Exception):
    """``handoff up`` did not come up; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A running ``handoff up``.

    Attributes:
        address: Of Temporal.
        ui_url: Of Temporal's web UI.
        gateway_url: Where people's links lead.
        display: The desktop's display.
    """

    address: str
    ui_url: str
    gateway_url: str
    display: Display


@contextlib.asynccontextmanager
async def running_engine(run: Run, *, virtual: bool) -> AsyncIterator[Engine]:
    """Start ``handoff up`` on the run's state folder, and end it with Ctrl-C's signal.

    Args:
        run: Has the state folder.
        virtual: A private virtual display; False takes the one of the environment.

    Raises:
        EngineFailed: It did not become ready.
    """
    command = [sys.executable, "-m", "user_handoff.cli.main", "up", "--state", str(run.state)]
    command += ["--port", "0", "--ui-port", "0", "--gateway-port", "0"]
    command += ["--virtual"] if virtual else []
    command += ["--no-sandbox"] if os.geteuid() == 0 else []
    environment = {name: value for name, value in os.environ.items() if not _SETTING.match(name)}
    log = run.state.parent / "up.log"
    with log.open("wb") as output:
        # A session of its own: a Ctrl-C at the terminal is the demo's, which ends everything in order.
        process = await asyncio.create_subprocess_exec(
            *command, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    try:
        yield _engine(await _ready(process, run.state / "up.json", log), run.state)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), STOP_SECONDS)


async def _ready(process: asyncio.subprocess.Process, path: Path, log: Path) -> dict[str, Any]:
    deadline = asyncio.get_running_loop().time() + READY_SECONDS
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:
        found = _read(path)
        if found is not None:
            return found
        await asyncio.sleep(0.05)
    raise EngineFailed(f"`handoff up` did not become ready. It said:\n{_tail(log)}")


def _read(path: Path) -> dict[str, Any] | None:
    with contextlib.suppress(FileNotFoundError):
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    return None


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-2000:]


def _engine(up: dict[str, Any], state: Path) -> Engine:
    desktop = state / "desktop"
    record = read_record(desktop)  # of a private display; a real one leaves none
    display = record.display(desktop) if record else real_display(os.environ)
    return Engine(up["address"], up["ui_url"], up["gateway_url"], display)
