"""A browser given to a person and taken back, on a real desktop."""

import asyncio
from typing import Any

import psutil
import pytest

from examples import person
from examples.portal import Portal
from tests.desktop.support import Agent, code_of, move
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import handoff as h
from user_handoff.contract.errors import ErrorCode, HandoffError, Held, Refused, Stale
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop


async def test_begin_names_fence_surface_and_expiry(agent: Agent) -> None:
    """A3, A6."""
    receipt = await agent.begin(timeout_seconds=60)
    assert len(receipt.handoff_fence) >= 20
    assert receipt.surface.pid == (await agent.info()).pid
    assert 55 < receipt.expires_in_seconds <= 60


async def test_a_hold_is_capped_by_the_browsers_lifetime(desktop: Desktop) -> None:
    """A8."""
    agent = await Agent.open(desktop, lifetime_seconds=30)
    receipt = await agent.begin(timeout_seconds=600)
    assert receipt.expires_in_seconds <= 30
    await agent.close()


async def test_the_same_begin_again_returns_the_running_hold_and_does_not_renew_it(agent: Agent) -> None:
    """A7."""
    association = agent.association()
    first = await agent.begin(association, timeout_seconds=60)
    again = await agent.begin(association, timeout_seconds=600)
    assert again.handoff_fence == first.handoff_fence
    assert again.expires_at == first.expires_at
    assert again.expires_in_seconds <= first.expires_in_seconds


async def test_another_begin_on_a_held_browser_is_refused_and_the_first_stands(agent: Agent) -> None:
    """K13."""
    first = await agent.begin()
    assert await code_of(agent.begin()) is ErrorCode.HANDOFF_ACTIVE
    assert (await agent.finish(first)).state is h.HandoffState.RECOVERING


async def test_another_principal_cannot_hand_it_over(agent: Agent) -> None:
    """A5."""
    assert await code_of(agent.begin(owner="agent:other")) is ErrorCode.NOT_OWNER
    assert (await agent.info()).state == "open"


@pytest.mark.parametrize("kind", ["visible", "persistent"])
async def test_a_headless_or_ephemeral_browser_cannot_be_handed_over(desktop: Desktop, kind: str) -> None:
    """A1: refused before any hold exists."""
    options: dict[str, Any] = {kind: False}
    agent = await Agent.open(desktop, **options)
    assert await code_of(agent.begin()) is ErrorCode.NOT_HANDOVERABLE
    assert (await agent.info()).state == "open"
    profile = desktop.browsers.folder / agent.browser_id / "profile"
    assert profile.exists()
    await agent.close()
    assert profile.exists() is (kind != "persistent")


async def test_while_held_every_page_effect_is_refused_and_looking_works(agent: Agent, portal: Portal) -> None:
    """A9, K01."""
    page = await agent.look()
    button = page.find(role="button", name="Need help?")
    before = portal.state()["touches"]
    receipt = await agent.begin()
    names = {"browser_id": agent.browser_id, "effect_id": new_id("e")}
    effects: list[b.PageEffect] = [
        b.Click(**names, element_id=button),
        b.Fill(**names, element_id=button, text="x"),
        b.Press(**names, key="Enter"),
        b.Select(**names, element_id=button, labels=("x",)),
        b.Navigate(**names, url=portal.url),
        b.Back(**names),
        b.ClosePage(**names),
    ]
    for effect in effects:
        with pytest.raises(Held) as held:
            await agent.desktop.act(effect)
        assert held.value.code is ErrorCode.BROWSER_HELD
        assert held.value.details["handoff_id"] == receipt.handoff_id
    assert "Sign in" in (await agent.look()).text
    assert (await agent.info()).state == "held"
    assert portal.state()["touches"] == before


async def test_while_held_the_whole_desktop_is_closed_to_native_effects(agent: Agent) -> None:
    """A10."""
    await agent.begin()
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD


async def test_another_browser_goes_on_while_one_is_held(agent: Agent, portal: Portal) -> None:
    """A10: shared is what the desktop shares."""
    await agent.begin()
    other = await Agent.open(agent.desktop, f"{portal.url}/login")
    receipt = await other.click((await other.look()).find(role="button", name="Need help?"))
    assert receipt.outcome is b.EffectOutcome.COMPLETED
    await other.close()


