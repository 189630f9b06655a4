"""What is observed while a person has the browser, and what differs afterwards."""

import asyncio

from examples.portal import Portal
from tests.desktop.policy.pages import Pages
from tests.desktop.support import Agent, code_of
from tests.waiting import until
from user_handoff.contract.conditions import AllOf, Element, Not, Url
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import BeginReceipt, GuardHold, HoldEnd, HoldRequest

SIGNED_IN = AllOf(Url("**/invoices"), Element(role="heading", name="Invoices"))


def watching(agent: Agent, receipt: BeginReceipt, watch: AllOf | Not | Url) -> "asyncio.Task[HoldEnd]":
    request = GuardHold(**agent.named(receipt).model_dump(), watch=watch)
    return asyncio.create_task(agent.desktop.guard(request))


async def test_what_a_person_does_is_observed_while_they_have_the_browser(
    agent: Agent, portal: Portal, looked_in_vain: asyncio.Event
) -> None:
    """B4: the hold stands all the same; it ends by its fence alone."""
    receipt = await agent.begin()
    guard = watching(agent, receipt, SIGNED_IN)
    await until(looked_in_vain.is_set)
    assert not guard.done()
    await _person_signs_in(agent, portal)
    async with asyncio.timeout(30):
        end = await guard
    assert end.how == "observed" and end.observation is not None and end.observation.met
    assert (await agent.info()).state == "held"
    finished = await agent.finish(receipt)
    assert finished.changes is not None
    assert "sid 127.0.0.1" in finished.changes.cookies_added
    assert f"{portal.url}/invoices" in finished.changes.pages_opened
    assert f"{portal.url}/login" in finished.changes.pages_left
    assert finished.changes.titles and finished.changes.whole
    told = finished.model_dump_json()
    assert not [secret for secrets in portal.planted.values() for secret in secrets if secret in told]


async def _person_signs_in(agent: Agent, portal: Portal) -> None:
    """Stands for the person, whose hands are not held back: the cookie comes, and their page goes on."""
    browser = agent.desktop.browsers.get(agent.browser_id)
    page = browser.page(None).page
    await page.evaluate(f"document.cookie='sid={portal.sign_in_cookie()};path=/'; location.href='/invoices'")


async def test_a_hold_that_ends_before_anything_is_seen_is_told_as_it_ended(agent: Agent) -> None:
    receipt = await agent.begin()
    guard = watching(agent, receipt, SIGNED_IN)
    await agent.finish(receipt)
    await agent.look()
    async with asyncio.timeout(30):
        assert (await guard).how == "recovered"


async def test_new_keys_of_storage_are_told_by_name_without_what_looks_like_a_token(agent: Agent, pages: Pages) -> None:
    """F6: keys and names alone; what could be a secret in a name is blanked."""
    await agent.go(pages.put("<title>One</title><h1>Shop</h1>"))
    receipt = await agent.begin()
    page = agent.desktop.browsers.get(agent.browser_id).page(None).page
    await page.evaluate("localStorage.setItem('theme', 'planted-value')")
    await page.evaluate("sessionStorage.setItem('user:robin@example.com:a1b2c3d4e5f6a7b8c9', 'x')")
    changes = (await agent.finish(receipt)).changes
    assert changes is not None
    assert any(each.endswith(" theme") for each in changes.storage_added)
    told = changes.model_dump_json()
    assert "planted-value" not in told and "robin@" not in told and "a1b2c3d4e5f6a7b8c9" not in told
    assert not changes.cookies_added and not changes.pages_opened


async def test_a_fence_of_another_hold_watches_nothing(agent: Agent) -> None:
    receipt = await agent.begin()
    named = HoldRequest(handoff_id=receipt.handoff_id, browser_id=agent.browser_id, handoff_fence="other")
    request = GuardHold(**named.model_dump(), watch=SIGNED_IN)
    assert await code_of(agent.desktop.guard(request)) is ErrorCode.FENCE_MISMATCH
