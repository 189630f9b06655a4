"""`handoff up`, as a person starts and ends it."""

import asyncio
import json
import os
import signal
import stat
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from temporalio.client import Client

from tests.cli.conftest import SECONDS, Handoff, clean_environment, command, processes_of
from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.cli.engine import DATABASE, EmbeddedTemporal
from user_handoff.cli.ports import free_port
from user_handoff.cli.temporal import UP_FILE
from user_handoff.plugin import HandoffPlugin


class Up:
    """A `handoff up` in a process of its own."""

    def __init__(self, state: Path, **env: str) -> None:
        self.state = state
        self.env = clean_environment(**env)
        self.said: list[str] = []
        self.process: asyncio.subprocess.Process | None = None

    async def start(self, until: str = "Ready.") -> None:
        ports = ("--port", "--ui-port", "--gateway-port")
        options = [part for name in ports for part in (name, str(free_port()))]
        self.process = await asyncio.create_subprocess_exec(
            *command("up", "--state", str(self.state), "--virtual", "--no-sandbox", *options),
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        await self.hear(until)

    async def hear(self, text: str) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            while line := (await self.process.stdout.readline()).decode():
                self.said.append(line)
                if text in line:
                    return line
        raise AssertionError(f"it ended without saying {text!r}: {''.join(self.said)}")

    def file(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.state / UP_FILE).read_text())
        return found

    async def end(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        output, _ = await asyncio.wait_for(self.process.communicate(), 60)
        self.said += output.decode().splitlines()
        return self.process.returncode or 0


@asynccontextmanager
async def started(state: Path, until: str = "Ready.", **env: str) -> AsyncIterator[Up]:
    up = Up(state, **env)
    try:
        await up.start(until)
        yield up
    finally:
        if up.process is not None and up.process.returncode is None:
            await up.end(signal.SIGTERM)
        for process in processes_of(state):
            process.kill()


@pytest.fixture(scope="module")
async def up(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Up]:
    """One `handoff up` for the tests that leave it as it is."""
    async with started(tmp_path_factory.mktemp("up") / "state", HANDOFF_NOTIFY_REMIND="500") as up:
        yield up


async def test_it_prints_and_writes_where_everything_is(up: Up) -> None:
    found = up.file()
    said = "".join(up.said)

    for name in ("ui_url", "gateway_url", "queue", "state"):
        assert found[name] in said
    assert set(found["processes"]) == {"temporal", "server", "runner"}
    assert all(psutil.pid_exists(pid) for pid in found["processes"].values())


async def test_its_ui_and_gateway_answer(up: Up) -> None:
    async with httpx.AsyncClient(timeout=30) as http:
        ui = await http.get(up.file()["ui_url"], follow_redirects=True)
        gateway = await http.get(f"{up.file()['gateway_url']}/readyz")

    assert (ui.status_code, gateway.status_code) == (200, 200)


async def test_what_it_writes_is_for_this_user_alone(up: Up) -> None:
    names = (UP_FILE, "webhook.secret", DATABASE, "logs/server.log", "logs/runner.log", "parts/server.json")

    assert {name: stat.S_IMODE((up.state / name).stat().st_mode) for name in names} == dict.fromkeys(names, 0o600)


async def test_no_secret_is_in_a_command_line_or_a_log(up: Up) -> None:
    """B7."""
    secret = (up.state / "webhook.secret").read_text().strip()
    lines = [" ".join(process.cmdline()) for process in processes_of(up.state)]
    logs = [path.read_text() for path in (up.state / "logs").iterdir()]

    assert lines and logs
    assert not any(secret in text for text in [*lines, *logs, *up.said])


async def test_a_person_is_told_on_its_terminal_and_the_runner_is_told_of_no_channel(up: Up) -> None:
    """K81: by default, and without a link."""
    client = await Client.connect(up.file()["address"], plugins=[HandoffPlugin()])
    desktop = FakeDesktop()
    async with desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        line = await up.hear("asks for you")
        await handoff.close()

    assert "Sign in to the portal" in line and f"`handoff link {handoff.id}`" in line and "/j/" not in line
    environments = {
        name: psutil.Process(pid).environ() for name, pid in up.file()["processes"].items() if name != "temporal"
    }
    assert "HANDOFF_NOTIFY_REMIND" in environments["server"]
    assert not [name for name in environments["runner"] if name.startswith("HANDOFF_NOTIFY")]


async def test_a_second_one_on_the_same_state_folder_says_so_and_stops(up: Up, handoff: Handoff) -> None:
    done = await asyncio.to_thread(handoff, "up", "--state", str(up.state), "--no-sandbox")

    assert done.returncode == 1
    assert "[already_running]" in done.stderr
    assert str(up.file()["pid"]) in done.stderr
    assert up.file()["gateway_url"] in done.stderr


async def test_commands_on_its_state_folder_find_its_server(up: Up, handoff: Handoff) -> None:
    done = await asyncio.to_thread(handoff, "list", "--state", str(up.state))

    assert (done.returncode, done.stdout) == (0, "No handoff waits.\n")


async def test_an_unknown_handoff_is_refused(up: Up, handoff: Handoff) -> None:
    done = await asyncio.to_thread(handoff, "show", "handoff/b/s/m", "--state", str(up.state))

    assert done.returncode == 3
    assert "[unknown_handoff]" in done.stderr


async def test_a_killed_part_runs_again(up: Up) -> None:
    """F10: the desktop's queue is the same afterwards."""
    before = up.file()
    os.kill(before["processes"]["runner"], signal.SIGKILL)

    assert "killed by signal 9" in await up.hear("runner ended")
    await up.hear("runner runs again")

    after = up.file()
    assert after["processes"]["runner"] != before["processes"]["runner"]
    assert after["queue"] == before["queue"]


async def test_ctrl_c_ends_everything_and_the_desktop_of_a_killed_one_is_found_again(state: Path) -> None:
    """A killed `up` is a crash of all at once but the desktop; the next one takes the desktop over, and ends it."""
    async with started(state) as first:
        desktop = first.file()["desktop_id"]
        assert await first.end(signal.SIGKILL) == -signal.SIGKILL
        await until(
            lambda: all("user_handoff.desktop.display" in _line(p) or "Xtigervnc" in _line(p) for p in _left(state)),
            SECONDS,
            what="nothing but the display is left",
        )
        assert _left(state)

        async with started(state) as second:
            assert second.file()["desktop_id"] == desktop
            began = time.monotonic()
            assert await second.end(signal.SIGINT) == 0
            assert time.monotonic() - began < 20

        await until(lambda: not _left(state), 5, what="nothing is left")
        assert not (state / UP_FILE).exists()


async def test_a_configured_server_is_used_and_none_is_started(state: Path, temporal: EmbeddedTemporal) -> None:
    async with started(state, TEMPORAL_ADDRESS=temporal.address) as up:
        found = up.file()

        assert found["address"] == temporal.address
        assert set(found["processes"]) == {"server", "runner"}
        assert not (state / DATABASE).exists()
        assert await up.end(signal.SIGTERM) == 0

    assert temporal.pid is not None


async def test_a_signal_while_it_starts_ends_what_was_started(state: Path) -> None:
    async with started(state, until="Starting server") as up:
        assert await up.end(signal.SIGTERM) == 0

        await until(lambda: not _left(state), 5, what="nothing is left")


def _left(state: Path) -> list[psutil.Process]:
    return processes_of(state)


def _line(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return "Xtigervnc"
