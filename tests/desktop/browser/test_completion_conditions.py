"""Texts, answers, cookies and what is made of conditions, in a real browser; and pages that do not answer."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest
from pydantic import ValidationError

from tests.desktop.browser.test_conditions import check
from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract.conditions import (
    AllOf,
    AnyOf,
    Cookie,
    Element,
    Not,
    Probe,
    Response,
    Text,
    Url,
    leaves,
)
from user_handoff.desktop.desktop import Desktop

LATER = "<p id=p></p><script>function later(){document.getElementById('p').textContent='Welcome back'}</script>"


@pytest.fixture(scope="module")
async def watched(desktop: Desktop) -> AsyncIterator[Agent]:
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


def page_of(agent: Agent) -> Any:
    return agent.desktop.browsers.get(agent.browser_id).page(None).page


async def test_a_text_is_observed_where_a_person_sees_it(watched: Agent, pages: Pages) -> None:
    """B4: folded, in any case, and not where it is hidden."""
    await watched.go(pages.put("<p>Welcome\n  back</p><p style='display:none'>Signed out</p>"))
    assert (await check(watched, Text("welcome back"))).met
    assert not (await check(watched, Text("Signed out"))).met


async def test_a_cookie_is_observed_by_its_name_alone(watched: Agent, pages: Pages) -> None:
    """B4, B7: also one that no script can read; its value is in no fact."""
    await watched.go(pages.put("<h1>In</h1>", headers=("Set-Cookie: sid=planted-secret; HttpOnly",)))
    seen = await check(watched, Cookie(name="sid", domain="127.0.0.1"))
    assert seen.met
    assert "planted-secret" not in seen.model_dump_json()
    assert not (await check(watched, Cookie(name="sid", domain="other.example"))).met
    assert not (await check(watched, Cookie(name="pid"))).met


async def test_an_answer_is_observed_with_its_status(watched: Agent, pages: Pages) -> None:
    """B4: of a document or of a script's request, from when somebody wants to know."""
    pages.put("no", "/api/me", status=401)
    browser = watched.desktop.browsers.get(watched.browser_id)
    browser.responses.start(anew=True)
    await watched.go(pages.put("<script>fetch('/api/me?token=SECRET')</script>"))
    seen = await check(watched, Response(glob="**/api/me", statuses=(401,)), seconds=10)
    assert seen.met and "SECRET" not in seen.model_dump_json()
    assert not (await check(watched, Response(glob="**/api/me"))).met
    browser.responses.start(anew=True)
    assert not (await check(watched, Response(glob="**/api/me", statuses=(401,)))).met


async def test_conditions_are_put_together(watched: Agent, pages: Pages) -> None:
    """B4, K20: an error page that is served with status 200 is told apart by what it says."""
    await watched.go(pages.put("<h1>Sign-in failed</h1>", "/account"))
    there, failed = Url("**/account"), Text("failed")
    assert (await check(watched, AllOf(there, failed))).met
    assert not (await check(watched, AllOf(there, Not(failed)))).met
    assert (await check(watched, AnyOf(Url("**/other"), there))).met
    assert not (await check(watched, AnyOf(Url("**/other"), Not(there)))).met
    assert leaves(AllOf(there, Not(AnyOf(failed, there)))) == (there, failed, there)


async def test_what_comes_true_is_seen_when_it_does(
    watched: Agent, pages: Pages, looked_in_vain: asyncio.Event
) -> None:
    """B4: the browser tells of it; between the looks nothing is asked."""
    await watched.go(pages.put(LATER))
    waiting = asyncio.create_task(check(watched, AllOf(Text("Welcome"), Not(Element(role="button", name="Go"))), 20))
    await until(looked_in_vain.is_set)
    assert not waiting.done()
    await page_of(watched).evaluate("later()")
    async with asyncio.timeout(30):
        assert (await waiting).met


async def test_a_page_that_opens_meanwhile_is_looked_at(
    watched: Agent, pages: Pages, looked_in_vain: asyncio.Event
) -> None:
    """B3, B4."""
    popup = pages.put("<h1>Receipt</h1>")
    await watched.go(pages.put("<h1>Start</h1>"))
    waiting = asyncio.create_task(check(watched, Element(role="heading", name="Receipt"), 20))
    await until(looked_in_vain.is_set)
    await page_of(watched).evaluate(f"void open('{popup}')")
    async with asyncio.timeout(30):
        assert (await waiting).met
    browser = watched.desktop.browsers.get(watched.browser_id)
    await browser.pages[-1].page.close()


async def test_a_page_that_hangs_ends_by_the_time_out_and_does_not_count_as_absence(
    desktop: Desktop, pages: Pages
) -> None:
    """B4: neither is the condition met by what could not be looked at."""
    agent = await Agent.open(desktop, pages.put("<h1>Busy</h1>"))
    hanging = asyncio.create_task(page_of(agent).evaluate("for(;;);"))  # before whatever else the page is asked
    try:
        for condition in (Text("Busy"), Not(Text("gone")), AllOf(Url("**"), Not(Element(role="alert", name="x")))):
            began = time.monotonic()
            seen = await check(agent, condition, 1.5)
            assert not seen.met
            assert time.monotonic() - began < 8
        assert (await check(agent, AnyOf(Text("gone"), Url("http://127.0.0.1*/**")), 1.5)).met
    finally:
        await agent.close()
        await asyncio.gather(hanging, return_exceptions=True)


async def test_a_page_that_crashed_ends_by_the_time_out(desktop: Desktop, pages: Pages) -> None:
    """B4."""
    agent = await Agent.open(desktop, pages.put("<h1>Here</h1>"))
    try:
        await _crash(agent)
        seen = await check(agent, Not(Text("gone")), 1.5)
        assert not seen.met
        assert seen.seconds < 8
    finally:
        await agent.close()


async def _crash(agent: Agent) -> None:
    info = await agent.info()
    renderers = [process for process in psutil.Process(info.pid).children(recursive=True) if _renders(process)]
    for process in renderers:
        process.kill()
    psutil.wait_procs(renderers, timeout=30)


def _renders(process: psutil.Process) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # Chromium's helpers come and go
        return False
    return "--type=renderer" in line and "--extension-process" not in line


async def test_a_probe_that_is_not_answered_is_no_absence(watched: Agent) -> None:
    assert not (await check(watched, Not(Probe(url="http://127.0.0.1:9/")))).met


def test_a_condition_that_is_empty_or_too_large_is_refused() -> None:
    for build in (lambda: AllOf(), lambda: Text(""), lambda: AnyOf(*[Url("**")] * 11), lambda: Cookie(name="")):
        with pytest.raises(ValidationError):
            build()
