"""What is in a page's fields is in no snapshot and no picture, whatever the page makes of it."""

import asyncio
import io
import operator
import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import Page

from examples.demo.leaks import search_text
from tests.desktop.hands import place
from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent
from tests.vault import Vault
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.boundary import ControlRule
from user_handoff.desktop.desktop import Desktop


@pytest.fixture(scope="module")
async def vault() -> AsyncIterator[Vault]:
    async with Vault().serving() as vault:
        yield vault


@pytest.fixture(scope="module")
async def agent(desktop: Desktop, vault: Vault) -> AsyncIterator[Agent]:
    """An agent before a page on which the password's name is a rule."""
    rule = ControlRule(rule_id="told", role="button", name="^Forget")
    agent = await Agent.open(desktop, f"{vault.url}/", rules=(rule,))
    yield agent
    await agent.close()


def page_of(agent: Agent) -> Page:
    return agent.desktop.browsers.get(agent.browser_id).pages[0].page


def found(vault: Vault, said: str) -> list[str]:
    planted = {name: (value,) for name, value in vault.planted.items()}
    return [leak.kind for leak in search_text(planted, "snapshot", said)]


async def test_no_value_of_any_field_is_in_a_snapshot(agent: Agent, vault: Vault) -> None:
    """B7, K40, K42: every type of field, frames, shadow, editors, the title, links, and what the page says again."""
    await agent.go(f"{vault.url}/")
    page = page_of(agent)
    await page.frame_locator("[title=Other]").get_by_label("Frame text").wait_for()
    raw = await page.aria_snapshot(mode="ai")
    assert len(found(vault, raw)) > 20, "what Playwright itself says is full of them"
    assert found(vault, (await agent.look()).model_dump_json()) == []
    assert found(vault, (await agent.info()).model_dump_json()) == []


async def test_a_password_that_is_made_visible_stays_withheld(agent: Agent, vault: Vault) -> None:
    """B7, K40."""
    await agent.go(f"{vault.url}/form")
    look = await agent.look()
    await agent.click(look.find(role="button", name="Show"))
    look = await agent.look()
    assert 'textbox "Shown"' in look.text
    assert found(vault, look.model_dump_json()) == []


async def test_what_was_sent_is_scrubbed_from_the_page_that_repeats_it(agent: Agent, vault: Vault) -> None:
    """B7: its text, its title, its labels, its links, and the boundary that quotes one."""
    await agent.go(f"{vault.url}/form")
    await page_of(agent).get_by_role("button", name="Send").click()
    look = await until(agent.look, wanted=lambda look: look.page.title, what="a busy page has told its title")
    assert "You sent [withheld] and [withheld]." in look.text
    assert look.boundary is not None and look.boundary.reason == 'button "Forget [withheld]"'
    assert look.page.title == "Code [withheld]"
    assert found(vault, look.model_dump_json()) == []


async def test_an_element_whose_name_is_withheld_can_still_be_used(agent: Agent, vault: Vault) -> None:
    await agent.go(f"{vault.url}/form")
    await page_of(agent).get_by_role("button", name="Send").click()
    look = await agent.look()
    receipt = await agent.click(look.find(role="link", name="Again"))
    assert receipt.outcome is b.EffectOutcome.COMPLETED
    assert receipt.page is not None and vault.planted["echoed_code"] not in receipt.page.url


@pytest.fixture
async def fresh(desktop: Desktop) -> AsyncIterator[Agent]:
    """A browser in which no pointer was moved: where it is changes how a page looks."""
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


async def pixels(agent: Agent) -> bytes:
    picture = await agent.desktop.screenshot(b.ScreenshotRequest(browser_id=agent.browser_id))
    image = Image.open(io.BytesIO(Path(picture.path).read_bytes()))  # noqa: ASYNC240
    return image.convert("RGB").tobytes()


NOISE = 2
"""The corner of a focus ring is not always drawn alike."""

BLUNT = """() => {
  document.querySelectorAll("h1, p:not([contenteditable] p), a, button").forEach(e => e.remove())
  document.activeElement.blur()
  document.head.insertAdjacentHTML("beforeend", "<style>* { font-family: monospace }</style>")
}"""
RAINBOW = """* {
  color: red !important; -webkit-text-fill-color: red !important; text-shadow: 1px 1px blue !important
}"""


@pytest.mark.parametrize("style", ["", RAINBOW])
async def test_a_picture_is_the_same_whatever_is_in_the_fields(fresh: Agent, vault: Vault, style: str) -> None:
    """B7, K40: also where the page insists on a colour of its own."""
    seen = set()
    for planted in (vault.planted, Vault().planted):
        other = Vault(planted, vault.url, vault.other)
        async with other.serving():
            await fresh.go(f"{other.url}/form")
            page = page_of(fresh)
            await page.frame_locator("[title=Other]").get_by_label("Frame text").wait_for()
            for frame in page.frames:
                await frame.evaluate(BLUNT)
            if style:
                await page.add_style_tag(content=style)
            seen.add(await pixels(fresh))
    assert len(seen) == 1


