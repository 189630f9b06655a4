"""How a browser and its host start, end, and survive the runner."""

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Playwright

from tests.desktop.host.conftest import Desk, MakeSpec, Site, TestDisplay, connect
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.host.control import HostControl
from user_handoff.desktop.host.host import dropping_what_fails
from user_handoff.desktop.host.launch import HostRecord, HostSpec, find_hosts, launch_host

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@contextlib.asynccontextmanager
async def running(spec: HostSpec) -> AsyncIterator[tuple[HostRecord, HostControl]]:
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    try:
        yield record, control
    finally:
        await control.close_browser()
        await control.aclose()
        await until(lambda: not record.host.alive())


async def test_a_browser_is_found_by_its_folder_and_leaves_no_trace_when_closed(
    make_spec: MakeSpec, tmp_path: Path
) -> None:
    """F10, A15."""
    spec = make_spec(tmp_path / "b_found")
    async with running(spec) as (record, control):
        assert find_hosts(tmp_path) == [record]
        status = await control.status()
        assert (status.browser_id, status.host, status.browser) == ("b_found", record.host, record.browser)
        assert 0 < status.lifetime_seconds_left <= spec.lifetime_seconds
    assert find_hosts(tmp_path) == []
    assert not record.browser.alive()
    assert not spec.socket.exists()
    assert not (spec.folder / "host.json").exists()