async def test_the_persons_native_input_reaches_the_held_page(agent: Agent, portal: Portal) -> None:
    """A10, K40."""
    receipt = await agent.begin()
    await person.act("only-type", display(agent.desktop), receipt.surface.window_id, portal)
    page = await agent.look()
    assert portal.password not in page.model_dump_json()
    assert "[value withheld]" in page.text


async def test_finish_needs_the_exact_fence(agent: Agent) -> None:
    """A12, K25."""
    receipt = await agent.begin()
    wrong = agent.named(receipt).model_copy(update={"handoff_fence": receipt.handoff_fence[:-1]})
    assert await code_of(agent.desktop.finish(wrong)) is ErrorCode.FENCE_MISMATCH
    assert (await agent.info()).state == "held"


async def test_finish_again_returns_the_same_receipt(agent: Agent) -> None:
    """A17."""
    receipt = await agent.begin()
    assert await agent.finish(receipt) == await agent.finish(receipt)


async def test_after_finish_a_page_needs_its_own_look_before_effects(agent: Agent, portal: Portal) -> None:
    """A12, A16."""
    await agent.go(f"{portal.url}/windows")
    await agent.click((await agent.look()).find(role="link", name="Open a tab"))
    await until(lambda: len(agent.desktop.browsers.get(agent.browser_id).pages) == 2)
    receipt = await agent.begin()
    first, second = (await agent.finish(receipt)).pages
    assert first.needs_snapshot
    assert second.needs_snapshot
    go = b.Navigate(browser_id=agent.browser_id, page_id=first.page_id, effect_id=new_id("e"), url=portal.url)
    assert await code_of(agent.desktop.act(go)) is ErrorCode.BROWSER_HELD
    await agent.look(second.page_id)
    assert await code_of(agent.desktop.act(go)) is ErrorCode.SNAPSHOT_REQUIRED
    await agent.look(first.page_id)
    assert (await agent.desktop.act(go)).outcome is b.EffectOutcome.COMPLETED


async def test_native_input_comes_back_at_the_first_look_and_not_before(agent: Agent) -> None:
    """A12."""
    receipt = await agent.begin()
    await agent.finish(receipt)
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD
    await agent.look()
    assert (await move(agent.desktop)).outcome is b.EffectOutcome.COMPLETED


async def test_ids_from_before_the_handoff_are_dead_after_it(agent: Agent) -> None:
    """A13."""
    before = (await agent.look()).find(role="button", name="Need help?")
    receipt = await agent.begin()
    during = (await agent.look()).find(role="button", name="Need help?")
    await agent.finish(receipt)
    await agent.look()
    for old in (before, during):
        with pytest.raises(Stale):
            await agent.click(old)


async def test_after_finish_the_association_cannot_begin_again(agent: Agent) -> None:
    """A18."""
    association = agent.association()
    receipt = await agent.begin(association)
    await agent.finish(receipt)
    await agent.look()
    assert await code_of(agent.begin(association)) is ErrorCode.ASSOCIATION_USED


async def test_expiry_leaves_the_browser_paused_until_finish(agent: Agent) -> None:
    """A14, A16."""
    receipt = await agent.begin(timeout_seconds=1)
    hold = agent.desktop.holds
    await hold.wait_phase(receipt.handoff_id, "expired")
    assert await code_of(move(agent.desktop)) is ErrorCode.DESKTOP_HELD
    await agent.finish(receipt)
    await agent.look()
    assert (await move(agent.desktop)).outcome is b.EffectOutcome.COMPLETED


async def test_a_hold_protects_an_idle_browser_and_expiry_ends_that(desktop: Desktop) -> None:
    """A8, A14, A15, K06."""
    agent = await Agent.open(desktop, idle_seconds=1)
    receipt = await agent.begin(timeout_seconds=3)
    guard = asyncio.create_task(desktop.guard(agent.named(receipt)))
    await desktop.holds.wait_phase(receipt.handoff_id, "expired")
    assert agent.browser_id in desktop.browsers.ids
    end = await asyncio.wait_for(guard, 30)
    assert (end.how, end.reason) == ("revoked", h.RevokeReason.IDLE)


async def test_closing_the_browser_ends_the_hold_and_frees_the_desktop(desktop: Desktop) -> None:
    """A9, A15."""
    agent = await Agent.open(desktop)
    receipt = await agent.begin()
    guard = asyncio.create_task(desktop.guard(agent.named(receipt)))
    await agent.close()
    assert (await asyncio.wait_for(guard, 30)).how == "closed"
    assert (await move(desktop)).outcome is b.EffectOutcome.COMPLETED


