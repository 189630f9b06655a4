"""Looking and acting, without a handoff."""

import asyncio
from pathlib import Path

import psutil
import pytest

from examples.portal import Portal
from tests.desktop.hands import refused as refusal_of
from tests.desktop.support import OWNER, Agent, code_of
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode, Gone, Refused, Stale
from user_handoff.contract.ids import new_id
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.view.control import not_held


def mode(path: str) -> int:
    """The permission bits of a file."""
    return Path(path).stat().st_mode & 0o777


async def test_the_wall_is_reported_on_the_snapshot_that_shows_it(agent: Agent) -> None:
    """B2."""
    page = await agent.look()
    assert page.boundary is not None
    assert page.boundary.rule_id == "sign-in-password"
    assert page.boundary.url.endswith("/login")


async def test_what_is_typed_in_a_field_is_not_in_the_snapshot(agent: Agent) -> None:
    """B7."""
    await agent.fill((await agent.look()).find(role="textbox", name="User name"), "robin-the-agent")
    page = await agent.look()
    assert "robin-the-agent" not in page.model_dump_json()
    assert "[value withheld]" in page.text


async def test_a_click_arrives_once(agent: Agent, portal: Portal) -> None:
    before = portal.state()["touches"]
    receipt = await agent.click((await agent.look()).find(role="button", name="Need help?"))
    assert receipt.outcome is b.EffectOutcome.COMPLETED
    await portal.wait_for(lambda state: state["touches"] == before + 1)


async def test_an_effect_of_the_same_id_is_not_done_again(agent: Agent, portal: Portal) -> None:
    """A17, K12."""
    before = portal.state()["touches"]
    button, effect_id = (await agent.look()).find(role="button", name="Need help?"), new_id("e")
    first = await agent.click(button, effect_id)
    again = await agent.click(button, effect_id)
    await agent.click(button)
    await portal.wait_for(lambda state: state["touches"] >= before + 2)
    assert again == first
    assert portal.state()["touches"] == before + 2


async def test_another_text_under_the_id_of_an_effect_is_refused_and_not_kept(agent: Agent) -> None:
    """A17, K24: the first receipt is not told as if it were of the second."""
    field = (await agent.look()).find(role="textbox", name="User name")
    fill = b.Fill(browser_id=agent.browser_id, effect_id=new_id("e"), element_id=field, text="robin-of-the-first")
    first = await agent.desktop.act(fill)
    with pytest.raises(Refused) as refused:
        await agent.desktop.act(fill.model_copy(update={"text": "robin-of-the-second"}))
    assert refused.value.code is ErrorCode.ID_REUSED
    assert await agent.desktop.act(fill.model_copy(update={"timeout_seconds": 3})) == first
    ledger = agent.desktop._effects._ledger
    assert (
        b"robin-of-the" not in ledger.path.read_bytes() + ledger.path.with_name(f"{ledger.path.name}-wal").read_bytes()
    )


async def test_an_id_of_an_earlier_snapshot_is_stale(agent: Agent) -> None:
    """A13, K35."""
    old = (await agent.look()).find(role="button", name="Need help?")
    await agent.look()
    assert await code_of(agent.click(old)) is ErrorCode.STALE_ELEMENT


async def test_an_id_from_before_a_navigation_is_stale(agent: Agent, portal: Portal) -> None:
    """A13, K34."""
    old = (await agent.look()).find(role="button", name="Need help?")
    await agent.go(f"{portal.url}/login")
    assert await code_of(agent.click(old)) is ErrorCode.STALE_ELEMENT


async def test_a_button_that_was_relabelled_is_not_clicked(agent: Agent, portal: Portal) -> None:
    """K37."""
    await agent.go(f"{portal.url}/relabel")
    before = portal.state()["touches"]
    page = await agent.look()
    await agent.click(page.find(role="button", name="Switch"))
    assert await code_of(agent.click(page.find(role="button", name="Cancel"))) is ErrorCode.STALE_ELEMENT
    assert portal.state()["touches"] == before


