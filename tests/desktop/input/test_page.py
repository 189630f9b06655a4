"""Native input on a real page: exactly what was asked for arrives."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.desktop.hands import Hands, log_of, place, two_windows, value_is
from tests.waiting import until
from user_handoff.contract import computer as c
from user_handoff.contract.errors import OutcomeUnknown

UNICODE = "P_a+s@s#{|} a.b-c äß漢😀 e\u0301 end"


@pytest.mark.parametrize("text", ["P_a+s@s#{|}", "a.b-c", "äß漢😀", UNICODE, "one\nzwei ü\n\t三\n"])
async def test_a_text_arrives_exactly_whatever_is_in_it(page: Page, hands: Hands, text: str) -> None:
    """K50: by keys where there are keys, else through the clipboard."""
    await page.evaluate(
        "t.addEventListener('keydown', e => { if (e.key === 'Tab') { e.preventDefault(); "
        "t.setRangeText('\\t', t.selectionStart, t.selectionEnd, 'end') } })"
    )
    await hands.act(c.TypeText(text=text))
    await until(lambda: value_is(page, text))


async def test_what_was_on_the_clipboard_is_there_again_after_a_paste(page: Page, hands: Hands) -> None:
    await hands.act(c.SetClipboard(text="before ü"))
    await hands.act(c.TypeText(text="漢字"))
    assert (await hands.act(c.GetClipboard())).text == "before ü"


async def test_nothing_of_a_paste_stays_on_an_empty_clipboard(page: Page, hands: Hands) -> None:
    await hands.act(c.ClearClipboard())
    await hands.act(c.TypeText(text="漢字"))
    assert (await hands.act(c.GetClipboard())).text == ""


async def test_what_no_window_takes_is_unknown_and_cleared_away(hands: Hands) -> None:
    """Late, it would find nothing rather than what was on the clipboard before."""
    await hands.act(c.SetClipboard(text="something of before"))
    with two_windows(hands.desktop) as target:
        await hands.focus(target, 0)
        with pytest.raises(OutcomeUnknown):
            await hands.act(c.TypeText(text="漢"))
        assert (await hands.act(c.GetClipboard())).text == ""


async def test_a_text_is_copied_from_a_page_and_pasted_into_it(page: Page, hands: Hands) -> None:
    await hands.act(c.TypeText(text="copy mé"))
    await hands.act(c.PressKeys(keys=("ctrl", "a")))
    await hands.act(c.PressKeys(keys=("ctrl", "c")))
    await until(lambda: _clipboard_is(hands, "copy mé"))
    await hands.act(c.SetClipboard(text="other ß"))
    await hands.act(c.PressKeys(keys=("ctrl", "v")))
    await until(lambda: value_is(page, "other ß"))


async def _clipboard_is(hands: Hands, text: str) -> bool:
    return (await hands.act(c.GetClipboard())).text == text


async def test_a_page_sees_the_wheel_turn(page: Page, hands: Hands) -> None:
    """By notches: how far it scrolls by one, and from where while it still glides, is the browser's business."""
    await page.evaluate("turned = 0; addEventListener('wheel', e => { turned -= e.wheelDelta / 120 }, {passive: true})")
    where = await place(page, 100, 300)
    await hands.act(c.Scroll(**where, down=12))
    await until(lambda: page.evaluate("turned"), wanted=lambda turned: turned == 12)
    await until(lambda: page.evaluate("scrollY > 500"))
    await hands.act(c.Scroll(**where, down=-12))
    await until(lambda: page.evaluate("turned"), wanted=lambda turned: turned == 0)
    await until(lambda: page.evaluate("scrollY < 500"))


async def test_a_page_sees_a_drag_from_place_to_place(page: Page, hands: Hands) -> None:
    start, end = await place(page, 40, 230), await place(page, 440, 330)
    await hands.act(c.Drag(**start, to_x=end["x"], to_y=end["y"]))
    await until(lambda: log_of(page, "mouseup"))
    (down,), (up,) = await log_of(page, "mousedown"), await log_of(page, "mouseup")
    assert (up[1] - down[1], up[2] - down[2]) == (400, 100)
    assert (down[3], up[3]) == (1, 0)
    held = [entry for entry in await log_of(page, "mousemove") if entry[3] == 1]
    assert len(held) > 3


@pytest.mark.parametrize(("action", "kind"), [({"button": "right"}, "contextmenu"), ({"count": 2}, "dblclick")])
async def test_a_page_sees_which_button_and_how_often(
    page: Page, hands: Hands, action: dict[str, Any], kind: str
) -> None:
    await hands.act(c.ClickAt(**await place(page, 60, 260), **action))
    await until(lambda: log_of(page, kind))
