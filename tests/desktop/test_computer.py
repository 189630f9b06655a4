"""Looking at the whole desktop, and acting on it once for each look."""

import asyncio
import hashlib
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.desktop.hands import Hands, refused, two_windows, value_is
from tests.desktop.support import Agent
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.errors import ErrorCode, Refused, Stale
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.input import generations

# --- looking ---


async def test_windows_are_listed_with_owner_title_place_and_focus(page: Page, editor: Agent, hands: Hands) -> None:
    await until(lambda: hands.sees_title("Canary title"))
    look = await hands.look()
    browser = editor.desktop.browsers.get(editor.browser_id)
    surface = await editor.desktop.holds.resolve(browser)
    seen = next(one for one in look.windows if one.window_id == surface.window_id)
    assert (seen.pid, seen.focused) == (surface.pid, True)
    assert (seen.x, seen.y, seen.width, seen.height) == (surface.x, surface.y, surface.width, surface.height)
    assert look.focused_window == seen.window_id
    assert [one.focused for one in look.windows].count(True) == 1


async def test_a_picture_of_the_desktop_stays_on_it(hands: Hands) -> None:
    """B7: only its place and digest travel."""
    picture = (await hands.look(screenshot=True)).picture
    assert picture is not None
    content = await asyncio.to_thread(Path(picture.path).read_bytes)
    assert hashlib.sha256(content).hexdigest() == picture.sha256
    assert (picture.width, picture.height) == (1280, 800)
    assert (await asyncio.to_thread(Path(picture.path).stat)).st_mode & 0o777 == 0o600


# --- one effect for each look ---


async def test_a_generation_is_spent_by_one_effect(hands: Hands) -> None:
    """A13."""
    look = await hands.look()
    await hands.act(c.Move(x=5, y=5), look.generation)
    error = await refused(hands.act(c.Move(x=6, y=6), look.generation))
    assert error.code is ErrorCode.STALE_GENERATION


async def test_only_the_latest_look_counts(hands: Hands) -> None:
    """A13."""
    first, second = await hands.look(), await hands.look()
    assert (await refused(hands.act(c.Move(x=6, y=6), first.generation))).code is ErrorCode.STALE_GENERATION
    await hands.act(c.Move(x=6, y=6), second.generation)


async def test_a_look_is_worth_nothing_after_a_while(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    look = await hands.look()
    monkeypatch.setattr(generations, "MAX_AGE_SECONDS", 0.0)
    assert (await refused(hands.act(c.Move(x=6, y=6), look.generation))).code is ErrorCode.STALE_GENERATION


async def test_what_was_seen_while_an_effect_ran_is_dead_after_it(page: Page, hands: Hands) -> None:
    effect_id = new_id("e")
    running = asyncio.create_task(hands.act(c.TypeText(text="a" * 2_000), None, effect_id))
    await until(lambda: hands.ledger.see_effect(effect_id))
    look = await hands.look()
    assert not running.done()
    await running
    assert (await refused(hands.act(c.Move(x=6, y=6), look.generation))).code is ErrorCode.STALE_GENERATION


async def test_an_effect_that_lacks_what_it_needs_spends_nothing(hands: Hands) -> None:
    look = await hands.look()
    assert (await refused(hands.act(c.Move(x=9_999, y=6), look.generation))).code is ErrorCode.INVALID_REQUEST
    await hands.act(c.Move(x=6, y=6), look.generation)


async def test_keys_go_nowhere_when_the_focus_has_moved_since_the_look(desktop: Desktop, hands: Hands) -> None:
    """K60: generation and focus are checked right before."""
    with two_windows(desktop) as target:
        await hands.focus(target, 0)
        look = await hands.look()
        await hands.focus(target, 1)
        error = await refused(hands.act(c.TypeText(text="b"), look.generation))
        assert isinstance(error, Stale)
        assert error.code is ErrorCode.STALE_GENERATION
        assert target.typed() == ""


async def test_a_text_stops_where_the_focus_moves_in_its_middle(desktop: Desktop, hands: Hands) -> None:
    """K60: before each dispatch, not once an effect."""
    with two_windows(desktop) as target:
        await hands.focus(target, 0)
        running = asyncio.create_task(hands.act(c.TypeText(text="a" * 2_000)))
        await until(lambda: asyncio.to_thread(target.typed))
        target.tell("focus", 1)
        error = await refused(running)
        assert error.code is ErrorCode.OUTCOME_UNKNOWN
        assert error.details["because"] == ErrorCode.STALE_GENERATION
        assert 0 < error.details["typed"] < 2_000


# --- at most once ---


async def test_the_same_effect_again_is_not_done_again_and_has_the_same_receipt(page: Page, hands: Hands) -> None:
    """A17."""
    look, effect_id = await hands.look(), new_id("e")
    first = await hands.act(c.TypeText(text="once "), look.generation, effect_id)
    again = await hands.act(c.TypeText(text="once "), look.generation, effect_id)
    assert again == first
    await hands.act(c.TypeText(text="."))
    await until(lambda: value_is(page, "once ."))


async def test_another_native_effect_under_the_same_id_is_refused(hands: Hands) -> None:
    """A17, K24."""
    effect_id = new_id("e")
    await hands.act(c.Move(x=6, y=6), None, effect_id)
    assert (await refused(hands.act(c.Move(x=7, y=6), None, effect_id))).code is ErrorCode.ID_REUSED
    assert (await hands.act(c.Move(x=6, y=6), None, effect_id)).outcome is b.EffectOutcome.COMPLETED


async def test_the_same_effect_asked_twice_at_once_is_done_once(page: Page, hands: Hands) -> None:
    """A17, K12."""
    look, effect_id = await hands.look(), new_id("e")
    one, two = await asyncio.gather(
        *(hands.act(c.TypeText(text="twice? "), look.generation, effect_id) for _ in range(2))
    )
    assert one == two
    await hands.act(c.TypeText(text="."))
    await until(lambda: value_is(page, "twice? ."))


async def test_what_was_read_is_told_again_and_not_written_down(desktop: Desktop, hands: Hands) -> None:
    """A17, B7."""
    await hands.act(c.SetClipboard(text="canary-of-the-clipboard"))
    look, effect_id = await hands.look(), new_id("e")
    first = await hands.act(c.GetClipboard(), look.generation, effect_id)
    again = await hands.act(c.GetClipboard(), look.generation, effect_id)
    assert again == first
    assert again.text == "canary-of-the-clipboard"
    kept = desktop._effects._ledger.see_effect(effect_id)
    assert kept is not None
    assert "canary" not in kept


async def test_a_refused_effect_may_be_asked_again_under_its_id(hands: Hands) -> None:
    """A17: it was not started."""
    effect_id = new_id("e")
    assert (await refused(hands.act(c.Move(x=6, y=6), "g_old", effect_id))).code is ErrorCode.STALE_GENERATION
    assert (await hands.act(c.Move(x=6, y=6), None, effect_id)).outcome is b.EffectOutcome.COMPLETED


# --- launching ---


async def test_no_program_is_launched_unless_it_is_allowed(hands: Hands) -> None:
    """E7: the list is empty by default."""
    error = await refused(hands.act(c.Launch(argv=("sleep", "5"))))
    assert isinstance(error, Refused)
    assert error.code is ErrorCode.LAUNCH_REFUSED
