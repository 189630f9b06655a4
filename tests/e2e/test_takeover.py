"""A person takes a browser over by the command line, on the real parts."""

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import expect

from tests.e2e.stack import OWNER, Stack
from tests.gateway.browsing import person, running_chromium
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client.access import Access
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    EffectReceipt,
    Navigate,
    OpenBrowser,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import Scope
from user_handoff.contract.takeover import TakeoverEnd


@pytest.fixture
async def browser_id(stack: Stack) -> AsyncIterator[str]:
    browser_id = new_id("b")
    spec = OpenBrowser(browser_id=browser_id, session_id="s_test", owner=OWNER, url=f"{stack.portal.url}/login")
    await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)
    yield browser_id
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))


@contextlib.asynccontextmanager
async def command(stack: Stack, *arguments: str) -> AsyncIterator[Process]:
    """`handoff takeover` in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "user_handoff.cli.main", "takeover", *arguments, "--state", str(stack.state)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=embedded_environment(stack.engine.address),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def look(stack: Stack, browser_id: str) -> Snapshot:
    return await stack.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser_id), Snapshot)


async def says(process: Process, words: str) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(30):
        while line := (await process.stdout.readline()).decode():
            if words in line:
                return line
    raise AssertionError((await process.communicate())[1].decode())


async def test_taken_over_and_given_back_with_a_note(stack: Stack, browser_id: str) -> None:
    """B8, E1, E5, E9: one at a time; who looks on is told; and the agent is told when it looks."""
    async with command(stack, browser_id, "--why", "the wrong account") as taken:
        await says(taken, "You have the browser")
        async with command(stack, browser_id) as second:
            assert b"takeover_active" in (await second.communicate())[1]
            assert second.returncode == 3
        async with command(stack, "status", "--json") as status:
            (row,) = json.loads((await status.communicate())[0])
        assert (row["browser_id"], row["state"], row["why"]) == (browser_id, "held", "the wrong account")
        info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
        assert info.state == "held"
        out, err = await taken.communicate(b"signed in\n")
    assert (taken.returncode, err) == (0, b"")
    assert b"Returned after" in out
    seen = await look(stack, browser_id)
    assert seen.resumed is not None
    assert (seen.resumed.role, seen.resumed.why, seen.resumed.note) == ("desk", "the wrong account", "signed in")
    effect = Navigate(browser_id=browser_id, effect_id=new_id("e"), url=stack.portal.url)
    await stack.ask(Activities.NAVIGATE, effect, EffectReceipt)


async def test_interrupted_it_goes_back_without_a_word(stack: Stack, browser_id: str) -> None:
    """E5: and the history says so."""
    async with command(stack, browser_id, "--json") as taken:
        await says(taken, '"takeover_id"')
        taken.send_signal(signal.SIGINT)
        await taken.communicate()
    assert taken.returncode == 130
    found = await TakeoverClient(stack.client).takeovers(browser_id=browser_id, ended=True)
    assert [summary.how for summary in found] == [TakeoverEnd.CANCELLED]
    assert (await look(stack, browser_id)).resumed is not None


async def test_an_operator_takes_it_over_on_a_page_acts_in_the_view_and_gives_it_back(
    stack: Stack, browser_id: str
) -> None:
    """B8, E3: on a virtual desktop, elsewhere; what they type arrives, and the agent is told a role and no name."""
    access = Access(stack.handoffs)
    key = await access.create_key("operator:quill", [Scope.HANDOFFS_OPERATE])
    await access.aclose()
    gateway = str(stack.server.facts()["gateway_url"])
    async with running_chromium() as chromium, person(chromium, f"{gateway}/") as page:
        await page.locator("input[name=key]").fill(key)
        await page.locator("form button").first.click()
        await page.get_by_role("link", name="Take a browser over").click()
        form = page.locator("form").last
        await form.locator("input[name=browser_id]").fill(browser_id)
        await form.locator("input[name=why]").fill("the wrong account")
        await form.get_by_role("button", name="Take over").click()
        view = page.locator("#view")
        await expect(view).to_have_attribute("data-state", "watching", timeout=20_000)
        await view.get_by_role("button", name="Take control").click()
        await expect(view).to_have_attribute("data-state", "control", timeout=10_000)
        info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
        assert info.held_by is not None and info.held_by.role == "operator"
        for _ in range(8):  # to whichever field is the next
            await page.keyboard.press("Tab")
            await page.keyboard.type("q")
        while "[value withheld]" not in (await look(stack, browser_id)).text:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await page.locator("input[name=note]").fill("done")
        await page.get_by_role("button", name="Give it back").click()
        await expect(page.get_by_role("heading")).to_have_text("The browser is the agent's again", timeout=20_000)
    seen = await look(stack, browser_id)
    assert seen.resumed is not None
    assert (seen.resumed.role, seen.resumed.note) == ("operator", "done")
    assert "quill" not in seen.model_dump_json()
