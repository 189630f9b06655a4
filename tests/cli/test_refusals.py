"""What this machine or its configuration cannot do: a sentence, an exit code, and nothing left running."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Handoff, clean_environment, processes_of
from user_handoff.cli.checks import driver
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.ports import free_port
from user_handoff.contract.errors import SetupError

Refused = Callable[..., str]


@pytest.fixture
def refused(handoff: Handoff, state: Path) -> Refused:
    """Run a command that must fail with a code; returns what it says."""

    def call(code: str, name: str = "up", *arguments: str, **env: str) -> str:
        done = handoff(name, "--state", str(state), *arguments, env=clean_environment(**env))
        assert done.returncode == 1, done
        assert f"[{code}]" in done.stderr
        assert len(done.stderr.splitlines()) >= 3, "what happened, what holds, what to do"
        assert "Traceback" not in done.stderr
        assert processes_of(state) == []
        return done.stderr

    return call


@pytest.fixture
def taken() -> Iterator[str]:
    """A port that somebody has."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield str(other.getsockname()[1])


@pytest.mark.parametrize("option", ["--port", "--ui-port", "--gateway-port"])
def test_a_taken_port_is_named_with_the_option_that_chooses_another(refused: Refused, taken: str, option: str) -> None:
    options = {"--port": str(free_port()), "--ui-port": str(free_port()), option: taken}

    said = refused("port_taken", "up", "--no-sandbox", *(part for pair in options.items() for part in pair))

    assert f"Port {taken}" in said
    assert f"with {option}" in said


def test_without_a_display_and_without_its_programs_nothing_starts(refused: Refused, tmp_path: Path) -> None:
    chromium = tmp_path / "chromium"
    chromium.write_text("#!/bin/sh\n")
    chromium.chmod(0o755)

    said = refused("no_display", "up", "--no-sandbox", PATH="/nowhere", HANDOFF_CHROMIUM=str(chromium))

    assert "apt-get install" in said


def test_wayland_is_refused(refused: Refused) -> None:
    """A2."""
    assert "--virtual" in refused("wayland_unsupported", "up", "--no-sandbox", WAYLAND_DISPLAY="wayland-0")


def test_a_display_that_is_not_there_is_refused(refused: Refused) -> None:
    assert ":987" in refused("no_display", "up", "--no-sandbox", "--display", ":987")


def test_without_chromium_nothing_starts(refused: Refused) -> None:
    assert "apt-get install chromium" in refused("chromium_missing", "up", "--no-sandbox", HANDOFF_CHROMIUM="/nowhere")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root cannot use the sandbox")
def test_root_has_to_switch_the_sandbox_off(refused: Refused) -> None:
    assert "--no-sandbox" in refused("chromium_failed", "up")


def test_an_unwritable_state_folder_is_refused(handoff: Handoff, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = handoff("up", "--no-sandbox", "--state", str(tmp_path / "file" / "state"))

    assert done.returncode == 1
    assert "[state_unwritable]" in done.stderr
    assert "--state" in done.stderr


@pytest.mark.parametrize("name", ["up", "server", "runner"])
def test_an_unreachable_temporal_is_named(refused: Refused, name: str) -> None:
    options = ["--no-sandbox"] if name != "server" else []
    options += {"up": ["--gateway-port", str(free_port())], "server": ["--port", "0"]}.get(name, [])

    assert "127.0.0.1:1" in refused("temporal_unreachable", name, *options, TEMPORAL_ADDRESS="127.0.0.1:1")


@pytest.mark.parametrize("name", ["server", "runner"])
def test_a_namespace_that_does_not_exist_is_named(refused: Refused, temporal: EmbeddedTemporal, name: str) -> None:
    said = refused(
        "namespace_missing",
        name,
        *(["--port", "0"] if name == "server" else ["--no-sandbox"]),
        TEMPORAL_ADDRESS=temporal.address,
        TEMPORAL_NAMESPACE="no-such",
    )

    assert "no-such" in said


def test_a_profile_that_the_temporal_configuration_lacks_is_named(refused: Refused) -> None:
    assert "no-such" in refused("temporal_unreachable", "up", "--no-sandbox", TEMPORAL_PROFILE="no-such")


def test_a_wrong_public_url_is_refused_before_anything_starts(handoff: Handoff, state: Path) -> None:
    done = handoff("server", "--state", str(state), "--public-url", "ftp://x")

    assert done.returncode == 3
    assert "public-url" in done.stderr


def test_a_wrong_command_line_exits_with_2(handoff: Handoff) -> None:
    assert handoff("reply", "handoff/b/s/m", "perhaps").returncode == 2


def test_a_driver_that_does_not_start_is_told_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'libatomic.so.1: cannot open' >&2\nexit 127\n")
    node.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))

    with pytest.raises(SetupError, match=r"libatomic\.so\.1.*apt-get install libatomic1"):
        driver()


def test_a_policy_file_with_an_error_is_told_with_its_line(refused: Refused, tmp_path: Path) -> None:
    """B1: also where a runner is started by something else."""
    policy = tmp_path / "policy.toml"
    policy.write_text("version = 1\n[limits]\nread_only = 'perhaps'\n")
    options = {"--port": str(free_port()), "--ui-port": str(free_port()), "--gateway-port": str(free_port())}

    said = refused(
        "policy_invalid",
        "up",
        "--no-sandbox",
        "--virtual",
        *(part for pair in options.items() for part in pair),
        HANDOFF_POLICY=str(policy),
    )

    assert f"{policy}, line 3: limits.read_only" in said
