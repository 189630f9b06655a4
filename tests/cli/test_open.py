"""`handoff open`, with a real browser."""

import asyncio
import signal
from pathlib import Path

import httpx
import psutil
import pytest

from tests.cli.conftest import Call, Handoff
from tests.gateway.world import World, open_site
from user_handoff.cli import opening
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host.launch import chromium_path

BROWSER = """#!/bin/sh
printf '%s' "$1" > {folder}/argument
echo $$ > {folder}/pid
exec {chromium} --headless=new --no-sandbox --user-data-dir={folder}/profile --no-first-run "$1" >/dev/null 2>&1
"""


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A default browser: Chromium, and what it was started with."""
    folder = tmp_path / "browser"
    folder.mkdir()
    program = folder / "browser"
    program.write_text(BROWSER.format(folder=folder, chromium=chromium_path()))
    program.chmod(0o755)
    return program


def files_left(environment: dict[str, str]) -> list[Path]:
    return list(Path(environment["HANDOFF_STATE"]).glob("*.html"))


async def test_the_page_is_entered_in_the_browser_and_the_link_is_in_no_command_line(
    world: World, environment: dict[str, str], handoff: Handoff, browser: Path
) -> None:
    """C6, K41."""
    receipt = await world.held()
    env = environment | {"BROWSER": str(browser)}
    async with open_site(world) as site:
        try:
            done = await asyncio.to_thread(handoff, "open", receipt.handoff_id, "--public-url", site.base_url, env=env)
        finally:
            process = psutil.Process(int((browser.parent / "pid").read_text()))
            for each in [*process.children(recursive=True), process]:
                each.send_signal(signal.SIGKILL)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "Opened. The page has what is asked, and the buttons to answer.",
    )
    argument = (browser.parent / "argument").read_text()
    assert (
        argument.startswith(f"file://{environment['HANDOFF_STATE']}/open-")
        and "/j/" not in argument + done.stdout + done.stderr
    )
    assert files_left(environment) == []


async def test_a_browser_that_does_not_enter_is_told_and_leaves_no_file(
    world: World, call: Call, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = await world.held()
    monkeypatch.setattr(opening, "ENTERED_SECONDS", 0.5)
    environment["BROWSER"] = "true"

    done = await call("open", receipt.handoff_id)

    assert isinstance(done.exception, HandoffError) and done.exception.code is ErrorCode.OUTCOME_UNKNOWN
    assert "/j/" not in done.output + str(done.exception)
    assert files_left(environment) == []


async def test_where_no_browser_can_be_seen_it_is_refused_and_no_link_is_made(
    world: World, environment: dict[str, str], handoff: Handoff
) -> None:
    receipt = await world.held()

    done = await asyncio.to_thread(handoff, "open", receipt.handoff_id, env=environment)

    assert done.returncode == 1
    assert "[program_missing]" in done.stderr and "handoff link" in done.stderr
    assert (await world.client.summary(receipt.handoff_id)).link_hashes == ()


async def test_print_prints_the_link_alone(world: World, call: Call) -> None:
    receipt = await world.held()
    async with open_site(world) as site, httpx.AsyncClient(timeout=30) as http:
        said = (await call("open", receipt.handoff_id, "--print", "--public-url", site.base_url)).stdout
        page = await http.get(said.removesuffix("\n"))

    assert (page.status_code, said.count("\n")) == (200, 1)
