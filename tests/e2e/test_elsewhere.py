"""A person who is nowhere near the desktop does the whole step on their page, and the agent goes on."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
from playwright.async_api import Browser, Page, expect

from examples.portal import is_beside
from tests.e2e.stack import Stack, secrets_left
from tests.e2e.test_view import DESK
from tests.gateway.browsing import person, running_chromium
from tests.waiting import until
from user_handoff.contract.conditions import Url
from user_handoff.contract.handoff import Result, Summary
from user_handoff.gateway import texts
from user_handoff.gateway.links import issue_link


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


async def link_to(stack: Stack, handoff_id: str) -> str:
    return await issue_link(stack.handoffs, str(stack.server.facts()["gateway_url"]), handoff_id)


async def take_control(page: Page) -> None:
    view = page.locator("#view")
    await expect(view).to_have_attribute("data-state", "watching", timeout=30_000)
    await page.get_by_role("button", name="Take control").click()
    await expect(view).to_have_attribute("data-state", "control")


async def click_at(page: Page, left: float, down: float) -> None:
    """Click at a place of the picture, in parts of its width and height."""
    canvas = page.locator("#view canvas")
    await canvas.scroll_into_view_if_needed()
    box = await canvas.bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + box["width"] * left, box["y"] + box["height"] * down)


async def sign_in(page: Page, stack: Stack) -> None:
    """With the eyes of somebody who sees which field has the focus, and nothing but the keys and clicks of the page."""
    portal = stack.portal
    for left in (0.5, 0.04, 0.94):
        seen = portal.state()["focus"]["count"]
        await click_at(page, left, 0.95)
        await portal.wait_for(partial(is_beside, count=seen))
        await page.keyboard.press("Tab")
        await until(lambda: portal.state()["focus"]["field"])
        if portal.state()["focus"]["field"] == "username":
            break
    await page.keyboard.type(portal.username)
    await page.keyboard.press("Tab")
    await portal.wait_for(lambda state: state["focus"]["field"] == "password")
    await page.keyboard.type(portal.password)
    await page.keyboard.press("Enter")
    await portal.wait_for(lambda state: state["focus"]["field"] == "code")
    await page.keyboard.type(portal.code)
    await page.keyboard.press("Enter")
    await portal.wait_for(lambda state: state["stage"] == "in")


async def ended(stack: Stack, handoff_id: str) -> Summary:
    await stack.handoffs.result(handoff_id)
    return await stack.handoffs.summary(handoff_id)


async def test_the_whole_sign_in_is_done_through_the_view_and_the_agent_goes_on(
    stack: Stack, chromium: Browser
) -> None:
    """F4, F6, B3, B4, B7: name, password, code and Done on the page; the note is the person's, the outcome is not."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    logins = stack.portal.state()["logins"]
    async with person(chromium, await link_to(stack, held.handoff_id), **DESK) as page:
        await take_control(page)
        await sign_in(page, stack)
        await page.get_by_text(texts.NOTE_LABEL).first.click()
        await page.locator("#note").fill("The code came late")
        await page.get_by_role("button", name="Done").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(texts.ENDS[Result.VERIFIED][0], timeout=30_000)
    assert (await agent.result()).rows == 12
    summary = await stack.handoffs.summary(held.handoff_id)
    assert (summary.result, summary.note) == (Result.VERIFIED, "The code came late")
    assert (await stack.browser(held)).pid == before.pid
    assert stack.portal.state()["logins"] == logins + 1
    await stack.close(held)
    assert secrets_left(stack) == []


async def test_done_through_the_view_without_the_step_is_told_as_not_verified(stack: Stack, chromium: Browser) -> None:
    """F6, K20: the person says done, and their own page says what the agent found instead."""
    request, _ = await stack.begin(verify=Url("**/invoices"), verify_seconds=1)
    async with person(chromium, await link_to(stack, request.handoff_id), **DESK) as page:
        await take_control(page)
        await page.get_by_role("button", name="Done").click()
        await stack.look_again(request.handoff_id)
        await expect(page.get_by_role("heading", level=1)).to_have_text(
            texts.ENDS[Result.NOT_VERIFIED][0], timeout=30_000
        )
    summary = await ended(stack, request.handoff_id)
    assert summary.result is Result.NOT_VERIFIED
    await stack.close(summary)
