"""The parts of the demo that judge: a wrong fact must not pass."""

import asyncio
import base64
import dataclasses
import json
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

from examples.demo.leaks import search_files, search_text
from examples.demo.processes import MARK_VARIABLE, Run
from examples.demo.report import Report

SECRET = {"password": ('p@ss "w0rd"+with=symbols',)}


@pytest.mark.parametrize(
    "content",
    [
        SECRET["password"][0],
        f"url?{urllib.parse.quote_plus(SECRET['password'][0])}",
        json.dumps({"value": SECRET["password"][0]}),
        SECRET["password"][0].encode("utf-16-le").decode("latin-1"),
        base64.b64encode(b"a:" + SECRET["password"][0].encode()).decode(),
        base64.b64encode(b"user:" + SECRET["password"][0].encode() + b"\n").decode(),
        base64.b64encode(SECRET["password"][0].encode()).decode(),
    ],
    ids=["raw", "query", "json", "utf-16", "base64-2", "base64-5", "base64-0"],
)
def test_a_secret_is_found_in_every_form(content: str, tmp_path: Path) -> None:
    """B7."""
    (tmp_path / "some.log").write_bytes(b"before " + content.encode("latin-1") + b" after")
    assert [leak.kind for leak in search_files(SECRET, [tmp_path])] == ["password"]


def test_a_clean_folder_has_no_leak(tmp_path: Path) -> None:
    (tmp_path / "some.log").write_text("nothing of it")
    assert search_files(SECRET, [tmp_path]) == []


def test_a_profile_is_searched_where_a_password_manager_would_keep_it(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    (profile / "Default").mkdir(parents=True)
    (profile / "Local State").write_text("{}")
    (profile / "Default" / "Login Data").write_text(SECRET["password"][0])
    (profile / "Default" / "Cookies").write_text(SECRET["password"][0])
    assert [Path(leak.where).name for leak in search_files(SECRET, [tmp_path])] == ["Login Data"]


def test_what_is_reported_never_holds_the_secret() -> None:
    (leak,) = search_text(SECRET, "what was printed", f"oops {SECRET['password'][0]}")
    assert SECRET["password"][0] not in str(leak)


def test_a_process_that_left_its_session_is_found_by_its_mark_and_ended(tmp_path: Path) -> None:
    run = Run(tmp_path)
    code = "import os, time; os.setsid(); print(flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], env={MARK_VARIABLE: run.mark}, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        assert [found.pid for found in run.living()] == [child.pid]
        assert [found.pid for found in asyncio.run(run.end(grace=0))] == [child.pid]
    assert run.living() == []


GOOD = Report(
    outcome="verified",
    verified=True,
    handoff_id="handoff/b/s/m",
    effects_refused_while_held=3,
    exported_rows=12,
    seconds=20,
    same_browser=True,
)


def test_a_good_run_has_no_problem() -> None:
    report = dataclasses.replace(GOOD, problems=[])
    report.judge()
    assert report.problems == []


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": "not_verified", "verified": False},
        {"effects_refused_while_held": 2},
        {"exported_rows": 11},
        {"secrets_found": 1, "secrets_where": ["password in x"]},
        {"left_running": ["chromium"]},
        {"same_browser": False},
        {"seconds": 61.0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_thing_that_is_not_as_it_should_be_is_a_problem(change: dict[str, object]) -> None:
    report = dataclasses.replace(GOOD, problems=[], **change)  # type: ignore[arg-type]
    report.judge()
    assert len(report.problems) == 1
