"""docker-compose.yml: valid, and its commands run on this machine. The images are not built here."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from tests.packaging.conftest import ROOT
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.ports import free_port

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]

STARTED_SECONDS = 60


def test_it_is_valid_by_the_compose_schema() -> None:
    command = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, ROOT / "docker-compose.yml"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_it_names_temporal_with_postgresql_a_server_a_gateway_and_two_desktops() -> None:
    assert [name for name in OURS if name.startswith("desktop-")] == ["desktop-1", "desktop-2"]
    assert {"postgresql", "temporal", "temporal-ui", "server", "gateway"} <= set(COMPOSE["services"])


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_what_a_service_depends_on_exists_and_can_say_that_it_is_ready(name: str) -> None:
    for other, how in COMPOSE["services"][name].get("depends_on", {}).items():
        assert how["condition"] != "service_healthy" or "healthcheck" in COMPOSE["services"][other]


def test_ports_are_open_to_this_machine_only() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_image_runs_as_a_user_without_rights_and_has_what_run_installs() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    wanted = re.findall(r"\|\| echo ([a-z0-9 -]+)", (ROOT / "run").read_text())
    packages = {package for line in wanted for package in line.split()} - {"xdotool", "dbus-daemon"}  # the tests' own

    assert packages
    assert {package for package in packages if package not in dockerfile} == set()
    assert re.findall(r"^USER (\w+)$", dockerfile, re.MULTILINE) == ["handoff"]


@dataclass
class Service:
    """One of our services, run by the command that the file names."""

    name: str
    env: dict[str, str]
    log: Path

    @property
    def definition(self) -> dict[str, Any]:
        found: dict[str, Any] = COMPOSE["services"][self.name]
        return found

    async def start(self) -> asyncio.subprocess.Process:
        with self.log.open("wb") as log:
            return await asyncio.create_subprocess_exec(
                *self.definition["command"], env=self.env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
            )

    async def healthy(self) -> bool:
        kind, *command = self.definition["healthcheck"]["test"]
        assert kind == "CMD"
        check = await asyncio.create_subprocess_exec(*command, env=self.env, stdout=asyncio.subprocess.DEVNULL)
        return await check.wait() == 0


def substituted(text: str) -> str:
    """A value of the file with its ``${NAME:-default}`` replaced by the defaults."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


@pytest.fixture(scope="module")
async def temporal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedTemporal]:
    engine = EmbeddedTemporal(tmp_path_factory.mktemp("compose") / "temporal", port=0, ui_port=None)
    await engine.start()
    yield engine
    await engine.stop()


def service(name: str, temporal: EmbeddedTemporal, folder: Path) -> Service:
    """A service in the environment that the file gives it; only places and ports are this machine's."""
    given = {k: substituted(v) for k, v in COMPOSE["services"][name]["environment"].items()}
    here = {"TEMPORAL_ADDRESS": temporal.address, "HANDOFF_STATE": str(folder / name)}
    if "HANDOFF_GATEWAY_PORT" in given:
        here["HANDOFF_GATEWAY_PORT"] = str(free_port())
    if "HANDOFF_VIEW_LISTEN" in given:
        here["HANDOFF_VIEW_LISTEN"] = f"127.0.0.1:{free_port()}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return Service(name, {"PATH": path, "HOME": os.environ["HOME"], **given, **here}, folder / f"{name}.log")


async def test_the_commands_it_names_run_become_healthy_and_end_on_sigterm(
    temporal: EmbeddedTemporal, tmp_path: Path
) -> None:
    services = [service(name, temporal, tmp_path) for name in OURS]
    processes = {one.name: await one.start() for one in services}
    try:
        async with asyncio.timeout(STARTED_SECONDS):
            waiting = services
            while waiting:
                ended = [name for name, process in processes.items() if process.returncode is not None]
                assert not ended, "\n".join((tmp_path / f"{name}.log").read_text() for name in ended)
                waiting = [one for one in waiting if not await one.healthy()]
    finally:
        for process in processes.values():
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        codes = {name: await asyncio.wait_for(process.wait(), 60) for name, process in processes.items()}

    assert codes == dict.fromkeys(OURS, 0)
    left = [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(p.info["cmdline"] or [])]
    assert left == []