async def test_everything_of_a_browser_is_private(desk: Desk) -> None:
    """K05, B7."""
    for folder in (desk.spec.folder, desk.spec.profile, desk.spec.downloads, desk.spec.artifacts):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in (desk.spec.socket, desk.spec.folder / "host.json", desk.spec.folder / "host.log"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_no_page_is_named_in_the_log_of_the_host(desk: Desk) -> None:
    """B7, K42."""
    await desk.page.goto(f"{desk.site.url}/canary?code=canary")
    await desk.page.evaluate("console.error('canary')")
    assert "canary" not in (desk.spec.folder / "host.log").read_text()


async def test_the_window_has_the_class_and_the_size_that_were_asked_for(desk: Desk) -> None:
    [window] = desk.display.person("search", "--onlyvisible", "--class", f"^{desk.spec.window_class}$").split()
    assert window
    assert await desk.page.evaluate("[outerWidth, outerHeight]") == [desk.spec.width, desk.spec.height]


async def test_a_profile_is_opened_once(desk: Desk) -> None:
    """K71."""
    with pytest.raises(SetupError) as refused:
        await launch_host(desk.spec)
    assert refused.value.code is ErrorCode.PROFILE_IN_USE
    assert desk.record.alive()
    assert await desk.page.evaluate("1") == 1


async def test_a_profile_that_a_browser_without_a_host_has_open_is_refused(make_spec: MakeSpec, tmp_path: Path) -> None:
    """K71."""
    spec = make_spec(tmp_path / "b_other")
    code = "import time; time.sleep(60)"
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", code, f"--user-data-dir={spec.profile}")
    with pytest.raises(SetupError, match=str(other.pid)) as refused:
        await launch_host(spec)
    assert refused.value.code is ErrorCode.PROFILE_IN_USE
    other.kill()
    await other.wait()


async def test_a_lock_that_a_crash_left_under_another_host_name_is_removed(make_spec: MakeSpec, tmp_path: Path) -> None:
    """K71."""
    spec = make_spec(tmp_path / "b_stale")
    spec.profile.mkdir(parents=True)
    (spec.profile / "SingletonLock").symlink_to("another-machine-4711")
    async with running(spec) as (record, _):
        assert record.alive()


@pytest.mark.parametrize("how", ["closed by the runner", "host terminated"])
async def test_a_login_is_kept_when_the_browser_is_closed_at_once(
    make_spec: MakeSpec, playwright: Playwright, site: Site, tmp_path: Path, how: str
) -> None:
    """K45."""
    spec = make_spec(tmp_path / "b_login")
    async with running(spec) as (record, _):
        browser = await connect(playwright, record, spec.folder)
        await browser.contexts[0].pages[0].goto(f"{site.url}/login")
        if how == "host terminated":
            os.kill(record.host.pid, signal.SIGTERM)
    async with running(spec) as (record, _):
        browser = await connect(playwright, record, spec.folder)
        assert [cookie["name"] for cookie in await browser.contexts[0].cookies(site.url)] == ["login"]


async def test_a_killed_host_takes_its_browser_with_it(make_spec: MakeSpec, tmp_path: Path) -> None:
    """No orphan: host dead means browser dead."""
    spec = make_spec(tmp_path / "b_killed")
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    family = psutil.Process(record.browser.pid).children(recursive=True)
    os.kill(record.host.pid, signal.SIGKILL)
    await until(lambda: not record.browser.alive())
    await until(lambda: not any(_runs(process) for process in family))
    await asyncio.wait_for(control.closed.wait(), 10)
    await control.aclose()
    assert find_hosts(tmp_path) == []
    async with running(spec):
        pass  # nothing of it is in the way


async def test_a_killed_browser_ends_its_host(make_spec: MakeSpec, playwright: Playwright, tmp_path: Path) -> None:
    """K32, K71: and the lock that it leaves, of this very machine, locks nobody out."""
    spec = make_spec(tmp_path / "b_crash")
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    browser = await connect(playwright, record, spec.folder)
    gone = asyncio.Event()
    browser.on("disconnected", lambda browser: gone.set())
    os.kill(record.browser.pid, signal.SIGKILL)
    await asyncio.wait_for(control.closed.wait(), 10)
    await asyncio.wait_for(gone.wait(), 10)
    await until(lambda: not record.host.alive())
    assert not (spec.folder / "host.json").exists()
    await control.aclose()
    assert (spec.profile / "SingletonLock").is_symlink()
    async with running(spec) as (again, _):
        assert again.alive()


async def test_the_last_window_closed_by_a_person_ends_the_browser(
    make_spec: MakeSpec, display: TestDisplay, tmp_path: Path
) -> None:
    """K33: nothing opens in its place."""
    spec = make_spec(tmp_path / "b_window")
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    await control.hold("h", 1)
    window = display.person("search", "--sync", "--onlyvisible", "--class", f"^{spec.window_class}$").split()[0]
    display.person("windowactivate", "--sync", window, "key", "ctrl+shift+w")
    await asyncio.wait_for(control.closed.wait(), 5)
    await until(lambda: not record.host.alive())
    assert find_hosts(tmp_path) == []
    await control.aclose()


async def test_the_host_closes_the_browser_at_the_end_of_its_lifetime(make_spec: MakeSpec, tmp_path: Path) -> None:
    """A15."""
    spec = make_spec(tmp_path / "b_lifetime", lifetime_seconds=1.5)
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    await control.hold("h", 1)
    await asyncio.wait_for(control.closed.wait(), 5)
    await until(lambda: not record.host.alive() and not record.browser.alive())
    await control.aclose()


_SUPERVISOR = """
import asyncio, sys
from pathlib import Path
from playwright.async_api import async_playwright
from user_handoff.desktop.host.control import HostControl, cdp_endpoint

async def main():
    socket = Path(sys.argv[1])
    control = await HostControl.connect(socket)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(cdp_endpoint(socket), no_defaults=True, is_local=True)
        page = browser.contexts[0].pages[0]
        await page.fill("input", "typed by the first")
        await control.set_slot({"handoff": "h"})
        if sys.argv[2] == "held":
            await control.hold("h", 2)
            print("now", flush=True)
        else:
            await page.mouse.down()
            print("now", flush=True)
            await page.goto(sys.argv[3] + "/slow")
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("when", ["held", "acting"])
async def test_a_killed_supervisor_leaves_browser_values_hold_and_slot_for_the_next(
    held: Desk, playwright: Playwright, when: str
) -> None:
    """F10, F3."""
    await held.show("<input>")
    held.site.gate.clear()
    first = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _SUPERVISOR, str(held.record.socket), when, held.site.url),
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert first.stdout is not None
    await asyncio.wait_for(first.stdout.readline(), 20)
    if when == "acting":
        await until(lambda: "/slow" in held.site.asked)
    os.killpg(first.pid, signal.SIGKILL)
    await first.wait()

    status = await held.control.status()
    assert status.hold_id == ("h" if when == "held" else None)
    assert status.slot == {"handoff": "h"}
    assert status.browser == held.record.browser
    await until(lambda: _at_rest(held))  # nothing of the dead one is waited for
    await held.control.hold("h", 1)
    held.site.gate.set()
    second = await connect(playwright, held.record, held.spec.folder)
    if when == "held":
        assert await second.contexts[0].pages[0].input_value("input") == "typed by the first"
    await second.close()
    assert held.record.browser.alive()


async def test_a_slot_is_at_most_64_kilobytes(desk: Desk) -> None:
    with pytest.raises(Exception, match="64 KB"):
        await desk.control.set_slot({"text": "x" * 65536})


async def _at_rest(desk: Desk) -> bool:
    return (await desk.control.status()).in_flight == 0


def _runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def test_a_message_that_cannot_be_handled_costs_nobody_the_browser() -> None:
    """E2: it is dropped, and what comes after it is handled."""
    handled: list[bytes] = []

    def handle(raw: bytes) -> None:
        handled.append(raw)
        raise KeyError(raw)

    receive = dropping_what_fails(handle)
    receive(b"{}")
    receive(b"[]")
    assert handled == [b"{}", b"[]"]
