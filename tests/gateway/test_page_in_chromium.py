"""The person's page in a real Chromium: keyboard, script, style and policy."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.gateway.browsing import DESK, PHONE, at_browser, person, violations
from tests.gateway.world import Site, World, open_site
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import Answer, HandoffState, Reply, Result
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.showing import Shown
from user_handoff.gateway import texts

INSTRUCTIONS = "Sign in to the portal with your own account, then open Invoices.\nThe code comes by text message."


async def test_a_person_answers_by_keyboard_alone(site: Site, chromium: Browser, tmp_path: Path) -> None:
    """F4, F6: and sees, without reloading, what the agent found. Leaves three pictures in the test's folder."""
    handoff_id, link = await site.held(instructions=INSTRUCTIONS)
    phone = {**PHONE, "color_scheme": "dark"}
    at_desk = person(chromium, await site.link(handoff_id), **DESK, color_scheme="light")
    async with person(chromium, link, **phone) as page, at_desk as other:
        for shown, name in ((page, "phone-dark.png"), (other, "desktop-light.png")):
            await expect(shown.locator("#clock")).to_have_text(re.compile(r"^(9:\d\d|10:00) left$"))
            await shown.screenshot(path=tmp_path / name)
        # What is told of the other comes with a page of its own: keys that are pressed meanwhile would begin anew.
        await expect(page.get_by_text(texts.OTHERS)).to_be_visible()
        # The first stop is the button that shows the window, once it is known that the page cannot show it.
        await expect(page.locator("#view")).to_have_attribute("data-state", "unavailable")
        for key in ("Tab", "Tab", "Enter", "Tab"):
            await page.keyboard.press(key)
        await page.keyboard.type("The code was late")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Done I finished")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("You said that it is done")).to_be_visible()
        await expect(page.get_by_text("The code was late")).to_be_visible()
        await site.recover(handoff_id)
        for shown in (page, other):
            await expect(shown.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.VERIFIED][0])
        await page.screenshot(path=tmp_path / "phone-answered.png")
    summary = await site.world.client.summary(handoff_id)
    assert (summary.answer, summary.note) == (Answer.DONE, "The code was late")


async def test_the_page_works_without_javascript(site: Site, chromium: Browser) -> None:
    handoff_id, link = await site.held()
    async with person(chromium, link, java_script_enabled=False) as page:
        await page.get_by_role("button", name=texts.ENTER).click()
        await expect(page.locator("#clock")).to_have_text("9 minutes left")
        await page.get_by_role("button", name="Decline").click()
        await expect(page.get_by_text("You declined")).to_be_visible()
    assert (await site.world.client.summary(handoff_id)).answer is Answer.DECLINED


async def test_the_focus_stays_where_the_person_types(site: Site, chromium: Browser) -> None:
    """B9: polling changes nothing while there is nothing to say."""
    _, link = await site.held()
    async with person(chromium, link) as page:
        await page.get_by_text(texts.NOTE_LABEL).first.click()
        note = page.locator("#note")
        await note.fill("half a sent")
        for _ in range(2):
            async with page.expect_response(re.compile("/state$")):
                pass
        await expect(note).to_be_focused()
        await expect(note).to_have_value("half a sent")


async def test_what_a_person_is_writing_stays_when_the_page_changes_around_it(site: Site, chromium: Browser) -> None:
    """B9: somebody else entered by a link of their own, which the page tells."""
    handoff_id, link = await site.held()
    async with person(chromium, link) as page:
        await page.get_by_text(texts.NOTE_LABEL).first.click()
        note = page.locator("#note")
        await note.fill("half a sentence")
        for _ in range(8):
            await page.keyboard.press("ArrowLeft")
        async with person(chromium, await site.link(handoff_id)) as other:
            await expect(other.locator("#note")).to_have_count(1)
            await expect(page.get_by_text(texts.OTHERS)).to_be_visible()
        await expect(note).to_be_focused()
        await page.keyboard.type("long ")
        await expect(note).to_have_value("half a long sentence")
        await expect(note).to_be_visible()
        await page.get_by_role("button", name="Done").click()
        await expect(page.get_by_text("half a long sentence")).to_be_visible()
    assert (await site.world.client.summary(handoff_id)).note == "half a long sentence"


