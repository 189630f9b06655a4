"""A held browser with a text field in front, and viewers of it."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.desktop.hands import HTML, place
from tests.desktop.support import Agent
from tests.desktop.view.raw import RawViewer
from tests.waiting import until
from user_handoff.contract.handoff import BeginReceipt
from user_handoff.desktop.handoff.records import HoldRecord
from user_handoff.desktop.view.view import View

_SETTLING = """() => {
  let clicked = false, last = 0;
  t.onclick = () => { clicked = true };
  for (const kind of ['focus', 'blur', 'mousedown', 'click'])
    addEventListener(kind, () => { last = performance.now() }, true);
  window.clicked = () => clicked;
  window.settled = () => clicked && document.hasFocus() && performance.now() - last > 300;
}"""


@dataclass
class Stand:
    """A browser that a person has."""

    agent: Agent
    page: Page
    receipt: BeginReceipt

    @property
    def view(self) -> View:
        return self.agent.desktop.view

    @property
    def handoff_id(self) -> str:
        return self.receipt.handoff_id

    async def text(self) -> str:
        return str(await self.page.evaluate("t.value"))

    async def until(self, text: str) -> None:
        """Wait until exactly this is in the field."""
        try:
            await self.page.wait_for_function("text => t.value === text", arg=text, timeout=30_000)
        except PlaywrightTimeout:
            assert await self.text() == text

    async def enter(self, viewer: RawViewer) -> None:
        """Take control, click into the field, and wait until it blinks, as people do.

        A busy display takes its time to give a window the keyboard, and may give it twice.
        """
        await self.page.evaluate(_SETTLING)
        await viewer.take()

        async def clicked() -> bool:
            await viewer.click(*await self.where(30, 30))
            with contextlib.suppress(PlaywrightTimeout):  # its window was still on its way to its place
                await self.page.wait_for_function("window.clicked()", timeout=3_000)
                return True
            return False

        await until(clicked)
        await self.page.wait_for_function("window.settled()")

    async def where(self, x: int, y: int) -> tuple[int, int]:
        """Where on the screen a place of the page is."""
        found = await place(self.page, x, y)
        return found["x"], found["y"]

    def hold(self, handoff_id: str = "") -> HoldRecord:
        record = self.agent.desktop.holds.record(handoff_id or self.handoff_id)
        assert record is not None
        return record

    def mask(self) -> int:
        """Which keys and buttons are down, as the X server says; without locks."""
        with self.agent.desktop.holds._surfaces._windows.connected() as x:  # type: ignore[attr-defined]
            return int(x.screen().root.query_pointer().mask) & ~0x12

    async def finish(self) -> None:
        await self.agent.finish(self.receipt)
        await self.agent.look()


@pytest.fixture
async def stand(editor: Agent) -> AsyncIterator[Stand]:
    page = editor.desktop.browsers.get(editor.browser_id).page(None).page
    await page.set_content(HTML)
    await page.evaluate("t.focus()")
    stand = Stand(editor, page, await editor.begin())
    yield stand
    if editor.desktop.holds.active(editor.browser_id) is not None:
        await stand.finish()
