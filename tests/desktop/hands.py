"""An agent that looks at the desktop and acts on it, and what tests of that share."""

import asyncio
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Page

from tests.desktop.support import Agent
from tests.desktop.surfaces.programs import Program, program, window
from tests.waiting import until
from user_handoff.contract import computer as c
from user_handoff.contract.errors import HandoffError, Stale
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.reservation.ledger import Ledger

HTML = """<title>Canary title</title><body style="margin:0;height:5000px;font:14px monospace">
<textarea id=t style="position:fixed;left:20px;top:20px;width:600px;height:120px"></textarea>
<div id=d style="position:fixed;left:20px;top:200px;width:600px;height:200px;background:#ccc"></div>
<script>
  window.log = [];
  for (const kind of ['mousedown', 'mousemove', 'mouseup', 'click', 'contextmenu', 'dblclick'])
    d.addEventListener(kind, e => { e.preventDefault(); log.push([kind, e.clientX - 20, e.clientY - 200, e.buttons]) });
</script>"""


async def refused(awaitable: Any) -> HandoffError:
    """The error that a call ends with."""
    with pytest.raises(HandoffError) as error:
        await awaitable
    return error.value


@dataclass(frozen=True)
class Hands:
    """An agent at the desktop."""

    desktop: Desktop

    @property
    def ledger(self) -> Ledger:
        return self.desktop._effects._ledger

    async def look(self, *, screenshot: bool = False) -> c.DisplayLook:
        return await self.desktop.observe_computer(c.ObserveComputer(screenshot=screenshot))

    async def act(
        self, action: c.ComputerAction, generation: str | None = None, effect_id: str | None = None
    ) -> c.ComputerReceipt:
        """Do it, by default on a fresh look."""
        generation = generation or (await self.look()).generation
        effect = c.ComputerEffect(effect_id=effect_id or new_id("e"), generation=generation, action=action)
        return await self.desktop.computer(effect)

    async def sees(self, target: Program) -> bool:
        return set(target.windows) <= {one.window_id for one in (await self.look()).windows}

    async def sees_focus_on(self, window_id: int) -> bool:
        return (await self.look()).focused_window == window_id

    async def sees_title(self, title: str) -> bool:
        return any(title in one.title for one in (await self.look()).windows)

    async def focus(self, target: Program, number: int) -> None:
        """Have a program's window take the keyboard."""
        await until(lambda: self.sees(target))
        target.tell("focus", number)
        await until(lambda: self.sees_focus_on(target.windows[number]))


def two_windows(desktop: Desktop) -> AbstractContextManager[Program]:
    """A program that says what it was sent."""
    return program(desktop.display, window("a", (50, 60, 300, 200)), window("b", (500, 60, 300, 200)))


async def more_typed(target: Program, than: str = "") -> bool:
    return len(await asyncio.to_thread(target.typed)) > len(than)


async def editor_page(editor: Agent, hands: Hands) -> Page:
    """The page of a browser, which notes what native input does to it, with the keyboard in its text field."""
    browser = editor.desktop.browsers.get(editor.browser_id)
    page = browser.page(None).page
    await page.set_content(HTML)
    surface = await editor.desktop.holds.resolve(browser)
    editor.desktop.holds._surfaces.raise_window(surface)

    async def clicked() -> bool:
        try:
            await hands.act(c.ClickAt(**await place(page, 30, 30)))
        except Stale:
            return False  # the window is still on its way to the front
        return bool(await page.evaluate("document.hasFocus() && document.activeElement.id === 't'"))

    await until(clicked)
    await until(lambda: hands.sees_focus_on(surface.window_id))
    return page


async def place(page: Page, x: int, y: int) -> dict[str, int]:
    """Where on the screen a place of the page is."""
    left, top = await page.evaluate("[screenX + (outerWidth - innerWidth) / 2, screenY + outerHeight - innerHeight]")
    return {"x": int(left + x), "y": int(top + y)}


async def value(page: Page) -> str:
    """What is in its text field."""
    return str(await page.evaluate("t.value"))


async def value_is(page: Page, text: str) -> bool:
    return await value(page) == text


async def log_of(page: Page, kind: str) -> list[Any]:
    """What it saw of the pointer."""
    return [entry for entry in await page.evaluate("log") if entry[0] == kind]