async def test_the_guard_says_recovered_after_the_first_look(agent: Agent) -> None:
    receipt = await agent.begin()
    guard = asyncio.create_task(agent.desktop.guard(agent.named(receipt)))
    await agent.finish(receipt)
    assert not guard.done()
    await agent.look()
    assert (await asyncio.wait_for(guard, 30)).how == "recovered"


async def test_a_killed_chromium_revokes_the_hold(desktop: Desktop) -> None:
    """A15, K32."""
    agent = await Agent.open(desktop)
    receipt = await agent.begin()
    guard = asyncio.create_task(desktop.guard(agent.named(receipt)))
    psutil.Process((await agent.info()).pid).kill()
    end = await asyncio.wait_for(guard, 30)
    assert (end.how, end.reason) == ("revoked", h.RevokeReason.BROWSER_CRASHED)
    assert (await move(desktop)).outcome is b.EffectOutcome.COMPLETED


async def test_an_effect_that_does_not_end_in_time_fails_begin_and_leaves_nothing(agent: Agent, portal: Portal) -> None:
    """A11, K11."""
    before = portal.state()["requests"].get("GET /silent", 0)
    slow = asyncio.create_task(agent.go(f"{portal.url}/silent", seconds=4))
    await until(lambda: portal.state()["requests"].get("GET /silent", 0) > before)
    with pytest.raises(Refused) as refused:
        await agent.begin(drain_seconds=0.5)
    assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
    assert (await agent.info()).state == "open"
    assert (await move(agent.desktop)).outcome is b.EffectOutcome.COMPLETED
    with pytest.raises(HandoffError):
        await slow


async def test_begin_waits_for_an_effect_in_flight(agent: Agent, portal: Portal) -> None:
    """A11, K11."""
    await agent.go(f"{portal.url}/slow?ms=800")
    before = portal.state()["touches"]
    effect_id = new_id("e")
    click = asyncio.create_task(agent.click((await agent.look()).find(role="button", name="Slow"), effect_id))
    await until(lambda: agent.desktop._effects._ledger.see_effect(effect_id) is not None)
    await agent.begin()
    assert click.done()
    assert (await click).outcome is b.EffectOutcome.COMPLETED
    await portal.wait_for(lambda state: state["touches"] == before + 1)


async def test_a_look_across_the_begin_of_a_hold_is_thrown_away(agent: Agent, portal: Portal) -> None:
    """F2."""
    await agent.go(f"{portal.url}/big?n=8000")
    look = asyncio.create_task(agent.look())
    page = agent.desktop.browsers.get(agent.browser_id).page(None)
    await until(page.looking.locked)
    await agent.begin()
    assert await code_of(look) is ErrorCode.OBSERVATION_DISCARDED


async def test_a_popup_that_the_person_opens_is_found_after_finish(agent: Agent, portal: Portal) -> None:
    """B3, K31."""
    await agent.go(f"{portal.url}/windows")
    receipt = await agent.begin()
    await person.act("keys", display(agent.desktop), receipt.surface.window_id, portal, keys=["Control_L+t"])
    browser = agent.desktop.browsers.get(agent.browser_id)
    await until(lambda: len(browser.pages) == 2)
    assert len((await agent.finish(receipt)).pages) == 2


def display(desktop: Desktop) -> dict[str, str]:
    """The environment of somebody at this desktop."""
    return desktop.display.environment()


async def test_a_navigation_and_a_dialog_of_the_person_change_nothing_of_who_has_control(
    agent: Agent, portal: Portal
) -> None:
    """K80, A16: only an explicit act does."""
    await agent.go(f"{portal.url}/consent")
    receipt = await agent.begin()
    browser = agent.desktop.browsers.get(agent.browser_id)
    epoch, loads = browser.control_epoch, list[object]()
    browser.page(None).page.on("load", lambda page: loads.append(page))
    await person.act("keys", display(agent.desktop), receipt.surface.window_id, portal, keys=["F5"])
    await until(lambda: loads)
    page = browser.page(None).page
    await page.evaluate("setTimeout(() => confirm('Sure?'))")
    assert (await agent.info()).state == "held"
    assert browser.control_epoch == epoch
    assert await code_of(agent.desktop.act(navigate(agent, portal))) is ErrorCode.BROWSER_HELD


def navigate(agent: Agent, portal: Portal) -> b.Navigate:
    return b.Navigate(browser_id=agent.browser_id, effect_id=new_id("e"), url=portal.url)
