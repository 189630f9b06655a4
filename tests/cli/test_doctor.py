"""`handoff doctor`."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Handoff, clean_environment
from user_handoff.cli.doctor import DoctorSettings, examine, ports
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.ports import free_port
from user_handoff.cli.state_files import DESKTOP


def free_ports() -> list[str]:
    """Options that name free ports."""
    return [part for name in ("--port", "--ui-port", "--gateway-port") for part in (name, str(free_port()))]


def test_on_a_good_machine_nothing_stands_in_the_way(handoff: Handoff, state: Path) -> None:
    done = handoff("doctor", "--state", str(state), "--no-sandbox", *free_ports())

    assert done.returncode == 0, done.stdout
    assert "WRONG" not in done.stdout
    assert "Nothing stands in the way" in done.stdout


def test_all_that_is_wrong_is_told_at_once_and_how_to_mend_it(handoff: Handoff, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = clean_environment(
        PATH="/nowhere", HANDOFF_CHROMIUM="/nowhere", TEMPORAL_ADDRESS="127.0.0.1:1", WAYLAND_DISPLAY="wayland-0"
    )

    done = handoff("doctor", "--json", "--state", str(tmp_path / "file" / "x"), "--no-sandbox", env=env)

    wrong = {f["name"]: f for f in json.loads(done.stdout)["findings"] if not f["ok"]}
    assert done.returncode == 1
    assert {name: finding["code"] for name, finding in wrong.items()} == {
        "State folder": "state_unwritable",
        "Display": "wayland_unsupported",
        "Chromium": "chromium_missing",
        "Namespace": "temporal_unreachable",
    }
    assert all(finding["mend"] for finding in wrong.values())


async def test_a_profile_that_a_foreign_browser_has_open_is_named(state: Path) -> None:
    profile = state / DESKTOP / "browsers" / "b_1" / "profile"
    profile.mkdir(parents=True)
    (profile / "SingletonLock").symlink_to("host-1")
    flag = f"--user-data-dir={profile}"
    foreign = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", flag, stdin=asyncio.subprocess.PIPE)
    settings = DoctorSettings(state, virtual=True, display=None, sandbox=False, ports={})
    try:
        found = {finding.name: finding for finding in await examine(settings)}
    finally:
        await foreign.communicate(b"\n")

    assert not found["Profiles"].ok
    assert str(foreign.pid) in found["Profiles"].found


async def test_it_tells_the_namespace_and_what_it_lacks(
    temporal: EmbeddedTemporal, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal.address)
    settings = DoctorSettings(state, virtual=True, display=None, sandbox=False, ports=ports(1, 1, free_port()))

    found = {finding.name: finding for finding in await examine(settings)}

    assert found["Namespace"].found == "default, with our search attributes"
    assert "Port for Temporal" not in found
