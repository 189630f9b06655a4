"""The inbox in a real Chromium, on a phone and at a desk."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.gateway.browsing import DESK, PHONE, at_browser, person, violations
from tests.gateway.world import Site, World
from user_handoff.client.access import Access
from user_handoff.contract.handoff import Result
from user_handoff.gateway import texts

OWNER = "agent:test"


@pytest.fixture(scope="module")
async def key(world: World) -> AsyncIterator[str]:
    access = Access(world.client, patience_seconds=30, fresh_seconds=0)
    yield await access.create_key(OWNER, [])
    await access.aclose()


async def signed_in(page: Page, key: str) -> None:
    await page.get_by_label(texts.KEY).fill(key)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text(texts.INBOX)


@pytest.mark.parametrize(("device", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
async def test_an_operator_signs_in_sees_what_waits_and_sends_somebody_there(
    site: Site, chromium: Browser, key: str, device: dict[str, Any], scheme: str
) -> None:
    """F8, C5: by keyboard; the list is as it is now without a reload, and axe finds nothing in any state."""
    handoff_id, _ = await site.held(instructions="Sign in to the portal, then open Invoices.", timeout_seconds=300)
    async with at_browser(chromium, **device, color_scheme=scheme) as browser:
        page = await browser.new_page()
        await page.goto(site.base_url)
        assert await violations(page) == []
        await signed_in(page, key)
        row = page.get_by_role("listitem").filter(has=page.locator(f"input[value='{handoff_id}']"))
        await expect(row.locator(".clock")).to_have_text(re.compile(r"^[34]:\d\d left$"), timeout=30_000)
        assert await violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await row.get_by_role("button", name=texts.NEW_LINK).focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_be_visible()
        assert await violations(page) == []
        link = site.base_url + "/j/" + (await page.locator("#url").input_value()).rpartition("/")[2]
        await page.keyboard.press("Escape")
        await expect(page.locator("#url")).to_have_value("")
        async with person(chromium, link, **device) as asked:
            await asked.get_by_role("button", name="Decline").click()
            await expect(asked.get_by_text("You declined")).to_be_visible()
            await expect(row).to_have_count(0)
            await site.recover(handoff_id)
            await expect(page.locator("#recent li").first.get_by_text(texts.RESULTS[Result.DECLINED])).to_be_visible()
        assert await violations(page) == []


async def test_what_begins_to_wait_shows_up_and_the_focus_stays(site: Site, chromium: Browser, key: str) -> None:
    first, _ = await site.held()
    async with person(chromium, site.base_url) as page:
        await signed_in(page, key)
        button = page.locator(f"form:has(input[value='{first}']) button")
        await button.focus()
        second, _ = await site.held()
        await expect(page.locator(f"input[value='{second}']")).to_have_count(1, timeout=30_000)
        await expect(button).to_be_focused()


async def test_the_inbox_works_without_scripts(site: Site, chromium: Browser, key: str) -> None:
    handoff_id, _ = await site.held()
    async with person(chromium, site.base_url, java_script_enabled=False) as page:
        await signed_in(page, key)
        form = page.locator(f"form:has(input[value='{handoff_id}'])")
        for _ in range(20):
            if await form.count():
                break
            await page.reload()
        await form.get_by_role("button").click()
        await expect(page.locator("#link")).to_contain_text("/j/")
        await page.goto(site.base_url)
        await page.get_by_role("button", name=texts.SIGN_OUT).click()
        await expect(page.get_by_label(texts.KEY)).to_be_visible()