async def test_the_focus_stays_on_a_button_when_the_page_changes_around_it(site: Site, chromium: Browser) -> None:
    """F4: who goes by keyboard does not begin anew."""
    handoff_id, link = await site.held()
    async with person(chromium, link) as page:
        done = page.get_by_role("button", name="Done I finished")
        await done.focus()
        async with person(chromium, await site.link(handoff_id)):
            await expect(page.get_by_text(texts.OTHERS)).to_be_visible()
        await expect(done).to_be_focused()
        await page.get_by_text(texts.NOTE_LABEL).first.focus()
        await site.world.client.reply(handoff_id, Reply(answer=Answer.DONE, by="Eve"), new_id("r"))
        await expect(done).to_have_count(0)
        await expect(page.get_by_role("heading", level=1)).to_be_focused()


async def test_a_request_of_ones_own_that_is_being_written_outlives_the_end_of_the_handoff(
    world: World, chromium: Browser
) -> None:
    """A9: and is sent as it was written."""
    async with open_site(world, person_requests=True) as site:
        handoff_id, link = await site.held()
        async with person(chromium, link) as page:
            await page.get_by_text(texts.ASK).click()
            own = page.get_by_label(texts.ASK_LABEL)
            await own.fill("Not the draft, please")
            await world.client.reply(handoff_id, Reply(answer=Answer.DECLINED, by="Eve"), new_id("r"))
            await site.recover(handoff_id)
            await expect(page.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.DECLINED][0])
            await expect(own).to_have_value("Not the draft, please")
            await expect(own).to_be_focused()
            await page.get_by_role("button", name=texts.ASK_SEND).click()
            await expect(page.get_by_text(texts.ASK_SENT)).to_be_visible()


async def test_a_person_is_told_for_good_that_another_answer_stands(site: Site, chromium: Browser) -> None:
    """K10: also once the page has changed."""
    handoff_id, link = await site.held()
    async with person(chromium, link) as page:
        await expect(page.locator("#note")).to_have_count(1)
        await page.route("**/state", lambda route: route.abort())
        await site.world.client.reply(handoff_id, Reply(answer=Answer.DONE, by="Eve"), new_id("r"))
        await page.get_by_role("button", name="Decline").click()
        await page.wait_for_url("**?notice=earlier")
        await page.unroute("**/state")
        await site.recover(handoff_id)
        await expect(page.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.VERIFIED][0])
        await expect(page.get_by_role("alert")).to_have_text(texts.EARLIER)


async def test_the_countdown_never_gives_time_back(site: Site, chromium: Browser) -> None:
    """A8: whatever a later answer says."""
    _, link = await site.held(timeout_seconds=30)
    async with person(chromium, link) as page:
        await page.route("**/state", _more_time)
        async with page.expect_response(re.compile("/state$")):
            pass
        shown = await page.locator("#clock").inner_text()
        await expect(page.locator("#clock")).not_to_have_text(shown)
        await expect(page.locator("#clock")).to_have_text(re.compile(r"^0:2\d left$"))
        await expect(page.locator("#time")).to_have_class(re.compile("short"))


async def _more_time(route: Any) -> None:
    response = await route.fetch()
    await route.fulfill(response=response, json={**await response.json(), "seconds_left": 500})


async def test_the_page_says_when_time_is_up(site: Site, chromium: Browser) -> None:
    """A14, F5."""
    handoff_id, link = await site.held(timeout_seconds=5)
    async with person(chromium, link) as page:
        await expect(page.get_by_role("heading", level=1)).to_have_text("The time is up", timeout=30_000)
        await expect(page.get_by_role("button")).to_have_count(0)
    await site.world.until(handoff_id, HandoffState.EXPIRED)


