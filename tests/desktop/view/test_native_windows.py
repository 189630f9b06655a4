"""What the held browser opens of its own, seen and used through the view: dialogs, lists, file choosers, new tabs."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

from playwright.async_api import Page
from Xlib import X
from Xlib.error import BadDrawable, BadWindow

from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import RawViewer, viewing
from tests.desktop.view.test_stage import colours
from tests.waiting import until
from user_handoff.contract.handoff import FinishReceipt
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection

RETURN, ESCAPE, DOWN = 0xFF0D, 0xFF1B, 0xFF54
GREEN = (0, 128, 0)
ALL_GREEN = "document.body.style.background = d.style.background = t.style.background = 'rgb(0, 128, 0)'"
PLACE = "style='position:fixed;left:20px;top:200px;width:600px;height:90px'"
OVER_IT = 'document.body.insertAdjacentHTML("beforeend", "%s")'
CODE = """() => { d.onmouseup = () => {
  const tab = open('about:blank');
  tab.document.write('<title>Code</title><input id=code autofocus onfocus="focused = true">');
} }"""


async def shown_over_the_page(desktop: Desktop, before: int) -> bool:
    """Whether something is in the picture where the page was."""
    return (await colours(desktop)).get(GREEN, 0) < before - 5_000


async def opened(stand: Stand, viewer: RawViewer, desktop: Desktop, act: str) -> None:
    """The viewer clicks, and sees what the click opens over the page."""
    await stand.enter(viewer)
    await stand.page.evaluate(ALL_GREEN)
    await stand.page.evaluate(act)
    before = (await until(lambda: colours(desktop), wanted=lambda seen: seen.get(GREEN, 0) > 100_000))[GREEN]
    await viewer.click(*await stand.where(100, 260))
    await until(lambda: shown_over_the_page(desktop, before))


async def pressed_until(viewer: RawViewer, keysym: int, done: Callable[[], Awaitable[bool]]) -> None:
    """A dialog that has only just come may not take the first key."""

    async def pressed() -> bool:
        await viewer.press(keysym)
        await viewer.until_passed()
        return await done()

    await until(pressed)


async def test_a_dialog_of_the_page_is_seen_and_answered(stand: Stand, desktop: Desktop) -> None:
    """F4, K70: the page waits for it, and is told what the person pressed."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await opened(stand, viewer, desktop, "d.onclick = () => { window.answer = confirm('Sure?') }; 0")

        async def answered() -> bool:
            try:
                return bool(await asyncio.wait_for(stand.page.evaluate("window.answer === true"), 0.3))
            except TimeoutError:
                return False  # the page stands still behind its dialog

        await pressed_until(viewer, RETURN, answered)


async def test_a_list_of_the_page_is_seen_and_chosen_from(stand: Stand, desktop: Desktop) -> None:
    """F4: its menu is a window of its own."""
    options = "<option>one<option>two" + "<option>more" * 12
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await opened(stand, viewer, desktop, OVER_IT % f"<select id=s {PLACE}>{options}</select>")
        await viewer.press(DOWN, RETURN)
        await stand.page.wait_for_function("s.value === 'two'")


async def test_a_file_chooser_is_seen_and_put_away(stand: Stand, desktop: Desktop) -> None:
    """F4: it is a window of the desktop's toolkit, with the keyboard."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await opened(stand, viewer, desktop, OVER_IT % f"<input type=file {PLACE}>")
        chooser = partial(asyncio.to_thread, titled, desktop, "Open File")
        await until(chooser)

        async def gone() -> bool:
            return not await chooser()

        await pressed_until(viewer, ESCAPE, gone)


async def test_a_code_is_typed_in_a_tab_that_opened_itself_and_the_agent_finds_that_tab(
    stand: Stand, desktop: Desktop
) -> None:
    """K31, B3."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await stand.page.evaluate(CODE)
        async with stand.page.expect_popup() as opening:
            await viewer.click(*await stand.where(100, 260))
        tab: Page = await opening.value
        await tab.wait_for_function("document.hasFocus() && window.focused")
        await viewer.press(*map(ord, "402913"))
        await tab.wait_for_function("code.value === '402913'")
    finished: FinishReceipt = await stand.agent.finish(stand.receipt)
    assert len(finished.pages) == 2
    looks = [await stand.agent.look(page.page_id) for page in finished.pages]
    (found,) = (look for look in looks if look.page.title == "Code")
    assert "textbox" in found.text and "402913" not in found.model_dump_json()
    await tab.close()


def titled(desktop: Desktop, title: str) -> bool:
    """Whether a window of this title is on the screen."""
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        return _any_titled(x.screen().root, title)


def _any_titled(window: object, title: str) -> bool:
    for child in window.query_tree().children:  # type: ignore[attr-defined]
        with contextlib.suppress(BadWindow, BadDrawable):  # gone since they were listed
            seen = child.get_attributes().map_state == X.IsViewable and child.get_wm_name() == title
            if seen or _any_titled(child, title):
                return True
    return False
