"""Keeping parts running, and what they write down."""

import asyncio
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from user_handoff.cli import parts
from user_handoff.cli.exits import Exit, exit_code, plain
from user_handoff.cli.parts import Command, keep
from user_handoff.cli.state_files import SECRET_VARIABLE, Part, webhook_secret
from user_handoff.contract.errors import ErrorCode, SetupError, make_error
from user_handoff.desktop.state import private_folder


class Failing:
    """A part that always ends, and now and then does not start."""

    name = "thing"
    pid: int | None = 7

    def __init__(self) -> None:
        self.starts = 0

    async def start(self) -> None:
        self.starts += 1
        if self.starts == 2:
            raise SetupError(ErrorCode.START_FAILED, "It is stuck.")

    async def wait(self) -> int:
        return 3

    async def stop(self) -> None:
        raise AssertionError("not here")


async def test_a_part_that_keeps_ending_is_started_with_longer_and_longer_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(parts, "LONGEST_PAUSE_SECONDS", 0.03)
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", noted)
    part, said = Failing(), asyncio.Queue[str]()

    keeping = asyncio.create_task(keep(part, said.put_nowait))
    lines = [await said.get() for _ in range(6)]
    keeping.cancel()

    assert pauses[:3] == [0.01, 0.02, 0.03]
    assert lines[0].startswith("thing ended (exit code 3)")
    assert lines[1] == "thing runs again, as process 7."
    assert lines[3] == "thing could not be started: It is stuck."


async def test_a_command_that_ends_at_once_is_told_with_what_it_said(tmp_path: Path) -> None:
    part = Command("no-such-command", [], state=private_folder(tmp_path / "state"))

    with pytest.raises(SetupError, match="ended with exit code 2") as failed:
        await part.start()

    assert failed.value.code is ErrorCode.START_FAILED
    assert "no-such-command" in str(failed.value)
    assert part.pid is None


def test_a_part_writes_down_why_it_failed(tmp_path: Path) -> None:
    part = Part(tmp_path / "state", "thing")

    with pytest.raises(SetupError), part.running():
        raise SetupError(ErrorCode.NO_DISPLAY, "There is none.")

    assert part.status()["error"]["code"] == "no_display"
    assert stat.S_IMODE(part.path.stat().st_mode) == 0o600


def test_a_part_that_ended_well_leaves_no_status(tmp_path: Path) -> None:
    part = Part(tmp_path / "state", "thing")

    with part.running():
        part.ready(url="here")
        assert part.status()["url"] == "here"

    assert part.status() == {"status": "absent"}


def test_the_status_of_a_dead_process_counts_for_nothing(tmp_path: Path) -> None:
    part = Part(tmp_path / "state", "thing")
    with part.running():
        part.ready()
        content = json.loads(part.path.read_text())
    part.path.write_text(json.dumps(content | {"started": content["started"] - 10}))

    assert part.status() == {"status": "absent"}


def test_a_second_part_of_the_same_name_is_refused(tmp_path: Path) -> None:
    first, second = (Part(tmp_path / "state", "thing") for _ in range(2))

    with first.running(), pytest.raises(SetupError) as refused, second.running():
        raise AssertionError("not reached")

    assert refused.value.code is ErrorCode.ALREADY_RUNNING


def test_the_webhook_secret_is_made_once_and_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)

    first, second = webhook_secret(tmp_path / "state"), webhook_secret(tmp_path / "state")

    assert first == second
    assert first.startswith("whsec_")
    assert stat.S_IMODE((tmp_path / "state" / "webhook.secret").stat().st_mode) == 0o600


def test_a_webhook_secret_of_the_environment_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "whsec_given")

    assert webhook_secret(tmp_path / "state") == "whsec_given"
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ErrorCode.NO_DISPLAY, Exit.FAILED),
        (ErrorCode.EXPIRED, Exit.FAILED),
        (ErrorCode.OUTCOME_UNKNOWN, Exit.FAILED),
        (ErrorCode.BROWSER_HELD, Exit.REFUSED),
        (ErrorCode.UNKNOWN_HANDOFF, Exit.REFUSED),
    ],
)
def test_only_what_was_refused_exits_with_3(code: ErrorCode, expected: Exit) -> None:
    assert exit_code(make_error(code, "It is so.")) is expected


def test_text_of_others_cannot_command_the_terminal() -> None:
    """D5."""
    assert plain("a\x1b]0;title\x07b\nc") == "a\ufffd]0;title\ufffdb\nc"


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_ends_with_its_own_code_whatever_else_runs_in_it(code: int) -> None:
    """A17: what aborts an interpreter that takes itself apart changes no exit code."""
    program = (
        "import atexit, os; atexit.register(os.abort); print('said'); "
        f"from user_handoff.cli.exits import leave; leave({code})"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)

    assert (done.returncode, done.stdout) == (code, "said\n")
