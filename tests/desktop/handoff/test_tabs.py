"""Tabs and popups that come and go while a person has the browser, by native input alone."""

import asyncio
import os

from playwright.async_api import Page

from examples.portal import Portal
from tests.desktop.hands import place
from tests.desktop.support import Agent, code_of
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.desktop.browser.pages import ManagedPage

REPLACES_ITSELF = "<h1>Sign in</h1><button onclick=\"window.open('{}'); window.close()\">Single sign-on</button>"


async def click(agent: Agent, page: Page, name: str) -> None:
    """The person clicks a button of a page, where it is on the screen."""
    box = await page.get_by_role("button", name=name, exact=True).bounding_box()
    assert box is not None
    at = await place(page, round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2))
    env = {"PATH": os.environ["PATH"]} | agent.desktop.display.environment()
    words = ("mousemove", str(at["x"]), str(at["y"]), "click", "1")
    pointer = await asyncio.create_subprocess_exec("xdotool", *words, env=env)
    assert await pointer.wait() == 0


async def test_a_single_sign_on_that_replaces_the_tab_is_found_again(agent: Agent, portal: Portal) -> None:
    """K30, B3: a new tab opens and the old one closes, both by the page; the agent goes on in the new one."""
    first = agent.desktop.browsers.get(agent.browser_id).page(None)
    async with first.page.expect_popup() as opening:  # a page may close only what a script opened
        await first.page.evaluate("void open('about:blank')")
    tab = await opening.value
    await tab.set_content(REPLACES_ITSELF.format(f"{portal.url}/windows"))
    close = b.ClosePage(browser_id=agent.browser_id, page_id=first.page_id, effect_id=new_id("e"))
    await agent.look(first.page_id)
    await agent.desktop.act(close)
    old = await agent.look()
    button = old.find(role="button", name="Single sign-on")
    before, receipt = await agent.info(), await agent.begin()
    await click(agent, tab, "Single sign-on")
    await until(tab.is_closed)
    assert await code_of(agent.look(old.page.page_id)) is ErrorCode.PAGE_GONE
    held = await agent.info()
    assert (held.state, held.pid) == ("held", before.pid)
    (found,) = (await agent.finish(receipt)).pages
    assert found.page_id != old.page.page_id and found.url == f"{portal.url}/windows"
    page = await agent.look(found.page_id)
    assert await code_of(agent.click(button, page_id=old.page.page_id)) is ErrorCode.PAGE_GONE
    assert await code_of(agent.click(button)) is ErrorCode.STALE_ELEMENT
    done = await agent.click(page.find(role="button", name="Open a popup"))
    assert done.outcome is b.EffectOutcome.COMPLETED


async def test_a_login_popup_is_there_while_it_is_open_and_gone_after(agent: Agent, portal: Portal) -> None:
    """K36, K31: opened by `window.open`, looked at, closed by itself at the person's last click; its opener goes on."""
    await agent.go(f"{portal.url}/windows")
    opener = (await agent.look()).page.page_id
    receipt = await agent.begin()
    await click(agent, agent.desktop.browsers.get(agent.browser_id).page(opener).page, "Open a popup")
    opened = await popup_of(agent, opener)
    popup = opened.page_id
    assert "Popup" in (await agent.look(popup)).text
    await click(agent, opened.page, "Close")
    await until(lambda: len(agent.desktop.browsers.get(agent.browser_id).pages) == 1)
    assert await code_of(agent.look(popup)) is ErrorCode.PAGE_GONE
    assert (await agent.info()).state == "held"
    assert [page.page_id for page in (await agent.finish(receipt)).pages] == [opener]
    assert "The popup is done" in (await agent.look(opener)).text


async def popup_of(agent: Agent, opener: str) -> ManagedPage:
    """The page that came to this one, once it is loaded."""
    browser = agent.desktop.browsers.get(agent.browser_id)
    await until(lambda: len(browser.pages) == 2)
    (page,) = (page for page in browser.pages if page.page_id != opener)
    await page.page.wait_for_load_state()
    return page
