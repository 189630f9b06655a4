"""What a viewer is shown: the held browser, and nothing else of the desktop."""

import asyncio
import io
import os
import secrets
import signal
from functools import partial
from typing import Any

import psutil
import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed

from tests.desktop.support import Agent
from tests.desktop.surfaces.programs import program, window
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import ask, knock, viewing
from tests.waiting import until
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.input.grab import grab

A = ord("a")
RED, GREEN, BLACK = (255, 0, 0), (0, 128, 0), (0, 0, 0)
OPENER = """() => { d.onmouseup = e => {
  const popup = e.clientX < 120;
  const opened = open('about:blank', '', popup ? 'width=300,height=200' : '');
  opened.document.body.style.background = popup ? 'rgb(0, 128, 0)' : 'rgb(255, 0, 0)';
} }"""
RIGHT_OF_BROWSERS = (1270, 400)
"""A place of the screen that no browser covers."""


async def picture(desktop: Desktop) -> Image.Image:
    """What the display shows, and its RFB server serves."""
    return Image.open(io.BytesIO(await asyncio.to_thread(grab, desktop.display))).convert("RGB")


async def colours(desktop: Desktop) -> dict[Any, int]:
    """How often each colour is on the screen."""
    shown = (await picture(desktop)).getcolors(1 << 24) or []
    return {colour: count for count, colour in shown}


_most: list[int] = []


async def most_of(desktop: Desktop, colour: tuple[int, int, int]) -> None:
    """Look all the while, and note the most that was ever seen of a colour."""
    _most[:] = [0]
    while True:
        _most[0] = max(_most[0], (await colours(desktop)).get(colour, 0))


async def paint(agent: Agent, colour: str) -> None:
    page = agent.desktop.browsers.get(agent.browser_id).page(None).page
    await page.evaluate("colour => { document.body.style.background = colour }", colour)


async def test_another_browser_is_not_shown_while_this_one_is(stand: Stand, desktop: Desktop) -> None:
    """E3, F4: also while it opens, moves and asks to be in front; and it is there again afterwards."""
    other = await Agent.open(desktop)
    await paint(other, "red")
    await until(lambda: _has(desktop, RED))
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        assert (await picture(desktop)).getpixel(RIGHT_OF_BROWSERS) == BLACK
        watching = asyncio.create_task(most_of(desktop, RED))
        surface = await desktop.holds.resolve(desktop.browsers.get(other.browser_id))
        page = desktop.browsers.get(other.browser_id).page(None).page
        for _ in range(3):
            desktop.holds._surfaces.raise_window(surface)
            async with page.expect_popup() as opening:
                await page.evaluate("void open('about:blank', '', 'width=300,height=200')")
            await (await opening.value).evaluate("document.body.style.background = 'red'")
            assert await stand.view._stage.is_clear()
        watching.cancel()
        await asyncio.wait([watching])
        assert _most == [0]
    await until(lambda: stand.view._stage._thread is None)
    desktop.holds._surfaces.raise_window(surface)
    await until(lambda: _has(desktop, RED))
    await other.close()


async def test_keys_and_clicks_reach_no_other_program(stand: Stand, desktop: Desktop) -> None:
    """B9, E3: a program that takes the focus in the middle of a word gets none of it."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.press(A)
        await stand.until("a")
        with program(desktop.display, window("thief", (60, 80, 500, 300))) as thief:
            thief.tell("focus", 0)
            await viewer.press(A)
            await until(lambda: stand.view._stage._focused and stand.view._stage._clear)
            await viewer.press(A)
            await viewer.click(*await stand.where(100, 60))
            await viewer.press(A)
            await viewer.until_passed()
            await stand.page.wait_for_function("t.value.length >= 3")
            assert set(await stand.text()) == {"a"}
            assert thief.typed() == ""


async def test_popups_dialogs_and_new_tabs_of_the_browser_are_shown(stand: Stand, desktop: Desktop) -> None:
    """K31: since the picture is that of its real windows."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        await stand.enter(viewer)
        await stand.page.evaluate(OPENER)
        for x, colour in ((60, GREEN), (160, RED)):
            await viewer.click(*await stand.where(x, 260))
            await until(partial(_has, desktop, colour))
        others = [page for page in stand.page.context.pages if page != stand.page]
        assert len(others) == 2
    await stand.finish()
    for page in others:
        await page.close()


async def test_when_nobody_looks_the_curtain_is_gone(stand: Stand, desktop: Desktop) -> None:
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        assert stand.view._stage._thread is not None
    await until(lambda: stand.view._stage._thread is None)
    with program(desktop.display, window("other", (60, 80, 500, 300))) as other:
        await until(lambda: desktop.holds._surfaces.focused() in other.windows)


async def _has(desktop: Desktop, colour: tuple[int, int, int]) -> bool:
    return (await colours(desktop)).get(colour, 0) > 5_000


async def test_without_the_curtain_nobody_looks_any_more(stand: Stand) -> None:
    """E3: it fails closed."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)

        def fail(curtain: object) -> None:
            raise RuntimeError("as a bug would")

        stand.view._stage._call(fail)
        await until(lambda: viewer.closed == "display")
        assert stand.view.control.lease is None


async def test_what_cannot_be_hidden_is_shown_to_nobody(stand: Stand, desktop: Desktop) -> None:
    """E3, F4: a window manager that does not answer hangs no curtain; once it does, they are let in."""
    other = await Agent.open(desktop)
    await paint(other, "red")
    await until(lambda: _has(desktop, RED))
    assert desktop.display.xauthority is not None
    record = read_record(desktop.display.xauthority.parent)
    assert record is not None
    (manager,) = (each for each in psutil.Process(record.keeper.pid).children() if each.name() == "openbox")
    os.kill(manager.pid, signal.SIGSTOP)
    try:
        assert await how_they_are_sent_away(stand) == "desktop_held"
    finally:
        os.kill(manager.pid, signal.SIGCONT)
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        assert not await _has(desktop, RED)
    await other.close()


async def how_they_are_sent_away(stand: Stand) -> str | None:
    """Why somebody is not let in who has a ticket; the picture itself is never sent."""
    ticket = secrets.token_urlsafe(24)
    await stand.view.admit(ask(stand.handoff_id, ticket))
    async with knock(stand.view, ticket) as socket:
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        reason: str | None = socket.close_reason
        return reason
