"""The verbs of the desktop in memory, one by one."""

import hashlib
from collections.abc import Awaitable
from pathlib import Path

import pytest

from tests.testing.conftest import DETAILS, INVOICES, OPEN
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import handoff as h
from user_handoff.contract.conditions import Probe, Url
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import Association
from user_handoff.contract.verbs import DesktopVerbs
from user_handoff.testing import ScriptedPerson
from user_handoff.testing.memory import MemoryDesktop
from user_handoff.testing.pages import Site


@pytest.fixture
async def desktop(tmp_path: Path) -> MemoryDesktop:
    made = MemoryDesktop(Site([INVOICES, OPEN, DETAILS]), tmp_path, ScriptedPerson, lambda hold: None, [])
    await made.open_browser(b.OpenBrowser(browser_id="b1", session_id="s1", owner="me", url=OPEN.url))
    return made


def hold_of(message_id: str = "m1", owner: str = "me") -> h.BeginHold:
    name = Association("b1", "s1", message_id).handoff_id
    return h.BeginHold(
        handoff_id=name, browser_id="b1", session_id="s1", message_id=message_id, owner=owner, timeout_seconds=600
    )


def named(receipt: h.BeginReceipt, fence: str | None = None) -> h.HoldRequest:
    return h.HoldRequest(handoff_id=receipt.handoff_id, browser_id="b1", handoff_fence=fence or receipt.handoff_fence)


async def refused(doing: Awaitable[object]) -> ErrorCode:
    with pytest.raises(HandoffError) as caught:
        await doing
    return caught.value.code


async def element(desktop: DesktopVerbs, page_id: str | None = None) -> str:
    page = await desktop.snapshot(b.SnapshotRequest(browser_id="b1", page_id=page_id))
    return page.elements()[0].element_id


async def test_an_effect_is_done_once_and_returns_its_receipt_again(desktop: MemoryDesktop) -> None:
    """A17."""
    click = b.Click(browser_id="b1", effect_id="e1", element_id=await element(desktop))
    first = await desktop.act(click)
    assert await desktop.act(click) == first
    (page,) = (await desktop.info(b.BrowserRequest(browser_id="b1"))).pages
    assert page.url == DETAILS.url


async def test_another_effect_under_the_same_id_is_refused(desktop: MemoryDesktop) -> None:
    """K24."""
    press = b.Press(browser_id="b1", effect_id="e1", key="Enter")
    await desktop.act(press)
    assert await refused(desktop.act(press.model_copy(update={"key": "Tab"}))) is ErrorCode.ID_REUSED


async def test_an_id_of_an_older_look_is_dead(desktop: MemoryDesktop) -> None:
    """A13."""
    old = await element(desktop)
    assert old != await element(desktop)
    assert await refused(desktop.act(b.Click(browser_id="b1", effect_id="e1", element_id=old))) is (
        ErrorCode.STALE_ELEMENT
    )


async def test_every_page_wants_its_own_look_after_a_handoff(desktop: MemoryDesktop) -> None:
    """A12, A16: the first look gives the browser back, the others their own page alone."""
    await desktop.act(b.Navigate(browser_id="b1", effect_id="e1", url=DETAILS.url))
    receipt = await desktop.begin(hold_of())
    assert await refused(desktop.act(b.Back(browser_id="b1", effect_id="e2"))) is ErrorCode.BROWSER_HELD
    await desktop.finish(named(receipt))
    assert await refused(desktop.act(b.Back(browser_id="b1", effect_id="e2"))) is ErrorCode.BROWSER_HELD
    await element(desktop)
    assert (await desktop.guard(named(receipt))).how == "recovered"
    assert (await desktop.act(b.Back(browser_id="b1", effect_id="e2"))).outcome is b.EffectOutcome.COMPLETED


async def test_a_page_that_was_not_looked_at_is_refused(tmp_path: Path) -> None:
    """A12."""
    desktop = MemoryDesktop(Site([INVOICES, OPEN, DETAILS]), tmp_path, ScriptedPerson, lambda hold: None, [])
    await desktop.open_browser(b.OpenBrowser(browser_id="b1", session_id="s1", owner="me", url=OPEN.url))
    browser = desktop.browsers["b1"]
    browser.open_tab(DETAILS)
    await desktop.finish(named(await desktop.begin(hold_of())))
    await element(desktop, "p2")
    first = b.Back(browser_id="b1", page_id="p1", effect_id="e1")
    assert await refused(desktop.act(first)) is ErrorCode.SNAPSHOT_REQUIRED


async def test_a_look_during_a_hold_resumes_nothing(desktop: MemoryDesktop) -> None:
    """A9."""
    await desktop.begin(hold_of())
    await element(desktop)
    assert (await desktop.info(b.BrowserRequest(browser_id="b1"))).state == "held"


