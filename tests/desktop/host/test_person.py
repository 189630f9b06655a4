"""A person at the real window during a hold: native dialogs, downloads and popups are theirs."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest
from playwright.async_api import Dialog, Download, FileChooser, Page

from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import raw_client
from tests.waiting import until


async def test_the_ok_of_a_person_on_a_confirm_is_true_for_the_page(held: Desk) -> None:
    """K70. The runner's Playwright has no listener, and would dismiss it."""
    page = await held.show("<button onclick='answer = confirm(\"Consent?\")'>Ask</button>")
    dialogs = asyncio.Event()
    session = await held.context.new_cdp_session(page)
    await session.send("Page.enable")
    session.on("Page.javascriptDialogOpening", lambda event: dialogs.set())
    await held.control.hold("h", 2)
    before = (await held.control.status()).refused
    await held.person_clicks(page, "button")
    await asyncio.wait_for(dialogs.wait(), 30)
    await until(lambda: _refused(held, before))  # what Playwright tried
    await _press_until_answered(held, page)
    assert await page.evaluate("answer") is True


async def test_a_hold_begins_while_a_dialog_waits_for_a_person(held: Desk) -> None:
    """The agent's click opened it: that click has done its work, and only a person can answer."""
    page = await held.show("<button onclick='answer = confirm(\"Consent?\")'>Ask</button>")

    def leave(dialog: Dialog) -> None:
        """No answer: it is the person's."""

    page.on("dialog", leave)
    clicking = asyncio.create_task(page.click("button"))
    session = await held.browser.new_browser_cdp_session()
    await page.wait_for_event("dialog")
    await held.control.hold("h", 0.5)
    await _press_until_answered(held, page)
    assert await page.evaluate("answer") is True
    await asyncio.wait([clicking])
    page.remove_listener("dialog", leave)
    await session.detach()


async def test_the_file_chooser_of_a_person_is_the_native_one(held: Desk) -> None:
    """A listener of the agent would hide it; it has it again after the release."""
    page = await held.show("<input type=file>")
    choosers: list[FileChooser] = []
    listen = lambda chooser: choosers.append(chooser)  # noqa: E731
    page.on("filechooser", listen)
    await held.control.hold("h", 2)
    await held.person_clicks(page, "input")
    await until(lambda: bool(_choosers(held)))
    await until(lambda: _dismissed(held))
    assert not choosers
    await held.control.release("h")
    await page.click("input")
    await until(lambda: bool(choosers))
    page.remove_listener("filechooser", listen)


async def test_a_download_of_a_person_is_kept_and_can_be_saved(held: Desk, tmp_path: Path) -> None:
    held.site.pages["/file"] = "a,b\n1,2\n"
    page = await held.show("<a href=/file>Export</a>")
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))
    await held.control.hold("h", 2)
    await held.person_clicks(page, "a")
    await until(lambda: bool(downloads))
    assert downloads[0].suggested_filename == "report.csv"
    await downloads[0].save_as(tmp_path / "saved.csv")
    assert (tmp_path / "saved.csv").read_text() == "a,b\n1,2\n"
    await downloads[0].delete()  # as Playwright does when it goes: the host keeps its own
    assert _contents(held.spec.downloads) == ["a,b\n1,2\n"]


async def test_a_client_gets_a_download_where_it_asked_for_it(desk: Desk, tmp_path: Path) -> None:
    desk.site.pages["/file"] = "c\n"
    page = await desk.show("<a href=/file>Export</a>")
    async with raw_client(desk.record.socket) as client:
        await client.call(
            "Browser.setDownloadBehavior", behavior="allowAndName", downloadPath=str(tmp_path), eventsEnabled=True
        )
        async with page.expect_download() as expected:
            await page.click("a")
        assert await (await expected.value).failure() is None
        await until(lambda: _completed(client.events))
    assert _contents(tmp_path) == ["c\n"]


async def test_a_popup_of_a_person_is_a_page_like_any_other(held: Desk) -> None:
    """K31, K36, B3."""
    page = await held.show("<button onclick=\"window.open('/popup')\">Sign in</button>")
    await held.control.hold("h", 2)
    async with page.expect_popup() as expected:
        await held.person_clicks(page, "button")
    popup: Page = await expected.value
    await popup.wait_for_load_state()
    assert popup.url.endswith("/popup")
    assert popup in held.context.pages
    assert "/popup" in await popup.aria_snapshot(mode="ai")
    await held.control.release("h")
    await popup.close()


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it is ending at this moment
        return ""


async def test_a_popup_of_a_person_runs_although_the_supervisor_hangs(held: Desk) -> None:
    page = await held.show("<button onclick=\"window.open('/hung')\">Sign in</button>")
    await held.control.hold("h", 2)
    place = await held.find(page, "button")
    drivers = [child for child in psutil.Process().children() if "playwright" in _command(child)]
    for driver in drivers:
        driver.suspend()
    try:
        held.display.person("mousemove", *place, "click", "1")
        await until(lambda: "/hung" in held.site.asked)
    finally:
        for driver in drivers:
            driver.resume()
    await until(lambda: any(each.url.endswith("/hung") for each in held.context.pages))
    await held.control.release("h")
    await held.context.pages[-1].close()


async def test_a_paused_popup_is_let_go_when_the_hold_begins(held: Desk) -> None:
    page = await held.show("<button onclick=\"window.open('/early')\">Sign in</button>")
    async with raw_client(held.record.socket) as client:
        await client.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        async with page.expect_popup() as expected:
            await page.click("button")
        await held.control.hold("h", 2)
        popup: Page = await expected.value
        await popup.wait_for_load_state()
    await held.control.release("h")
    await popup.close()


def _contents(folder: Path) -> list[str]:
    return [file.read_text() for file in folder.iterdir()]


def _choosers(desk: Desk) -> list[str]:
    return desk.display.person("search", "--onlyvisible", "--name", "^Open File$").split()


def _dismissed(desk: Desk) -> bool:
    for chooser in _choosers(desk):
        desk.display.person("windowactivate", "--sync", chooser, "key", "Escape")
    return not _choosers(desk)


def _completed(events: list[dict[str, object]]) -> bool:
    return any('"completed"' in json.dumps(event) for event in events)


async def _refused(desk: Desk, before: int) -> bool:
    return (await desk.control.status()).refused > before


async def _press_until_answered(desk: Desk, page: Page) -> None:
    """Return may be pressed a moment too early for the dialog to take it."""

    async def answered() -> bool:
        desk.display.person("key", "Return")
        try:
            return await asyncio.wait_for(page.evaluate("'answer' in window && answer !== undefined"), 0.3)
        except TimeoutError:
            return False

    await until(answered)


@pytest.fixture(autouse=True)
def _no_stray_windows(desk: Desk) -> None:
    assert not _choosers(desk)
