"""A person asks to be shown the window, on a real desktop: once, exactly that one, and never while somebody types."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from Xlib.ext import xtest

from tests.desktop.support import Agent, code_of
from tests.desktop.surfaces.programs import Program, program, window
from tests.waiting import until
from user_handoff.contract import handoff as h
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.showing import Shown, ShowWindow
from user_handoff.desktop import showing
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection


@pytest.fixture(scope="module")
async def held(desktop: Desktop) -> AsyncIterator[tuple[Agent, h.BeginReceipt]]:
    """A browser that a person was handed."""
    agent = await Agent.open(desktop)
    yield agent, await agent.begin()
    await agent.close()


@pytest.fixture
def elsewhere(desktop: Desktop) -> Iterator[Program]:
    """Another program, which has the keyboard."""
    with program(desktop.display, window("A letter")) as other:
        yield other


def focused(desktop: Desktop) -> int | None:
    return desktop._showing._surfaces.focused()


async def has_keyboard(desktop: Desktop, other: Program) -> None:
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        window_ = x.create_resource_object("window", other.windows[0])
        window_.set_input_focus(2, 0)
        x.sync()
    await until(lambda: focused(desktop) == other.windows[0])


async def show(agent: Agent, receipt: h.BeginReceipt) -> Shown:
    request = ShowWindow(handoff_id=receipt.handoff_id, browser_id=agent.browser_id)
    return (await agent.desktop.show_window(request)).how


async def typing(desktop: Desktop, stop: asyncio.Event) -> None:
    """Somebody at the keyboard: a key about four times a second, with no effect but that it goes down."""

    def press() -> None:
        with connection(desktop.display.name, desktop.display.xauthority) as x:
            key = x.keysym_to_keycode(0xFFE1)
            xtest.fake_input(x, 2, key)
            xtest.fake_input(x, 3, key)
            x.sync()

    while not stop.is_set():
        await asyncio.to_thread(press)
        await asyncio.sleep(0.2)


async def test_the_exact_window_comes_to_the_front_once(
    held: tuple[Agent, h.BeginReceipt], desktop: Desktop, elsewhere: Program
) -> None:
    """B9: and a second time there is nothing to do."""
    agent, receipt = held
    await has_keyboard(desktop, elsewhere)
    assert await show(agent, receipt) is Shown.RAISED
    await until(lambda: focused(desktop) == receipt.surface.window_id)
    assert await show(agent, receipt) is Shown.IN_FRONT


async def test_it_stays_where_it_is_while_somebody_types_elsewhere(
    held: tuple[Agent, h.BeginReceipt], desktop: Desktop, elsewhere: Program
) -> None:
    """B9: nothing steals the focus, and it is said; once they rest, it comes."""
    agent, receipt = held
    await has_keyboard(desktop, elsewhere)
    stop = asyncio.Event()
    task = asyncio.create_task(typing(desktop, stop))
    assert await show(agent, receipt) is Shown.TYPING
    assert focused(desktop) == elsewhere.windows[0]
    stop.set()
    await task
    assert await show(agent, receipt) is Shown.RAISED


async def test_a_click_is_no_typing(held: tuple[Agent, h.BeginReceipt], desktop: Desktop, elsewhere: Program) -> None:
    """B9: whoever asks for the window at this very desk has just used the pointer."""
    agent, receipt = held
    await has_keyboard(desktop, elsewhere)
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        xtest.fake_input(x, 6, x=700, y=500)
        x.sync()
    began = time.monotonic()
    assert await show(agent, receipt) is Shown.RAISED
    assert time.monotonic() - began >= showing.LISTEN_SECONDS


async def test_a_desktop_that_cannot_tell_who_types_changes_nothing(
    held: tuple[Agent, h.BeginReceipt], desktop: Desktop, elsewhere: Program
) -> None:
    """Fail closed."""
    _, receipt = held
    await has_keyboard(desktop, elsewhere)
    other = receipt.surface.model_copy(update={"backend": "win32"})
    assert showing.show_window(desktop.display, desktop._showing._surfaces, other) is Shown.UNKNOWN
    assert focused(desktop) == elsewhere.windows[0]


async def test_only_the_window_of_a_hold_that_stands_is_shown(
    held: tuple[Agent, h.BeginReceipt], desktop: Desktop
) -> None:
    agent, receipt = held
    for request in (
        ShowWindow(handoff_id=agent.association().handoff_id, browser_id=agent.browser_id),
        ShowWindow(handoff_id=receipt.handoff_id, browser_id="b_unknown"),
    ):
        assert await code_of(desktop.show_window(request)) is ErrorCode.UNKNOWN_HANDOFF
