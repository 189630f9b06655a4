"""Getting in by a link in a real Chromium: hidden tabs, reloads, second tabs, chats, and browsers without scripts."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from tests.gateway.browsing import at_browser, person
from tests.gateway.world import Site
from user_handoff.gateway import texts
from user_handoff.gateway.links import look_up

HIDDEN = """
let state = "hidden";
Object.defineProperty(document, "visibilityState", { get: () => state });
Object.defineProperty(document, "hidden", { get: () => state === "hidden" });
window.comeToFront = () => { state = "visible"; document.dispatchEvent(new Event("visibilitychange")); };
"""


@pytest.fixture
async def browser(chromium: Browser) -> AsyncIterator[BrowserContext]:
    async with at_browser(chromium) as context:
        yield context


async def spent(site: Site, link: str) -> bool:
    return (await look_up(site.world.client, link.rpartition("/")[2])).link.spent


async def opened(browser: BrowserContext, link: str) -> Page:
    page = await browser.new_page()
    await page.goto(link)
    return page


async def in_it(page: Page) -> None:
    """The person sees what is asked."""
    await expect(page.get_by_role("heading", name=texts.WHAT_TO_DO)).to_be_visible()


async def headed(page: Page, words: tuple[str, str]) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(words[0])


async def test_after_previews_of_a_chat_the_person_gets_in(
    site: Site, browser: BrowserContext, http: httpx.AsyncClient
) -> None:
    """C5, K46: by GET and HEAD, with its own name and with a browser's."""
    _, link = await site.held()
    for agent in ("WhatsApp/2.23", "Mozilla/5.0 (X11; Linux x86_64) Chrome/120 Safari/537.36"):
        await http.get(link, headers={"User-Agent": agent})
        await http.head(link, headers={"User-Agent": agent})
    await in_it(await opened(browser, link))
    assert await spent(site, link)


async def test_a_tab_that_nobody_sees_spends_nothing_until_it_is_looked_at(site: Site, browser: BrowserContext) -> None:
    """C5, K47."""
    _, link = await site.held()
    page = await browser.new_page()
    await page.add_init_script(HIDDEN)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    await page.goto(link, wait_until="networkidle")
    assert "POST" not in asked and not await spent(site, link)
    await headed(page, texts.ENTRY)
    await page.evaluate("comeToFront()")
    await in_it(page)


async def test_a_page_that_was_prerendered_spends_nothing_until_it_is_shown(
    site: Site, browser: BrowserContext
) -> None:
    """C5, K47: as `document.prerendering` says it."""
    _, link = await site.held()
    page = await browser.new_page()
    await page.add_init_script(
        "let early = true; Object.defineProperty(document, 'prerendering', { get: () => early });"
        "window.activate = () => { early = false; document.dispatchEvent(new Event('prerenderingchange')); };"
    )
    await page.goto(link, wait_until="networkidle")
    assert not await spent(site, link)
    await page.evaluate("activate()")
    await in_it(page)


async def test_a_reload_before_and_after_entering_works(site: Site, browser: BrowserContext) -> None:
    """C5, K48: before, the first try was cut off in its middle."""
    _, link = await site.held()
    page = await browser.new_page()

    async def cut(route: Route) -> None:
        if "step=finalize" in (route.request.post_data or ""):
            await route.abort()
        else:
            await route.continue_()

    await page.route("**/enter", cut)
    await page.goto(link)
    await expect(page.get_by_text(texts.LOST)).to_be_visible()
    assert not await spent(site, link)
    await page.unroute("**/enter")
    await page.reload()
    await in_it(page)
    for _ in range(2):
        await page.reload()
        await in_it(page)


async def test_a_tab_that_tries_again_after_an_outage_is_the_same_tab(site: Site, browser: BrowserContext) -> None:
    """C5: nobody is told of another tab, whichever answer was lost or came from a gateway that could not tell."""
    _, link = await site.held()
    page = await browser.new_page()
    lost: list[str] = []

    async def lose(route: Route) -> None:
        step = re.search("step=([a-z]+)", route.request.post_data or "")
        what = step[1] if step else "page" if "x-tab" in route.request.headers else ""
        if not what or what in lost or route.request.url.endswith("/state"):
            await route.continue_()
            return
        lost.append(what)
        if what == "attach":
            await route.fulfill(status=503, json={"next": "stop", "page": "<main><h1>Away</h1></main>"})
        else:
            await route.fetch()
            await route.abort()

    await page.route(f"{link}**", lose)
    await page.goto(link)
    await in_it(page)
    lost[:] = ["attach", "finalize"]
    await page.reload()
    await expect(page.get_by_text(texts.LOST)).to_be_visible()
    await expect(page.get_by_text(texts.LOST)).to_be_hidden()
    await in_it(page)
    assert set(lost) == {"attach", "finalize", "page"}