async def test_an_unknown_browser_is_named_so(desktop: Desktop) -> None:
    assert await code_of(desktop.info(b.BrowserRequest(browser_id="b_none"))) is ErrorCode.UNKNOWN_BROWSER


async def test_a_closed_browser_is_gone_at_every_call(desktop: Desktop) -> None:
    """K32."""
    agent = await Agent.open(desktop)
    await agent.close()
    assert await code_of(agent.look()) is ErrorCode.BROWSER_GONE
    assert await code_of(agent.info()) is ErrorCode.BROWSER_GONE
    await agent.close()


async def test_a_browser_id_is_never_used_again(desktop: Desktop) -> None:
    agent = await Agent.open(desktop)
    await agent.close()
    spec = b.OpenBrowser(browser_id=agent.browser_id, session_id="s_test", owner=OWNER)
    assert await code_of(desktop.open_browser(spec)) is ErrorCode.BROWSER_GONE


async def test_opening_the_same_browser_again_returns_it(agent: Agent, portal: Portal) -> None:
    """A17: how long its page may take to load is no part of what it is."""
    spec = b.OpenBrowser(
        browser_id=agent.browser_id,
        session_id="s_test",
        owner=OWNER,
        url=f"{portal.url}/invoices",
        navigation_timeout_seconds=5,
    )
    assert (await agent.desktop.open_browser(spec)).pid == (await agent.info()).pid
    other = spec.model_copy(update={"url": f"{portal.url}/login"})
    assert await code_of(agent.desktop.open_browser(other)) is ErrorCode.ID_REUSED


async def test_a_page_that_never_answers_ends_typed_and_leaves_the_browser(agent: Agent, portal: Portal) -> None:
    assert await code_of(agent.go(f"{portal.url}/silent", seconds=1)) is ErrorCode.NAVIGATION_FAILED
    await agent.go(f"{portal.url}/login")
    assert "Sign in" in (await agent.look()).text


async def test_a_page_that_never_answered_keeps_no_person_waiting(agent: Agent, portal: Portal) -> None:
    """A11: a navigation that was given up is no effect in flight, and does not happen later."""
    assert await code_of(agent.go(f"{portal.url}/silent", seconds=1)) is ErrorCode.NAVIGATION_FAILED
    await agent.begin(drain_seconds=0.5)
    assert (await agent.info()).state == "held"
    assert "Sign in" in (await agent.look()).text


async def test_a_browser_whose_first_page_fails_is_named(desktop: Desktop) -> None:
    """It stays open, and whoever asked by a key alone has no other way to know which one it is."""
    spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_test", owner=OWNER, url="http://127.0.0.1:9/")
    failed = await refusal_of(desktop.open_browser(spec))
    assert failed.code is ErrorCode.NAVIGATION_FAILED
    assert failed.details["browser_id"] == spec.browser_id
    await desktop.close_browser(b.BrowserRequest(browser_id=spec.browser_id))


async def test_a_file_cannot_be_opened(agent: Agent) -> None:
    assert await code_of(agent.go("file:///etc/hostname")) is ErrorCode.URL_REFUSED


async def test_a_closed_page_is_gone_and_the_others_stay(agent: Agent, portal: Portal) -> None:
    """K30."""
    await agent.go(f"{portal.url}/windows")
    page = await agent.look()
    await agent.click(page.find(role="link", name="Open a tab"))
    await until(lambda: len(agent.desktop.browsers.get(agent.browser_id).pages) == 2)
    tabs = (await agent.look()).pages
    assert len(tabs) == 2
    popup = next(tab for tab in tabs if tab.page_id != page.page.page_id)
    receipt = await agent.desktop.act(
        b.ClosePage(browser_id=agent.browser_id, page_id=popup.page_id, effect_id=new_id("e"))
    )
    assert receipt.outcome is b.EffectOutcome.COMPLETED
    assert await code_of(agent.look(popup.page_id)) is ErrorCode.PAGE_GONE
    assert (await agent.look()).page.page_id == page.page.page_id


