"""A person takes control quickly, and by force from an agent that is stuck."""

import asyncio
import time

import pytest

from examples.portal import Portal
from tests.desktop.hands import Hands, more_typed, refused, two_windows
from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.reservation.records import STARTED


async def test_begin_waits_a_moment_alone_for_a_long_text(desktop: Desktop, agent: Agent) -> None:
    """F1, A11, K11: chunks are short."""
    hands, me = Hands(desktop), desktop.holds._me
    ledger = hands.ledger
    waits = []
    with two_windows(desktop) as target:
        for number in range(10):
            await hands.focus(target, 0)
            text = "a" * 3_000 if number % 2 else "a" * 50 + "漢" * 3_000
            running = asyncio.create_task(hands.act(c.TypeText(text=text)))
            before = await asyncio.to_thread(target.typed)
            await until(lambda before=before: more_typed(target, before))  # type: ignore[misc]
            began = time.monotonic()
            ledger.publish("h_test", agent.browser_id, "handoff", me, "h_test")
            try:
                await ledger.drain("h_test", 5)
                waits.append(time.monotonic() - began)
                assert (await refused(running)).code is ErrorCode.OUTCOME_UNKNOWN
            finally:
                ledger.withdraw("h_test")
    assert sorted(waits)[-1] < 0.1, waits


async def test_a_person_can_cut_off_a_click_that_is_stuck(agent: Agent, portal: Portal) -> None:
    """F1: its outcome is said to be unknown, and the hold stands."""
    page = agent.desktop.browsers.get(agent.browser_id).page(None).page
    button = (await agent.look()).find(role="button", name="Need help?")
    await page.evaluate("""() => { const cover = document.createElement('div');
        cover.style = 'position:fixed;inset:0;z-index:9'; document.body.append(cover) }""")
    click = b.Click(browser_id=agent.browser_id, effect_id=new_id("e"), element_id=button, timeout_seconds=60)
    stuck = asyncio.create_task(agent.desktop.act(click))
    await until(lambda: agent.desktop._effects._ledger.see_effect(click.effect_id) == STARTED)
    assert (await refused(agent.begin(drain_seconds=0.3))).code is ErrorCode.DRAIN_TIMEOUT
    assert not stuck.done()
    receipt = await agent.begin(drain_seconds=0.3, preempt=True)
    error = await refused(stuck)
    assert error.code is ErrorCode.OUTCOME_UNKNOWN
    assert error.details["handoff_id"] == receipt.handoff_id
    assert (await refused(agent.desktop.act(click))).code is ErrorCode.OUTCOME_UNKNOWN
    assert (await agent.info()).state == "held"


async def test_a_person_can_cut_off_a_navigation_that_is_stuck(agent: Agent, portal: Portal) -> None:
    """F1."""
    go = b.Navigate(browser_id=agent.browser_id, effect_id=new_id("e"), url=f"{portal.url}/silent", timeout_seconds=60)
    stuck = asyncio.create_task(agent.desktop.act(go))
    await until(lambda: agent.desktop._effects._ledger.see_effect(go.effect_id) == STARTED)
    await agent.begin(drain_seconds=0.5, preempt=True)
    assert (await refused(stuck)).code is ErrorCode.OUTCOME_UNKNOWN


async def test_a_person_can_cut_off_native_input_that_is_stuck(
    agent: Agent, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: it ends at its chunk."""
    with two_windows(agent.desktop) as target:
        await hands.focus(target, 0)
        # as an agent whose own checks hang: the hold alone does not end it
        monkeypatch.setattr(agent.desktop._effects._ledger, "recheck", lambda permit: None)
        running = asyncio.create_task(hands.act(c.TypeText(text="a" * 20_000)))
        await until(lambda: more_typed(target, ""))
        await agent.begin(drain_seconds=0.3, preempt=True)
        typed = await asyncio.to_thread(target.typed)
        assert (await refused(running)).code is ErrorCode.OUTCOME_UNKNOWN
        assert await asyncio.to_thread(target.typed) == typed


async def test_another_browsers_effect_is_not_cut_off(agent: Agent, portal: Portal) -> None:
    """F1: only what stands in the way."""
    other = await Agent.open(agent.desktop)
    try:
        go = asyncio.create_task(other.go(f"{portal.url}/silent", seconds=2))
        await until(lambda: agent.desktop.holds.permits() == 1)
        await agent.begin(drain_seconds=0.3, preempt=True)
        assert (await refused(go)).code is ErrorCode.NAVIGATION_FAILED
    finally:
        await other.close()