async def test_the_link_works_again_and_again_for_the_browser_that_has_entered(
    site: Site, browser: BrowserContext
) -> None:
    """C5: from a chat, which is another site, so that no cookie comes with the click."""
    _, link = await site.held()
    page = await browser.new_page()
    await page.route(
        "http://chat.example/", lambda route: route.fulfill(body=f'<a href="{link}">Go</a>', content_type="text/html")
    )
    for _ in range(2):
        await page.goto("http://chat.example/")
        await page.get_by_role("link", name="Go").click()
        await in_it(page)


async def test_a_second_tab_is_told_and_takes_over_and_the_first_is_told_at_once(
    site: Site, browser: BrowserContext
) -> None:
    """C5: one tab at a time, back and forth, by a click alone."""
    _, link = await site.held()
    first = await opened(browser, link)
    await in_it(first)
    second = await opened(browser, link)
    for here, there in ((second, first), (first, second)):
        await headed(here, texts.ELSEWHERE)
        await here.get_by_role("button", name=texts.TAKE).click()
        await in_it(here)
        await expect(there.get_by_role("heading", level=1)).to_have_text(texts.ELSEWHERE[0], timeout=30_000)
        await expect(there.get_by_role("button", name="Done")).to_have_count(0)


async def test_a_duplicate_of_the_tab_is_another_tab(site: Site, browser: BrowserContext) -> None:
    """C5: though it begins with a copy of all that the first one has stored."""
    _, link = await site.held()
    first = await opened(browser, link)
    await in_it(first)
    async with browser.expect_page() as opening:
        await first.evaluate("void window.open(location.href)")
    await headed(await opening.value, texts.ELSEWHERE)
    await in_it(first)


async def test_a_second_person_is_told_and_sees_nothing(site: Site, chromium: Browser, browser: BrowserContext) -> None:
    """C5: while the first is about to enter, and once they have."""
    _, link = await site.held(instructions="canary-instructions")
    first, going = await browser.new_page(), asyncio.Event()

    async def hold(route: Route) -> None:
        if "step=finalize" in (route.request.post_data or ""):
            await going.wait()
        await route.continue_()

    await first.route("**/enter", hold)
    await first.goto(link)
    async with person(chromium, link) as second:
        await headed(second, texts.OPENING)
        going.set()
        await in_it(first)
        await expect(second.get_by_role("heading", level=1)).to_have_text(texts.TAKEN[0], timeout=30_000)
        assert "canary" not in await second.content()


async def test_a_new_link_lets_in_who_came_too_late(site: Site, chromium: Browser, browser: BrowserContext) -> None:
    """C5: issued again on demand; both know that they are two."""
    handoff_id, link = await site.held()
    first = await opened(browser, link)
    await in_it(first)
    async with person(chromium, await site.link(handoff_id)) as second:
        await in_it(second)
        await expect(second.get_by_text(texts.OTHERS)).to_be_visible()
        await expect(first.get_by_text(texts.OTHERS)).to_be_visible()


async def test_a_page_that_is_open_says_within_seconds_that_the_handoff_has_ended(
    site: Site, browser: BrowserContext
) -> None:
    """C5: revoked with the handoff; and the link opens nothing any more."""
    handoff_id, link = await site.held()
    late = await site.link(handoff_id)
    page = await opened(browser, link)
    await in_it(page)
    await site.world.client.close(handoff_id)
    await expect(page.get_by_role("heading", level=1)).to_have_text("The browser was closed", timeout=30_000)
    await headed(await opened(browser, late), texts.OVER)


async def test_assets_are_asked_for_without_the_token(site: Site, browser: BrowserContext) -> None:
    """C6, K48: neither in an address nor as a referrer."""
    _, link = await site.held()
    token, asked = link.rpartition("/")[2], list[Any]()
    browser.on("request", lambda request: asked.append(request))
    await in_it(await opened(browser, link))
    assets = [request for request in asked if "/assets/" in request.url]
    assert len(assets) >= 3
    for request in assets:
        assert token not in request.url and not (await request.all_headers()).get("referer")
    outside = [request.url for request in asked if not request.url.startswith(site.base_url)]
    assert outside == []


async def test_without_scripts_a_button_lets_in_and_a_second_browser_is_told(site: Site, chromium: Browser) -> None:
    """C5."""
    _, link = await site.held()
    async with person(chromium, link, java_script_enabled=False) as page:
        await page.get_by_role("button", name=re.compile(f"^{texts.ENTER}")).click()
        await in_it(page)
        await page.goto(link)
        await in_it(page)
        async with person(chromium, link, java_script_enabled=False) as other:
            await other.get_by_role("button", name=re.compile(f"^{texts.ENTER}")).click()
            await headed(other, texts.TAKEN)
