"""What a viewer is shown: the held browser, and nothing else of the desktop."""

import asyncio
import contextlib
import io
import secrets
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed
from Xlib import X

from tests.desktop.support import Agent
from tests.desktop.surfaces.programs import program, window
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import ask, knock, viewing
from tests.desktop.view.stopping import without_manager
from tests.waiting import until, until_blocking
from user_handoff.contract.computer import ObserveComputer
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.grab import grab
from user_handoff.desktop.view.curtain import Curtain
from user_handoff.desktop.view.stage import Stage

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
            assert await stand.view._stage.has_keyboard() and await stand.view._stage.is_clear()
            await viewer.press(A)
            await viewer.click(*await stand.where(100, 60))
            await viewer.press(A)
            await viewer.until_passed()
            await stand.page.wait_for_function("t.value.length >= 3")
            assert set(await stand.text()) == {"a"}
            assert thief.typed() == ""


async def test_a_menu_of_another_program_that_comes_to_the_front_again_gets_no_click(
    stand: Stand, desktop: Desktop
) -> None:
    """B9, E3: no window manager keeps it below; it goes to the bottom each time that it is raised."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        place = await stand.where(100, 60)
        with program(desktop.display, window("menu", (60, 80, 500, 300), unmanaged=True)) as menu:
            for _ in range(3):
                await asyncio.to_thread(bring_to_the_front, desktop, menu.windows[0])
                await viewer.click(*place)
                await viewer.until_passed()
            assert menu.typed() == ""


def bring_to_the_front(desktop: Desktop, number: int) -> None:
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        x.create_resource_object("window", number).configure(stack_mode=X.Above)
        x.sync()


async def test_a_key_arrives_although_another_program_takes_the_keyboard_twice(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B9: the browser is brought to the front again, not only once."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        with program(desktop.display, window("thief", (60, 80, 500, 300))) as thief:
            thief.tell("focus", 0)
            await until(lambda: _types_into(desktop, thief.windows[0]))
            raise_shown = Curtain.raise_shown
            raised: list[Curtain] = []

            def contested(curtain: Curtain) -> None:
                raise_shown(curtain)
                raised.append(curtain)
                if len(raised) == 1:
                    until_blocking(lambda: has_keyboard(curtain))
                    thief.tell("focus", 0)
                    until_blocking(lambda: not has_keyboard(curtain))

            monkeypatch.setattr(Curtain, "raise_shown", contested)
            await viewer.press(A)
            await viewer.until_passed()
            assert thief.typed() == ""
        await stand.until("a")


async def _types_into(desktop: Desktop, window_id: int) -> bool:
    return (await desktop.observe_computer(ObserveComputer())).focused_window == window_id


def has_keyboard(curtain: Curtain) -> bool:
    curtain._look_for_focus()
    return curtain._focused


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


async def test_a_curtain_that_ended_by_itself_leaves_nothing_behind(stand: Stand, desktop: Desktop) -> None:
    """Whoever asks or leaves later is answered, and nothing of it stays open."""
    before, lost = pipes(), asyncio.Event()
    async with staged(Stage(desktop.display, lost.set)) as stage:
        await stage.show(pid_of(stand))
        thread, keeping_up = stage._thread, stage._keeping_up
        assert thread is not None and keeping_up is not None
        stage._call(lambda curtain: curtain.nothing_like_this)  # type: ignore[attr-defined]
        await lost.wait()
        await asyncio.to_thread(thread.join)
        assert not await stage.has_keyboard()
        assert not keeping_up.done()
    assert pipes() == before


async def test_whoever_asks_while_a_curtain_is_made_does_not_stop_it(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: as when a browser is left for another while somebody waits for the first."""
    loop, begin = asyncio.get_running_loop(), Curtain.__init__
    async with staged(Stage(desktop.display, lambda: None)) as stage:

        def asked(curtain: Curtain, display: Display, pid: int) -> None:
            asyncio.run_coroutine_threadsafe(stage.is_clear(0.05), loop).result()
            begin(curtain, display, pid)

        monkeypatch.setattr(Curtain, "__init__", asked)
        await stage.show(pid_of(stand))
        assert await stage.is_clear() and stage._keeping_up is not None
        stage._keeping_up.cancel()  # nobody asks it for anything
        with program(desktop.display, window("menu", (60, 80, 500, 300), unmanaged=True)) as menu:
            await until(partial(asyncio.to_thread, is_lowest, desktop, menu.windows[0]), 5)


@contextlib.asynccontextmanager
async def staged(stage: Stage) -> AsyncIterator[Stage]:
    """One beside the view's own."""
    try:
        yield stage
    finally:
        await stage.leave()


def is_lowest(desktop: Desktop, number: int) -> bool:
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        return bool(x.screen().root.query_tree().children[0].id == number)


def pid_of(stand: Stand) -> int:
    pid = stand.view._pid_of(stand.agent.browser_id)
    assert pid is not None
    return pid


def pipes() -> int:
    """How many ends of pipes this process has open."""
    return sum(each.is_fifo() for each in Path("/proc/self/fd").iterdir())


async def test_what_cannot_be_hidden_is_shown_to_nobody(stand: Stand, desktop: Desktop) -> None:
    """E3, F4: a window manager that does not answer hangs no curtain; once it does, they are let in."""
    other = await Agent.open(desktop)
    await paint(other, "red")
    await until(lambda: _has(desktop, RED))
    with without_manager(desktop):
        assert await how_they_are_sent_away(stand) == "desktop_held"
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