async def test_a_lost_connection_is_said_at_once(site: Site, chromium: Browser) -> None:
    """F5."""
    _, link = await site.held()
    async with await chromium.new_context() as context:
        page = await context.new_page()
        await page.goto(link)
        await expect(page.locator("#clock")).to_be_visible()
        await context.set_offline(True)
        await expect(page.get_by_text("No connection.")).to_be_visible()
        await context.set_offline(False)
        await expect(page.get_by_text("No connection.")).to_be_hidden()


async def test_instructions_cannot_run_as_code(site: Site, chromium: Browser) -> None:
    attack = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    _, link = await site.held(instructions=attack)
    async with person(chromium, link) as page:
        await expect(page.get_by_text("<script>")).to_be_visible()
        assert "owned" not in await page.title()


async def test_nothing_overflows_a_small_phone(site: Site, chromium: Browser) -> None:
    handoff_id, link = await site.held(instructions="https://portal.example/" + "x" * 300)
    async with person(chromium, link, viewport={"width": 320, "height": 600}) as page:
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for name in texts.BUTTONS.values():
            await expect(page.get_by_role("button", name=re.compile(f"^{name}"))).to_be_in_viewport()
    assert handoff_id


@pytest.mark.parametrize("how", list(Shown))
async def test_a_click_shows_the_window_and_what_is_typed_on_the_page_stays(
    site: Site, chromium: Browser, how: Shown
) -> None:
    """B9: asked for once; the page says what came of it, and offers nothing where there is nothing to show."""
    desktop = site.world.desktop
    _, link = await site.held()
    async with person(chromium, link) as page:
        await page.get_by_text(texts.NOTE_LABEL).first.click()
        await page.locator("#note").fill("half a sentence")
        desktop.shows, before = how, desktop.calls.count(Activities.SHOW_WINDOW)
        await page.get_by_role("button", name=texts.SHOW).click()
        await expect(page.get_by_text(texts.SHOWN[how])).to_be_visible()
        await expect(page.locator("#note")).to_have_value("half a sentence")
        assert desktop.calls.count(Activities.SHOW_WINDOW) == before + 1


async def test_a_window_that_cannot_be_shown_is_said(site: Site, chromium: Browser) -> None:
    desktop = site.world.desktop
    _, link = await site.held()
    desktop.refuse[Activities.SHOW_WINDOW] = ErrorCode.SURFACE_NOT_FOUND
    try:
        async with person(chromium, link, java_script_enabled=False) as page:
            await page.get_by_role("button", name=texts.ENTER).click()
            await page.get_by_role("button", name=texts.SHOW).click()
            await expect(page.get_by_role("alert")).to_have_text(texts.SHOWN["failed"])
    finally:
        del desktop.refuse[Activities.SHOW_WINDOW]


@pytest.mark.parametrize(("device", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
async def test_no_state_of_the_page_has_anything_that_axe_finds(
    site: Site, chromium: Browser, device: dict[str, Any], scheme: str
) -> None:
    """F4: the door, the request, the answer, the end, and what a second tab and a second person are told."""
    handoff_id, link = await site.held(instructions=INSTRUCTIONS)
    async with at_browser(chromium, **device, color_scheme=scheme) as browser:
        await browser.new_page()
        page, other = browser.pages[0], await browser.new_page()
        await page.add_init_script("Object.defineProperty(document, 'prerendering', { get: () => window.early })")
        await page.add_init_script("window.early = !location.search")
        for where, shown, address in (
            (page, texts.ENTRY[0], link),
            (page, "Sign in at portal.example", f"{link}?in"),
            (other, texts.ELSEWHERE[0], link),
        ):
            await where.goto(address)
            await expect(where.get_by_role("heading", level=1)).to_have_text(shown)
            assert await violations(where) == []
        async with person(chromium, link, **device, color_scheme=scheme) as second:
            await expect(second.get_by_role("heading", level=1)).to_have_text(texts.TAKEN[0])
            assert await violations(second) == []
        await page.get_by_role("button", name="Done").click()
        await expect(page.get_by_text("You said that it is done")).to_be_visible()
        assert await violations(page) == []
        await site.recover(handoff_id)
        await page.goto(f"{link}?in")
        await expect(page.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.VERIFIED][0])
        assert await violations(page) == []
