"""A person's own request to the agent's session, from their page."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from playwright.async_api import Browser, Route, expect

from tests.gateway.browsing import person, violations
from tests.gateway.world import Site, World, open_site
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import PostMessage
from user_handoff.gateway import texts


@pytest.fixture(scope="module")
async def open_to_people(world: World) -> AsyncIterator[Site]:
    async with open_site(world, person_requests=True) as opened:
        yield opened


@pytest.fixture
async def session(world: World) -> str:
    """A session of its own, with nothing to read."""
    session_id = (await world.client.open_session(new_id("s"), "agent:test")).session_id
    await world.client.post_message(session_id, PostMessage(message_id="m1", text="Sign in"))
    return session_id


async def read(world: World, session: str) -> list[str]:
    """What the agent reads, in order."""
    requests = RequestsClient(world.client)
    found: list[str] = []
    while True:
        try:
            result = await requests.read(session, new_id("r"))
        except HandoffError:
            return found
        assert result.request is not None and result.request.provenance.by.startswith("link ")
        found.append(result.request.text)


async def test_what_a_person_sends_is_there_to_be_read(
    open_to_people: Site, chromium: Browser, world: World, session: str
) -> None:
    """D1, D2, D5: twice, each once; before and after the answer; axe finds nothing."""
    _, link = await open_to_people.held(session_id=session, message_id="m1")
    async with person(chromium, link) as page:
        for text in ("Book the later train", "And a seat by the window"):
            await page.locator(".own:not([open]) > summary").click() if "train" in text else None
            await page.get_by_label(texts.ASK_LABEL).fill(text)
            await page.get_by_role("button", name=texts.ASK_SEND, exact=True).click()
            await expect(page.get_by_text(texts.ASK_SENT)).to_be_visible()
            await expect(page.get_by_label(texts.ASK_LABEL)).to_have_value("")
        assert await violations(page) == []
    assert await read(world, session) == ["Book the later train", "And a seat by the window"]


@pytest.mark.parametrize("cut", ["save", "send"])
async def test_a_text_that_is_edited_while_it_is_being_sent_is_not_sent_as_it_was(
    open_to_people: Site, chromium: Browser, world: World, session: str, cut: str
) -> None:
    """K84, D3: whichever of its steps is under way."""
    _, link = await open_to_people.held(session_id=session, message_id="m1")
    going = asyncio.Event()

    async def hold(route: Route) -> None:
        if f"step={cut}" in (route.request.post_data or "") and "Pay+100" in (route.request.post_data or "Pay+100"):
            await going.wait()
        await route.continue_()

    async with person(chromium, link) as page:
        await page.route("**/request", hold)
        await page.locator(".own > summary").click()
        field = page.get_by_label(texts.ASK_LABEL)
        await field.fill("Pay 100")
        await page.get_by_role("button", name=texts.ASK_SEND, exact=True).click()
        await expect(page.get_by_text(texts.ASK_SENDING)).to_be_visible()
        await field.fill("Pay 10")
        await expect(page.get_by_text(texts.ASK_CHANGED)).to_be_visible()
        going.set()
        async with page.expect_response(lambda r: "Pay+10" in (r.request.post_data or "")) as saved:
            pass
        assert (await (await saved.value).json())["state"] == "draft"
        assert await read(world, session) == []
        await page.get_by_role("button", name=texts.ASK_SEND, exact=True).click()
        await expect(page.get_by_text(texts.ASK_SENT)).to_be_visible()
    assert await read(world, session) == ["Pay 10"]


async def test_without_scripts_a_button_sends_it(
    open_to_people: Site, chromium: Browser, world: World, session: str
) -> None:
    _, link = await open_to_people.held(session_id=session, message_id="m1")
    async with person(chromium, link, java_script_enabled=False) as page:
        await page.get_by_role("button", name=texts.ENTER).click()
        await page.locator(".own > summary").click()
        await page.get_by_label(texts.ASK_LABEL).fill("Later, please")
        await page.get_by_role("button", name=texts.ASK_SEND, exact=True).click()
        await expect(page.get_by_role("alert")).to_have_text(texts.ASK_SENT)
    assert await read(world, session) == ["Later, please"]


async def test_only_who_has_entered_writes_and_only_what_fits(open_to_people: Site, world: World, session: str) -> None:
    """D2, D4: an Origin proves nothing."""
    _, link = await open_to_people.held(session_id=session, message_id="m1")
    form = {"step": "both", "request": "q1", "text": "Hello"}
    async with httpx.AsyncClient(headers={"Origin": open_to_people.base_url}, timeout=30) as http:
        assert (await http.post(f"{link}/request", data=form)).status_code == 409
        await open_to_people.entered(link, http)
        for wrong in ({"text": " "}, {"text": "x" * 4_001}, {"step": "shout"}, {"request": "a b"}):
            refused = await http.post(f"{link}/request", data={**form, **wrong})
            assert refused.status_code == 409 and texts.ASK_UNFIT in refused.text
        foreign = await http.post(f"{link}/request", data=form, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        assert await read(world, session) == []
        assert (await http.post(f"{link}/request", data=form)).status_code == 303
    assert await read(world, session) == ["Hello"]


async def test_unless_it_is_switched_on_nobody_writes(site: Site, http: httpx.AsyncClient) -> None:
    _, link = await site.held(http)
    assert texts.ASK not in (await http.get(link)).text
    assert (await http.post(f"{link}/request", data={"step": "both", "request": "q1", "text": "x"})).status_code == 404
