"""A person takes a browser over by the command line, on the real parts."""

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.notes import Notes
from tests.e2e.stack import OWNER, Stack
from tests.e2e.test_rest import Program
from tests.e2e.test_view import DESK
from tests.gateway.browsing import person, running_chromium
from tests.waiting import until
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
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.names import Activities
from user_handoff.contract.session import Scope
from user_handoff.contract.takeover import TakeoverEnd


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
async def browser_id(stack: Stack) -> AsyncIterator[str]:
    async with opened(stack, f"{stack.portal.url}/login") as browser_id:
        yield browser_id


@contextlib.asynccontextmanager
async def opened(stack: Stack, url: str) -> AsyncIterator[str]:
    """A browser of an agent's."""
    browser_id = new_id("b")
    spec = OpenBrowser(browser_id=browser_id, session_id="s_test", owner=OWNER, url=url)
    await stack.ask(Activities.OPEN_BROWSER, spec, BrowserInfo)
    yield browser_id
    await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))


@contextlib.asynccontextmanager
async def operator(stack: Stack, chromium: Browser) -> AsyncIterator[Page]:
    """Somebody who operates, where they take browsers over."""
    access = Access(stack.handoffs)
    key = await access.create_key("operator:quill", [Scope.HANDOFFS_OPERATE])
    await access.aclose()
    async with person(chromium, f"{stack.server.facts()['gateway_url']}/", **DESK) as page:
        await page.locator("input[name=key]").fill(key)
        await page.locator("form button").first.click()
        await page.get_by_role("link", name="Take a browser over").click()
        yield page


async def take_control(page: Page) -> None:
    """In the live view of what was taken over."""
    view = page.locator("#view")
    await expect(view).to_have_attribute("data-state", "watching", timeout=30_000)
    await view.get_by_role("button", name="Take control").click()
    await expect(view).to_have_attribute("data-state", "control", timeout=30_000)


async def state_of(program: Program, path: str) -> str:
    """Where a takeover stands."""
    return str((await program.http.get(path)).json()["state"])


async def give_back(page: Page, note: str) -> None:
    """With a word."""
    await page.locator("input[name=note]").fill(note)
    await page.get_by_role("button", name="Give it back").click()
    await expect(page.get_by_role("heading")).to_have_text("The browser is the agent's again", timeout=30_000)


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


async def test_a_program_of_an_operators_takes_it_over_by_rest_renews_it_and_gives_it_back(
    stack: Stack, browser_id: str
) -> None:
    """B8, E1, E5: the same request is the same takeover; the agent is refused meanwhile, and told when it looks."""
    access = Access(stack.handoffs)
    keys = [await access.create_key(name, [Scope.HANDOFFS_OPERATE]) for name in ("operator:quill", "operator:other")]
    await access.aclose()
    async with Program(stack, keys[0]) as quill, Program(stack, keys[1]) as other:
        body = {"browser_id": browser_id, "why": "the wrong account"}
        begun = await quill.post("/v1/takeovers", body, "mine")
        assert await quill.post("/v1/takeovers", body, "mine") == begun
        assert await other.code("/v1/takeovers", body) == "takeover_active"
        one = f"/v1/takeovers/{begun['takeover_id']}"
        assert begun["url"] == f"{quill.base_url}/takeovers/{begun['takeover_id'].removeprefix('takeover/')}"
        renewed = await quill.post(f"{one}/renew")
        assert (renewed["ttl_seconds"], renewed["expires_in_seconds"] < 600) == (30, True)
        assert [await other.code(f"{one}/{what}", {}) for what in ("renew", "return")] == ["unknown_takeover"] * 2
        info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
        assert (info.state, info.held_by and info.held_by.role) == ("held", "operator")
        given = await quill.post(f"{one}/return", {"note": "signed in"}, "back")
        assert given["how"] == "returned"
        assert await quill.code(f"{one}/renew", {}) == "lease_lost"
        assert await quill.post("/v1/takeovers", body, "mine") == begun
        await until(lambda: state_of(quill, one), wanted=lambda state: state == "recovering")
        told = (await look(stack, browser_id)).resumed
        assert told is not None
        assert (told.role, told.why, told.note) == ("operator", "the wrong account", "signed in")
        assert "quill" not in told.model_dump_json()
        summary = (await quill.http.get(one)).json()
        assert (summary["how"], summary["by"]) == ("returned", "operator:quill")


async def test_an_operator_takes_it_over_on_a_page_acts_in_the_view_and_gives_it_back(
    stack: Stack, chromium: Browser, browser_id: str
) -> None:
    """B8, E3: on a virtual desktop, elsewhere; what they type arrives, and the agent is told a role and no name."""
    async with operator(stack, chromium) as page:
        form = page.locator("form").last
        await form.locator("input[name=browser_id]").fill(browser_id)
        await form.locator("input[name=why]").fill("the wrong account")
        await form.get_by_role("button", name="Take over").click()
        await take_control(page)
        info = await stack.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)
        assert info.held_by is not None and info.held_by.role == "operator"
        for _ in range(8):  # to whichever field is the next
            await page.keyboard.press("Tab")
            await page.keyboard.type("q")
        await until(lambda: look(stack, browser_id), 30, wanted=lambda seen: "[value withheld]" in seen.text)
        await give_back(page, "done")
    seen = await look(stack, browser_id)
    assert seen.resumed is not None
    assert (seen.resumed.role, seen.resumed.note) == ("operator", "done")
    assert "quill" not in seen.model_dump_json()


async def test_an_operator_ends_the_lock_of_their_input_by_one_click_and_types(stack: Stack, chromium: Browser) -> None:
    """C7, E3: what they type meanwhile is dropped, and what they type afterwards is in the held browser."""
    async with operator(stack, chromium) as page, Notes().serving() as notes, opened(stack, notes.url) as browser_id:
        form = page.locator("form", has=page.locator(f"input[value={browser_id}]"))
        async with asyncio.timeout(15):  # listed within about two seconds, of which a busy machine makes more
            while not await form.count():
                await page.reload()
        await form.get_by_role("button", name="Take over").click()
        await take_control(page)
        canvas = page.locator("#view canvas")
        await canvas.click()
        await until(lambda: "mouseup 0" in notes.keys)
        lock = LockUi(browser_id=browser_id, owner=OWNER, seconds=60)
        await stack.ask(Activities.LOCK_UI, lock, UiLocked)
        override = page.get_by_role("button", name="Let me type")
        await expect(override).to_be_visible()
        await page.keyboard.type("lost")
        await override.click()
        await expect(override).to_be_hidden()
        await page.keyboard.type("Hi, ada")
        await until(lambda: notes.text.strip("\n") == "Hi, ada")
        await give_back(page, "done")
        assert (await look(stack, browser_id)).resumed is not None
