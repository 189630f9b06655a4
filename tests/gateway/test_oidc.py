"""People's pages and the inbox behind OpenID Connect, with a real provider and a real Chromium."""

import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from tests.gateway.browsing import at_browser, person, violations
from tests.gateway.provider import Provider, running_provider
from tests.gateway.world import Site, World, entry_of, open_site
from user_handoff.cli.ports import free_port
from user_handoff.contract.entering import LinkStep
from user_handoff.contract.handoff import HandoffState
from user_handoff.gateway import texts
from user_handoff.gateway.links import look_up

ADA, EVE = "ada@example.org", "eve@example.org"


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[Provider]:
    async with running_provider() as started:
        yield started


@pytest.fixture(autouse=True)
def honest(provider: Provider) -> None:
    provider.user = {"email": ADA, "email_verified": True}
    provider.lies, provider.strange_key, provider.refuses = {}, False, False


@pytest.fixture(scope="module")
async def guarded(world: World, provider: Provider) -> AsyncIterator[Site]:
    """A gateway whose pages ask who somebody is. It has to know its own address, to which the provider sends back."""
    port = free_port()
    async with open_site(world, port=port, oidc=provider.settings(), operators=("boss@example.org",)) as opened:
        yield opened


@pytest.fixture
async def browser(guarded: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=guarded.base_url, timeout=30, follow_redirects=True) as client:
        yield client


async def held(site: Site, **more: Any) -> tuple[str, str]:
    receipt = await site.world.held(**more)
    return receipt.handoff_id, await site.link(receipt.handoff_id)


async def spent(site: Site, link: str) -> bool:
    return (await look_up(site.world.client, link.rpartition("/")[2])).link.spent


async def headed(page: Page, words: str) -> None:
    await expect(page.get_by_role("heading", level=1)).to_have_text(words)


async def test_the_named_person_signs_in_and_answers_under_their_name(
    guarded: Site, chromium: Browser, provider: Provider
) -> None:
    """F8: the answer is kept under what the provider vouches for."""
    handoff_id, link = await held(guarded, person=ADA)
    async with person(chromium, link) as page:
        await headed(page, texts.SIGN_IN[0])
        assert await violations(page) == [] and not await spent(guarded, link)
        await page.get_by_role("link", name=texts.SIGN_IN_BUTTON).click()
        await headed(page, "Sign in at portal.example")
        await page.get_by_role("button", name="Decline").click()
        await expect(page.get_by_text("You declined")).to_be_visible()
    assert (await guarded.world.client.summary(handoff_id)).answered_by == ADA
    asked = provider.asked[-1]
    assert asked["code_challenge_method"] == "S256" and asked["nonce"] and asked["state"]
    assert link.rpartition("/")[2] not in "".join(asked.values())


async def test_somebody_else_is_not_let_in_and_spends_nothing(
    guarded: Site, chromium: Browser, provider: Provider
) -> None:
    _, link = await held(guarded, person=ADA, instructions="canary-instructions")
    provider.user["email"] = EVE
    async with person(chromium, link) as page:
        await page.get_by_role("link", name=texts.SIGN_IN_BUTTON).click()
        await headed(page, texts.NOT_FOR_YOU[0])
        assert "canary" not in await page.content()
    assert not await spent(guarded, link)


@pytest.mark.parametrize(
    ("named", "signed_in", "lets_in"),
    [
        ("strasse@example.org", "stra\u00dfe@example.org", False),
        ("fiona@example.org", "\ufb01ona@example.org", False),
        ("kim@example.org", "\u212aim@example.org", False),
        ("Ada@Example.org", "aDA@example.org", True),
    ],
)
async def test_an_address_that_only_looks_like_the_named_one_is_somebody_else(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider, named: str, signed_in: str, lets_in: bool
) -> None:
    """C5: the case of letters makes no difference, and nothing else is taken for the same."""
    _, link = await held(guarded, person=named, instructions="canary-instructions")
    provider.user["email"] = signed_in
    door = await browser.get(f"{link}/signin")
    page = await browser.post(f"{link}/enter", data={"step": "enter", "entry": entry_of(door.text)})
    assert ("canary-instructions" in page.text) is await spent(guarded, link) is lets_in


async def test_whoever_has_a_link_of_a_request_for_anybody_signs_in_too(
    guarded: Site, browser: httpx.AsyncClient
) -> None:
    """Fail closed: neither looking nor any step is possible before."""
    _, link = await held(guarded, instructions="canary-instructions")
    path = link.removeprefix(guarded.base_url)
    for step in LinkStep:
        page = await browser.post(f"{path}/enter", data={"step": step, "entry": "e", "tab": "t"})
        assert texts.SIGN_IN[0] in page.text and "canary" not in page.text
    door = await browser.get(f"{path}/signin")
    assert texts.ENTRY[0] in door.text
    page = await browser.post(f"{path}/enter", data={"step": "enter", "entry": entry_of(door.text)})
    assert "canary-instructions" in page.text


