"""Programs are launched from a list alone, without a shell, and on this desktop."""

import os
from pathlib import Path

import psutil
import pytest

from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.input.launch import Launcher


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that writes down its arguments, its environment and its session."""
    path = tmp_path / "program"
    path.write_text(
        f"""#!/bin/sh
{{ printf "%s|" "$@"; echo; env; }} > {tmp_path}/new
mv {tmp_path}/new {tmp_path}/out
exec sleep 60
"""
    )
    path.chmod(0o700)
    return path


async def test_an_allowed_program_runs_detached_on_this_desktop(
    desktop: Desktop, script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E7: its arguments reach it as they are, and the runner's secrets do not."""
    monkeypatch.setenv("HANDOFF_TEST_SECRET", "canary")
    launcher = Launcher(desktop.display, [str(script)])
    argv = (str(script), "a b", "$HOME; touch x", "*")
    pid = launcher.start(launcher.program(argv), argv)
    try:
        await until(lambda: (tmp_path / "out").exists())
        arguments, *environment = (tmp_path / "out").read_text().splitlines()
        assert arguments == "a b|$HOME; touch x|*|"
        assert f"DISPLAY={desktop.display.name}" in environment
        assert f"XAUTHORITY={desktop.display.xauthority}" in environment
        assert "canary" not in "\n".join(environment)
        assert os.getsid(pid) == pid
    finally:
        psutil.Process(pid).kill()
    await until(lambda: not psutil.pid_exists(pid))


@pytest.mark.parametrize("name", ["sh", "/bin/sh", "./program", "program", "../bin/sh", ""])
def test_what_is_not_on_the_list_is_refused(desktop: Desktop, script: Path, name: str) -> None:
    launcher = Launcher(desktop.display, [str(script), "no-such-program-at-all"])
    with pytest.raises(Refused) as error:
        launcher.program((name,))
    assert error.value.code is ErrorCode.LAUNCH_REFUSED


def test_a_name_on_the_list_is_the_program_that_the_runner_finds(desktop: Desktop) -> None:
    launcher = Launcher(desktop.display, ["sleep"])
    path = launcher.program(("sleep", "1"))
    assert Path(path).is_absolute()
    assert launcher.program((path,)) == path
