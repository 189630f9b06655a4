"""Observing conditions in a real browser that nobody acts on."""

import asyncio

from examples.portal import Portal
from tests.desktop.support import Agent
from user_handoff.contract.conditions import AllOf, Condition, Element, Observation, Probe, Url
from user_handoff.contract.handoff import CheckCondition


async def check(agent: Agent, condition: Condition, seconds: float = 0.1) -> Observation:
    request = CheckCondition(browser_id=agent.browser_id, condition=condition, timeout_seconds=seconds)
    return await agent.desktop.check(request)


async def test_a_url_is_observed_without_its_query(agent: Agent, portal: Portal) -> None:
    """B4, B7."""
    await agent.go(f"{portal.url}/popup?token=SECRET#frag")
    seen = await check(agent, Url("**/popup"))
    assert seen.met
    assert "SECRET" not in seen.model_dump_json()
    assert not (await check(agent, Url("**/invoices"))).met


async def test_an_element_is_observed_by_role_and_exact_name(agent: Agent) -> None:
    """B4."""
    assert (await check(agent, Element(role="heading", name="Sign in"))).met
    assert not (await check(agent, Element(role="heading", name="Sign"))).met
    assert not (await check(agent, Element(role="button", name="Sign out"))).met


async def test_a_probe_shares_the_cookies_and_follows_no_redirect(agent: Agent, portal: Portal) -> None:
    """B4, K20: before the login the portal redirects, which is no success."""
    probe = Probe(url=f"{portal.url}/account")
    before = await check(agent, probe)
    assert (before.met, before.facts) == (False, ("probe 303",))
    browser = agent.desktop.browsers.get(agent.browser_id)
    await browser.context.add_cookies([{"name": "sid", "value": portal.sign_in_cookie(), "url": portal.url}])
    assert (await check(agent, probe)).met


async def test_a_probe_that_nobody_answers_is_not_met(agent: Agent) -> None:
    assert (await check(agent, Probe(url="http://127.0.0.1:9/"))).facts == ("probe: no answer",)


async def test_all_conditions_must_hold_at_one_look(agent: Agent) -> None:
    heading = Element(role="heading", name="Sign in")
    assert (await check(agent, AllOf(Url("**/login"), heading))).met
    assert not (await check(agent, AllOf(Url("**/invoices"), heading))).met


async def test_a_condition_that_comes_true_in_time_is_met(agent: Agent, portal: Portal) -> None:
    """B4."""
    waiting = asyncio.create_task(check(agent, Url("**/popup"), seconds=10))
    await agent.look()
    await agent.go(f"{portal.url}/popup")
    seen = await waiting
    assert seen.met
    assert seen.seconds < 10
