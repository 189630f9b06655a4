"""What a start refuses: each with a typed error, and nothing left running."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.desktop.host.conftest import MakeSpec
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.launch import HostSpec, chromium_path, find_hosts, launch_host


async def refused(spec: HostSpec, timeout_seconds: float = 20) -> SetupError:
    with pytest.raises(SetupError) as error:
        await launch_host(spec, timeout_seconds)
    mentions = [
        p.pid for p in psutil.process_iter(["cmdline"]) if str(spec.folder) in " ".join(p.info["cmdline"] or [])
    ]
    assert mentions == []
    assert not (spec.folder / "host.json").exists()
    assert error.value.do_next
    return error.value


async def test_a_display_that_is_not_there_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    assert (await refused(make_spec(tmp_path / "b", display=":9999"))).code is ErrorCode.NO_DISPLAY


async def test_a_display_whose_cookie_is_missing_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    """K05."""
    (tmp_path / "empty").touch()
    assert (await refused(make_spec(tmp_path / "b", xauthority=tmp_path / "empty"))).code is ErrorCode.NO_DISPLAY


async def test_no_display_at_all_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    assert (await refused(make_spec(tmp_path / "b", display=""))).code is ErrorCode.NO_DISPLAY


async def test_an_executable_that_is_not_there_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    error = await refused(make_spec(tmp_path / "b", executable=tmp_path / "nothing"))
    assert error.code is ErrorCode.CHROMIUM_FAILED
    assert "cannot be run" in error.what


async def test_a_browser_that_ends_at_once_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    error = await refused(make_spec(tmp_path / "b", executable=Path("/bin/false")))
    assert error.code is ErrorCode.CHROMIUM_FAILED
    assert "exit status 1" in error.what


async def test_a_browser_that_never_answers_is_ended(make_spec: MakeSpec, tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 61.25\n")
    silent.chmod(0o700)
    error = await refused(make_spec(tmp_path / "b", executable=silent), 1.5)
    assert error.code is ErrorCode.CHROMIUM_FAILED
    assert "not ready" in error.what
    assert not any("sleep 61.25" in " ".join(p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))


async def test_a_folder_that_cannot_be_written_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (await refused(make_spec(tmp_path / "file" / "b"))).code is ErrorCode.STATE_UNWRITABLE


async def test_a_socket_path_that_is_too_long_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    error = await refused(make_spec(tmp_path / "b", socket=tmp_path / ("x" * 100)))
    assert "longer than" in error.what


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused the sandbox")
async def test_root_must_switch_the_sandbox_off_explicitly(make_spec: MakeSpec, tmp_path: Path) -> None:
    error = await refused(make_spec(tmp_path / "b", sandbox=True))
    assert error.code is ErrorCode.CHROMIUM_FAILED
    assert "explicitly" in error.do_next


def test_a_named_browser_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDOFF_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(SetupError) as error:
        chromium_path()
    assert error.value.code is ErrorCode.CHROMIUM_MISSING
    assert "/nowhere/chromium" in error.value.what


def test_no_browser_on_the_path_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HANDOFF_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="HANDOFF_CHROMIUM"):
        chromium_path()


def test_a_damaged_record_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "host.json").write_text("{")
    assert find_hosts(tmp_path) == []


def test_a_host_loads_no_models() -> None:
    """They would be half of the time that it takes to start, and a browser waits for it."""
    said = "import sys, user_handoff.desktop.host.host; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=30)
    assert done.stdout == "False\n", done.stderr
