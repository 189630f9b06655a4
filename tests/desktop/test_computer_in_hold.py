"""The whole desktop beside a handoff: nothing is done on it, and what is seen is bounded."""

from pathlib import Path

import pytest

from tests.desktop.hands import Hands, refused
from tests.desktop.support import Agent
from tests.desktop.surfaces.programs import program, window
from tests.waiting import until
from user_handoff.contract import computer as c
from user_handoff.contract.errors import ErrorCode, Held
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.input.clipboard import Clipboard
from user_handoff.desktop.start import DesktopSettings

ACTIONS: tuple[c.ComputerAction, ...] = (
    c.Move(x=5, y=5),
    c.ClickAt(x=5, y=5),
    c.TypeText(text="x"),
    c.PressKeys(keys=("a",)),
    c.Scroll(x=5, y=5, down=1),
    c.Drag(x=5, y=5, to_x=9, to_y=9),
    c.SetClipboard(text="x"),
    c.GetClipboard(),
    c.ClearClipboard(),
    c.Launch(argv=("sleep", "5")),
)


async def test_while_held_every_native_effect_is_refused_before_anything_else_of_it(agent: Agent, hands: Hands) -> None:
    """A10, K01, E7: held comes first, then the generation."""
    receipt = await agent.begin()
    for action in ACTIONS:
        for generation in ("g_none", None):
            error = await refused(hands.act(action, generation))
            assert isinstance(error, Held)
            assert error.code is ErrorCode.DESKTOP_HELD
            assert error.details["handoff_id"] == receipt.handoff_id


async def test_while_held_windows_are_listed_without_the_titles_of_that_browser(agent: Agent, hands: Hands) -> None:
    """A9, A10."""
    pid = (await agent.info()).pid
    await until(lambda: _has_title_of(hands, pid))
    with program(hands.desktop.display, window("Other title", (50, 60, 300, 200))) as other:
        await until(lambda: hands.sees(other))
        await agent.begin()
        windows = (await hands.look()).windows
    mine = [one for one in windows if one.pid == pid]
    assert mine
    assert all(one.title == "" and one.title_withheld for one in mine)
    assert "Other title" in [one.title for one in windows]


async def _has_title_of(hands: Hands, pid: int) -> bool:
    return any(one.title for one in (await hands.look()).windows if one.pid == pid)


async def test_while_held_no_picture_of_the_desktop_is_taken(agent: Agent, hands: Hands, desktop: Desktop) -> None:
    """B7, K40: nothing would mask what a person types."""
    receipt = await agent.begin()
    before = set(desktop._pictures.iterdir())
    error = await refused(hands.look(screenshot=True))
    assert error.code is ErrorCode.DESKTOP_HELD
    assert error.details["handoff_id"] == receipt.handoff_id
    assert set(desktop._pictures.iterdir()) == before


async def test_a_picture_is_taken_in_a_hold_where_the_runner_was_told_to(
    agent: Agent, hands: Hands, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B7: by the operator's setting alone; no agent can ask for it."""
    assert DesktopSettings(folder=Path()).pictures_in_hold is False
    monkeypatch.setenv("HANDOFF_PICTURES_IN_HOLD", "1")
    assert DesktopSettings(folder=Path()).pictures_in_hold is True
    monkeypatch.setattr(desktop._computer, "_pictures_in_hold", True)
    await agent.begin()
    assert (await hands.look(screenshot=True)).picture is not None


async def test_every_generation_is_dead_after_a_change_of_control(agent: Agent, hands: Hands) -> None:
    """A13: looks of before and of during the handoff."""
    before = await hands.look()
    receipt = await agent.begin()
    during = await hands.look()
    await agent.finish(receipt)
    await agent.look()
    for look in (before, during):
        error = await refused(hands.act(c.Move(x=5, y=5), look.generation))
        assert error.code is ErrorCode.STALE_GENERATION
    await hands.act(c.Move(x=5, y=5))


async def test_what_a_person_copied_during_the_hold_is_not_read_out(agent: Agent, hands: Hands) -> None:
    """B7: it may be a password; once something else is there, that can be read."""
    person = Clipboard(hands.desktop.display, lambda: False)
    try:
        receipt = await agent.begin()
        person.set("secret of a person")
        await agent.finish(receipt)
        await agent.look()
        error = await refused(hands.act(c.GetClipboard()))
        assert error.code is ErrorCode.CLIPBOARD_WITHHELD
        assert "secret" not in str(error)
        await hands.act(c.SetClipboard(text="mine"))
        assert (await hands.act(c.GetClipboard())).text == "mine"
    finally:
        person.close()
