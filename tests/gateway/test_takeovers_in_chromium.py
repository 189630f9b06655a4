"""The page of a takeover in a real Chromium: the time that is left, style and policy."""

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Route, expect

from tests.gateway.browsing import DESK, PHONE, person, violations
from tests.gateway.test_takeovers import ADA
from tests.gateway.world import Site, World
from tests.workflows.fake_takeovers import FakeTakeovers
from user_handoff.client.access import Access
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.session import Scope
from user_handoff.contract.takeover import TakeoverEnd, TakeoverState
from user_handoff.gateway import texts


@contextlib.asynccontextmanager
async def taken(world: World, site: Site, chromium: Browser, seconds: float, **options: Any) -> AsyncIterator[Page]:
    """The page of who has just taken a browser over, for so long."""
    access, desk = Access(world.client, patience_seconds=30), FakeTakeovers()
    key = await access.create_key(ADA, [Scope.HANDOFFS_OPERATE])
    await access.aclose()
    request = desk.request(by=ADA, seconds=seconds)
    async with desk.serving(world.temporal), person(chromium, f"{site.base_url}/", **options) as page:
        await page.locator("input[name=key]").fill(key)
        await page.locator("form button").first.click()
        await expect(page.get_by_role("link", name=texts.TAKE_OVER)).to_be_visible()
        await TakeoverClient(world.temporal).take_over(request)
        await page.goto(f"{site.base_url}/takeovers/{request.takeover_id.removeprefix('takeover/')}")
        yield page
        await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.RETURNED)
        await expect(page.get_by_role("heading", level=1)).to_have_text(texts.TAKEN_OVER[0])


async def test_the_time_of_a_takeover_counts_down_and_is_never_given_back(
    world: World, site: Site, chromium: Browser
) -> None:
    """A8, E1: whatever a later answer says."""
    async with taken(world, site, chromium, 70) as page:
        await page.route("**/state", _more_time)
        async with page.expect_response(re.compile("/state$")):
            pass
        clock = page.locator("#clock")
        shown = await clock.inner_text()
        await expect(clock).not_to_have_text(shown)
        await expect(clock).to_have_text(re.compile(r"^(1:0\d|0:[45]\d) left$"))
        await expect(page.locator("#time")).to_have_class(re.compile("short"), timeout=30_000)
        await expect(page.locator("#say")).to_have_text(texts.SHORT)


async def _more_time(route: Route) -> None:
    response = await route.fetch()
    await route.fulfill(response=response, json={**await response.json(), "seconds_left": 500})


@pytest.mark.parametrize(("device", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
async def test_axe_finds_nothing_on_the_page_of_a_takeover(
    world: World, site: Site, chromium: Browser, device: dict[str, Any], scheme: str
) -> None:
    """F4: nor does the policy for contents refuse anything."""
    async with taken(world, site, chromium, 600, **device, color_scheme=scheme) as page:
        await expect(page.locator("#clock")).to_have_text(re.compile(r"^(9:\d\d|10:00) left$"))
        assert await violations(page) == []