async def test_what_the_page_repeats_is_covered_in_a_picture(fresh: Agent, vault: Vault) -> None:
    """B7."""
    seen = set()
    for planted in (vault.planted, Vault().planted):
        async with Vault(planted).serving() as other:
            await fresh.go(f"{other.url}/form")
            page = page_of(fresh)
            await page.evaluate("document.forms[0].requestSubmit()")
            await page.get_by_role("heading", name="Welcome").wait_for()
            await page.evaluate("document.querySelector('p').style.width = '300px'")
            seen.add(await pixels(fresh))
    assert len(seen) == 1


async def test_before_any_look_no_title_says_what_is_in_the_fields(desktop: Desktop, vault: Vault) -> None:
    """B7: neither that of the page, nor that of its native window."""
    agent = await Agent.open(desktop, f"{vault.url}/form")
    try:
        assert (await agent.info()).pages[0].title == "Vault [withheld]"
        pid = desktop.browsers.pid_of(agent.browser_id)

        async def titles() -> list[str]:
            return [w.title for w in await windows(desktop) if w.pid == pid and w.title]

        assert (await until(titles))[0].startswith("Vault [withheld]")
    finally:
        await agent.close()


async def test_the_window_of_a_page_without_a_title_does_not_say_its_query(
    fresh: Agent, desktop: Desktop, vault: Vault
) -> None:
    """B7: Chromium titles it by the page's address then."""
    where = f"{vault.url}/untitled"
    await fresh.go(f"{where}?session={vault.planted['query']}#at={vault.planted['fragment']}")
    pid = desktop.browsers.pid_of(fresh.browser_id)

    async def titles() -> list[str]:
        return [w.title for w in await windows(desktop) if w.pid == pid and w.title.endswith("/untitled")]

    assert set(await until(titles)) == {where.removeprefix("http://")}


async def test_the_windows_of_a_browser_that_does_not_answer_have_no_title(fresh: Agent, desktop: Desktop) -> None:
    """Fail closed: a dialog is open, or its script is busy."""
    page = page_of(fresh)
    stuck = asyncio.ensure_future(page.evaluate("() => { const end = Date.now() + 4000; while (Date.now() < end); }"))
    pid = desktop.browsers.pid_of(fresh.browser_id)
    mine = [window for window in await windows(desktop) if window.pid == pid]
    assert mine and all(window.title == "" and window.title_withheld for window in mine)
    await stuck


async def windows(desktop: Desktop) -> tuple[c.WindowInfo, ...]:
    return (await desktop.observe_computer(c.ObserveComputer())).windows


UNSENT = """<style>body { margin: 0 } input { font-family: monospace; width: 500px; height: 40px }</style>
<form><label>Name <input id=n></label><label>Password <input type=password id=p></label></form>
<script>window.typed = () => n.value.length + p.value.length</script>"""


async def test_what_a_person_typed_and_did_not_send_is_in_no_look_and_no_picture_after_done(
    fresh: Agent, pages: Pages
) -> None:
    """K40, B7: by native input during the hold; the pictures of two different passwords are alike."""
    seen = []
    for name, password in (("robinname", "hunter-two"), ("sarahname", "canary-six")):
        await fresh.go(pages.put(UNSENT))
        page = page_of(fresh)
        receipt = await fresh.begin()
        fresh.desktop.holds._surfaces.raise_window(receipt.surface)
        await until(fresh.desktop.holds._surfaces.focused, wanted=partial(operator.eq, receipt.surface.window_id))
        at = await place(page, 300, 20)
        await by_hand(fresh, "mousemove", str(at["x"]), str(at["y"]), "click", "1")
        await page.wait_for_function("document.hasFocus() && document.activeElement === n")
        for words in (("type", "--delay", "20", name), ("key", "Tab"), ("type", "--delay", "20", password)):
            await by_hand(fresh, *words)
        await page.wait_for_function("length => typed() === length", arg=len(name) + len(password))
        during = await fresh.look()
        await fresh.finish(receipt)
        after = await fresh.look()
        assert after.text.count("[value withheld]") == 2
        for look in (during, after):
            assert name not in look.model_dump_json() and password not in look.model_dump_json()
        seen.append(await pixels(fresh))
    assert max(map(abs, map(operator.sub, *seen))) <= NOISE


async def by_hand(agent: Agent, *words: str) -> None:
    """The person at the desk."""
    env = {"PATH": os.environ["PATH"]} | agent.desktop.display.environment()
    hands = await asyncio.create_subprocess_exec("xdotool", *words, env=env)
    assert await hands.wait() == 0