async def test_a_download_stays_on_the_desktop(agent: Agent, portal: Portal) -> None:
    browser = agent.desktop.browsers.get(agent.browser_id)
    await browser.context.add_cookies([{"name": "sid", "value": portal.sign_in_cookie(), "url": portal.url}])
    await agent.go(f"{portal.url}/invoices")
    button = (await agent.look()).find(role="button", name="Export")
    receipt = await agent.desktop.download(
        b.Download(browser_id=agent.browser_id, effect_id=new_id("e"), element_id=button)
    )
    path = Path(receipt.path)
    content = await asyncio.to_thread(path.read_bytes)
    assert len(content) == receipt.bytes
    assert len(content.splitlines()) == 13
    assert mode(receipt.path) == 0o600


async def test_a_screenshot_is_a_private_file(agent: Agent) -> None:
    picture = await agent.desktop.screenshot(b.ScreenshotRequest(browser_id=agent.browser_id))
    assert mode(picture.path) == 0o600
    assert picture.width > 300


async def test_a_snapshot_over_the_bound_says_so_and_a_region_looks_closer(agent: Agent, portal: Portal) -> None:
    await agent.go(f"{portal.url}/big?n=4000")
    page = await agent.desktop.snapshot(b.SnapshotRequest(browser_id=agent.browser_id, max_bytes=2_000))
    assert page.truncated
    assert len(page.text.encode()) <= 2_000
    button = page.find(role="button", name="Button 1")
    closer = await agent.desktop.snapshot(b.SnapshotRequest(browser_id=agent.browser_id, region=button))
    assert closer.text.startswith('- button "Button 1"')


async def test_an_effect_without_its_element_is_refused_before_anything(agent: Agent) -> None:
    with pytest.raises(Stale):
        await agent.click("nonsense")


async def test_one_browser_more_than_the_limit_is_refused(desktop: Desktop) -> None:
    agents = []
    try:
        with pytest.raises(Refused) as refused:
            for _ in range(desktop.browsers.limits.browsers + 1):
                agents.append(await Agent.open(desktop))
        assert refused.value.code is ErrorCode.BROWSER_LIMIT
    finally:
        for agent in agents:
            await agent.close()


async def test_a_killed_chromium_is_gone_typed_twice_at_once(desktop: Desktop) -> None:
    """K32."""
    agent = await Agent.open(desktop)
    browser = desktop.browsers.get(agent.browser_id)
    psutil.Process((await agent.info()).pid).kill()
    await browser.control.closed.wait()
    for _ in range(2):
        with pytest.raises(Gone) as gone:
            await agent.look()
        assert gone.value.code is ErrorCode.BROWSER_GONE


async def test_a_hold_that_went_with_its_browser_is_told_as_the_browsers_end_also_before_its_pages_are(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K32: which of the two is seen first is chance."""
    agent = await Agent.open(desktop)
    browser = desktop.browsers.get(agent.browser_id)
    psutil.Process((await agent.info()).pid).kill()
    await browser.control.closed.wait()
    monkeypatch.setattr(ManagedPage, "gone", False)
    with pytest.raises(Gone) as gone:
        async with browser.telling():
            raise not_held()
    assert gone.value.code is ErrorCode.BROWSER_GONE


async def test_with_too_many_pages_an_agent_may_only_close_some(agent: Agent, portal: Portal) -> None:
    browser = agent.desktop.browsers.get(agent.browser_id)
    browser.max_pages = 1
    await agent.go(f"{portal.url}/windows")
    first = await agent.look()
    await agent.click(first.find(role="link", name="Open a tab"))
    await until(lambda: len(browser.pages) == 2)
    assert await code_of(agent.go(portal.url)) is ErrorCode.PAGE_LIMIT
    other = next(page for page in browser.pages if page.page_id != first.page.page_id)
    close = b.ClosePage(browser_id=agent.browser_id, page_id=other.page_id, effect_id=new_id("e"))
    assert (await agent.desktop.act(close)).outcome is b.EffectOutcome.COMPLETED