async def test_the_same_person_takes_it_over_in_another_browser_and_nobody_else(
    guarded: Site, chromium: Browser, provider: Provider
) -> None:
    """C5: at the laptop what was opened on the phone, by a click."""
    _, link = await held(guarded, person=ADA)
    async with at_browser(chromium) as phone, at_browser(chromium) as laptop:
        first, second = await phone.new_page(), await laptop.new_page()
        await first.goto(link)
        await first.get_by_role("link", name=texts.SIGN_IN_BUTTON).click()
        await headed(first, "Sign in at portal.example")
        await second.goto(link)
        await second.get_by_role("link", name=texts.SIGN_IN_BUTTON).click()
        await headed(second, texts.ELSEWHERE[0])
        await second.get_by_role("button", name=texts.TAKE).click()
        await headed(second, "Sign in at portal.example")
        await expect(first.get_by_role("button", name="Done")).to_have_count(0, timeout=30_000)
        await headed(first, texts.ELSEWHERE[0])


async def test_who_signs_out_or_in_as_somebody_else_has_left_the_seat(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider
) -> None:
    """C5: the cookie that stayed in the browser lets nobody in without its person."""
    handoff_id, link = await held(guarded, instructions="canary-instructions")
    path = link.removeprefix(guarded.base_url)
    door = await browser.get(f"{path}/signin")
    entry = {"step": "enter", "entry": entry_of(door.text)}
    assert "canary-instructions" in (await browser.post(f"{path}/enter", data=entry)).text
    await browser.post("/signout")
    assert "canary" not in (await browser.get(path)).text
    await browser.post(f"{path}/reply", data={"answer": "done"})
    assert (await guarded.world.client.summary(handoff_id)).answer is None
    provider.user["email"] = EVE
    assert "canary" not in (await browser.get(f"{path}/signin")).text
    provider.user["email"] = ADA
    await browser.post("/signout")
    assert "canary-instructions" in (await browser.get(f"{path}/signin")).text


@pytest.mark.parametrize(
    "wrong",
    [
        {"lies": {"nonce": "another"}},
        {"lies": {"iss": "https://evil.example"}},
        {"lies": {"aud": "somebody-else"}},
        {"lies": {"exp": 1}},
        {"lies": {"email_verified": False}},
        {"lies": {"email_verified": "true"}},
        {"lies": {"email": ""}},
        {"strange_key": True},
        {"refuses": True},
    ],
    ids=str,
)
async def test_what_the_provider_does_not_vouch_for_is_not_believed(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider, wrong: dict[str, Any]
) -> None:
    for name, value in wrong.items():
        setattr(provider, name, value)
    _, link = await held(guarded, person=ADA)
    path = link.removeprefix(guarded.base_url)
    page = await browser.get(f"{path}/signin")
    assert page.status_code == 403 and texts.NOT_SIGNED_IN[0] in page.text
    assert texts.SIGN_IN[0] in (await browser.get(path)).text


async def test_a_return_that_this_browser_did_not_ask_for_signs_nobody_in(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider
) -> None:
    """The state is in the browser's own cookie: another one cannot be made to use it."""
    async with httpx.AsyncClient(base_url=guarded.base_url, timeout=30) as other:
        begun = await other.get("/signin/oidc")
        at_provider = await other.get(begun.headers["location"])
    page = await browser.get(at_provider.headers["location"])
    assert page.status_code == 403 and texts.NOT_SIGNED_IN[0] in page.text
    assert (await browser.get("/signin/callback?code=x&state=y")).status_code == 403
    assert texts.SIGN_IN_INBOX[1] in (await browser.get("/")).text


async def test_the_inbox_shows_people_their_own_and_operators_all(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider
) -> None:
    """F8."""
    mine, _ = await held(guarded, person=ADA)
    others, _ = await held(guarded, person=EVE)
    for email, seen in ((ADA, {mine}), ("boss@example.org", {mine, others}), ("nobody@example.org", set())):
        provider.user["email"] = email
        page = (await browser.get("/signin/oidc")).text
        async with httpx.AsyncClient(timeout=30):
            for _ in range(50):
                if all(handoff_id in page for handoff_id in seen):
                    break
                page = (await browser.get("/")).text
        assert {handoff_id for handoff_id in (mine, others) if handoff_id in page} == seen


async def test_a_provider_that_is_away_is_said(world: World) -> None:
    gone = {"issuer": f"http://localhost:{free_port()}", "client_id": "x", "client_secret": "y"}
    async with open_site(world, oidc=gone) as site, httpx.AsyncClient(timeout=30) as http:
        page = await http.get(f"{site.base_url}/signin/oidc")
        assert page.status_code == 503 and texts.NO_PROVIDER[0] in page.text


async def test_nothing_of_a_sign_in_reaches_a_log(
    guarded: Site, browser: httpx.AsyncClient, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    """C6, K41."""
    handoff_id, link = await held(guarded, person=ADA)
    path = link.removeprefix(guarded.base_url)
    with caplog.at_level(logging.DEBUG):
        await browser.get(f"{path}/signin")
        provider.strange_key = True
        await browser.get(f"{path}/signin")
    written = "\n".join(f"{r.getMessage()} {r.args}" for r in caplog.records if not r.name.startswith("http"))
    assert re.search(r"GET /j/\{token\}/signin 302", written) and "sign-in by OpenID Connect failed" in written
    for secret in (link.rpartition("/")[2], ADA, provider.asked[-1]["state"], provider.asked[-1]["nonce"]):
        assert secret not in written
    assert (await guarded.world.client.summary(handoff_id)).state is HandoffState.HELD
