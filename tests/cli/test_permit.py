"""One command, under a permit of the desktop."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import Handoff, command
from tests.relay.conftest import HANDOFF, ME, held
from tests.waiting import until
from user_handoff.cli.main import app
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.evidence.outside import FILE, OutsideNotes
from user_handoff.desktop.reservation.ledger import Ledger

Environment = dict[str, str]


def started(env: Environment, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command("permit", *arguments), env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> int:
    _, said = process.communicate(timeout=30)
    assert b"Traceback" not in said, said
    return process.returncode


async def test_a_begin_waits_for_the_command_and_all_of_its_group(
    ledger: Ledger, env: Environment, tmp_path: Path
) -> None:
    """F1, E2, K11: also for what it leaves behind, and its exit code passes."""
    begun, over = tmp_path / "begun", tmp_path / "over"
    script = f"(touch {begun}; until [ -e {over} ]; do sleep 0.01; done) & exit 7"
    process = started(env, "--name", "my bot", "--", "sh", "-c", script)
    await until(begun.exists)
    await until(lambda: process.poll() is None)
    ledger.publish("h_1", "b_1", "handoff", ME, HANDOFF)
    with pytest.raises(HandoffError) as refused:
        await ledger.drain("h_1", 0.1)
    assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
    assert refused.value.details["effect_ids"][0].startswith("my-bot-")
    over.touch()
    await ledger.drain("h_1", 5)
    ledger.withdraw("h_1")
    assert await asyncio.to_thread(ended, process) == 7
    assert ledger.permits() == []


def test_while_held_nothing_is_started(ledger: Ledger, env: Environment, handoff: Handoff, tmp_path: Path) -> None:
    """F1, E7, A10, K01."""
    with held(ledger):
        done = handoff("permit", "--browser", "b_1", "--", "touch", str(tmp_path / "done"), env=env)
    assert (done.returncode, "[browser_held]" in done.stderr) == (3, True)
    assert len(done.stderr.splitlines()) == 3
    assert not (tmp_path / "done").exists()


async def test_it_waits_for_the_end_of_a_persons_control(ledger: Ledger, env: Environment, tmp_path: Path) -> None:
    """F1."""
    with held(ledger):
        process = started(env, "--wait", "20", "--", "touch", str(tmp_path / "done"))
        await until(lambda: process.poll() is None)
        assert process.poll() is None
    assert await asyncio.to_thread(ended, process) == 0
    assert (tmp_path / "done").exists()


async def test_the_permit_stands_though_only_the_command_is_left(
    ledger: Ledger, env: Environment, tmp_path: Path
) -> None:
    """E2: nothing acts without one, whoever is killed."""
    pid = tmp_path / "pid"
    process = started(env, "--", "sh", "-c", f"echo $$ >{pid}; exec sleep 60")
    await until(lambda: pid.exists() and pid.read_text())
    process.kill()
    process.wait()
    if process.stderr:
        process.stderr.close()
    assert ledger.sweep() == 1
    assert [row.owner.pid for row in ledger.permits()] == [int(pid.read_text())]
    os.kill(int(pid.read_text()), signal.SIGKILL)
    ledger.publish("h_1", "b_1", "handoff", ME, HANDOFF)
    await ledger.drain("h_1", 5)


async def test_a_signal_ends_the_command_and_a_stop_does_not_stop_it(
    ledger: Ledger, env: Environment, tmp_path: Path
) -> None:
    """F1: what is stopped would keep everybody waiting."""
    pid = tmp_path / "pid"
    process = started(env, "--", "sh", "-c", f"echo $$ >{pid}; exec sleep 60")
    await until(lambda: pid.exists() and pid.read_text())
    os.kill(int(pid.read_text()), signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(ended, process) == 128 + signal.SIGTERM
    assert ledger.permits() == []


async def test_a_command_that_may_be_cut_off_ends_for_a_person(
    ledger: Ledger, env: Environment, tmp_path: Path
) -> None:
    """F1: it does not end by itself, nor by the first signal."""
    begun = tmp_path / "begun"
    stubborn = (
        f"import signal, pathlib, time; signal.signal(15, 1); pathlib.Path({str(begun)!r}).touch(); time.sleep(60)"
    )
    process = started(env, "--cut-off", "--", sys.executable, "-S", "-c", stubborn)
    await until(begun.exists)
    ledger.publish("h_1", "b_1", "takeover", ME, HANDOFF)
    await ledger.drain("h_1", 5)
    assert await asyncio.to_thread(ended, process) == 128 + signal.SIGKILL


def test_what_cannot_be_started_is_told_of(ledger: Ledger, state: Path) -> None:
    for given, code in (
        (("--state", str(state), "--", "nonesuch"), "program_missing"),
        (("--state", str(state), "--browser", "b_9", "--", "true"), "unknown_browser"),
        (("--state", "/nowhere", "--", "true"), "runner_unavailable"),
    ):
        done = CliRunner().invoke(app, ["permit", *given])
        assert isinstance(done.exception, HandoffError)
        assert done.exception.code == code
    assert ledger.permits() == []


def test_a_command_is_noted_by_its_name_alone(ledger: Ledger, env: Environment, state: Path) -> None:
    """E6, B7: and by what became of it, not by its arguments."""
    assert ended(started(env, "--name", "my bot", "--", "sh", "-c", "exit 7 # secret")) == 7
    with held(ledger):
        assert ended(started(env, "--", "sh", "-c", "exit 0")) == 3
    with contextlib.closing(OutsideNotes(state / "desktop" / FILE, "d_1")) as notes:
        found, _ = notes.waiting(10)
    said = [[note.event, *(note.facts.get(each) for each in ("who", "action", "code", "exit"))] for note in found]
    assert said == [
        ["effect_admitted", "my-bot", "sh", None, None],
        ["effect_failed", "my-bot", "sh", "exit_code", 7],
        ["effect_refused", "sh", "sh", "desktop_held", None],
    ]
    assert "secret" not in repr(found)