async def test_a_hold_is_begun_once_and_taken_back_by_its_exact_fence(desktop: MemoryDesktop) -> None:
    """A7, A12, A18."""
    receipt = await desktop.begin(hold_of())
    assert await desktop.begin(hold_of()) == receipt
    assert await refused(desktop.begin(hold_of("m2"))) is ErrorCode.HANDOFF_ACTIVE
    assert await refused(desktop.finish(named(receipt, "another"))) is ErrorCode.FENCE_MISMATCH
    finished = await desktop.finish(named(receipt))
    assert await desktop.finish(named(receipt)) == finished
    await element(desktop)
    assert await refused(desktop.begin(hold_of())) is ErrorCode.ASSOCIATION_USED
    assert await refused(desktop.begin(hold_of("m3", "somebody"))) is ErrorCode.NOT_OWNER


async def test_to_close_a_held_browser_ends_its_hold(desktop: MemoryDesktop) -> None:
    receipt = await desktop.begin(hold_of())
    await desktop.close(named(receipt))
    assert (await desktop.guard(named(receipt))).how == "closed"
    assert await refused(desktop.snapshot(b.SnapshotRequest(browser_id="b1"))) is ErrorCode.BROWSER_GONE
    assert await refused(desktop.snapshot(b.SnapshotRequest(browser_id="b2"))) is ErrorCode.UNKNOWN_BROWSER


async def test_a_page_behind_a_wall_redirects_a_probe(desktop: MemoryDesktop) -> None:
    async def status(url: str) -> tuple[str, ...]:
        check = h.CheckCondition(browser_id="b1", condition=Probe(url=url), timeout_seconds=1)
        return (await desktop.check(check)).facts

    assert await status(INVOICES.url) == ("probe 302",)
    assert await status(DETAILS.url) == ("probe 200",)
    assert await status("https://portal.example/nowhere") == ("probe 404",)
    met = await desktop.check(h.CheckCondition(browser_id="b1", condition=Url("**/open"), timeout_seconds=1))
    assert met.met


async def test_a_snapshot_is_bounded_and_quotes_names(desktop: MemoryDesktop) -> None:
    await desktop.act(b.Navigate(browser_id="b1", effect_id="e1", url=DETAILS.url))
    page = await desktop.snapshot(b.SnapshotRequest(browser_id="b1"))
    assert page.find(role="heading", name='The "details"') and not page.truncated


async def test_a_download_is_a_file(desktop: MemoryDesktop) -> None:
    await desktop.open_browser(b.OpenBrowser(browser_id="b2", session_id="s1", owner="me", url=INVOICES.url))
    receipt = await desktop.begin(hold_of().model_copy(update={"browser_id": "b2"}))
    desktop.browsers["b2"].pass_walls()
    await desktop.finish(named(receipt).model_copy(update={"browser_id": "b2"}))
    page = await desktop.snapshot(b.SnapshotRequest(browser_id="b2"))
    export = page.find(role="button", name="Export")
    file = await desktop.download(b.Download(browser_id="b2", effect_id="e1", element_id=export))
    content = Path(file.path).read_bytes()  # noqa: ASYNC240
    assert content == b"number\n1\n2\n" and hashlib.sha256(content).hexdigest() == file.sha256
    nothing = b.Download(browser_id="b2", effect_id="e2", element_id=page.find(role="button", name="Details"))
    assert await refused(desktop.download(nothing)) is ErrorCode.ACTION_FAILED


async def test_the_clipboard_is_kept_and_each_look_serves_one_effect(desktop: MemoryDesktop) -> None:
    """A13."""

    async def effect(effect_id: str, action: c.ComputerAction) -> c.ComputerReceipt:
        look = await desktop.observe_computer(c.ObserveComputer())
        return await desktop.computer(c.ComputerEffect(effect_id=effect_id, generation=look.generation, action=action))

    await effect("e1", c.SetClipboard(text="kept"))
    assert (await effect("e2", c.GetClipboard())).text == "kept"
    await effect("e3", c.ClearClipboard())
    assert (await effect("e4", c.GetClipboard())).text == ""
    spent = (await desktop.observe_computer(c.ObserveComputer())).generation
    await desktop.computer(c.ComputerEffect(effect_id="e5", generation=spent, action=c.ClickAt(x=1, y=1)))
    again = c.ComputerEffect(effect_id="e6", generation=spent, action=c.ClickAt(x=1, y=1))
    assert await refused(desktop.computer(again)) is ErrorCode.STALE_GENERATION


async def test_the_window_of_a_held_browser_has_no_title_and_no_picture_is_taken(desktop: MemoryDesktop) -> None:
    """A10."""
    await desktop.begin(hold_of())
    (window,) = (await desktop.observe_computer(c.ObserveComputer())).windows
    assert window.title_withheld and window.title == ""
    assert await refused(desktop.observe_computer(c.ObserveComputer(screenshot=True))) is ErrorCode.DESKTOP_HELD


async def test_it_is_closed_under_a_person_unless_the_request_says_otherwise(desktop: MemoryDesktop) -> None:
    """A9: and after they have given it back in any case."""
    unless_held = b.CloseBrowser(browser_id="b1", unless_held=True)
    receipt = await desktop.begin(hold_of())
    assert await refused(desktop.close_browser(unless_held)) is ErrorCode.BROWSER_HELD
    await desktop.finish(named(receipt))
    await desktop.close_browser(unless_held)
    assert await refused(desktop.info(unless_held)) is ErrorCode.BROWSER_GONE
