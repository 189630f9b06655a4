"""A person elsewhere does the step through the live view of their page, and in no other way."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.e2e.notes import Notes
from tests.e2e.stack import Stack
from tests.gateway.browsing import PHONE, person, running_chromium
from tests.waiting import until
from user_handoff.contract.browser import BrowserRequest
from user_handoff.contract.handoff import Answer, HandoffState, Result
from user_handoff.contract.ids import Association
from user_handoff.contract.names import Activities
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.lease.lease import TTL_SECONDS
from user_handoff.desktop.state import runtime_folder
from user_handoff.gateway import texts
from user_handoff.gateway.links import issue_link
from user_handoff.gateway.texts_view import VIEW_WORDS

DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 1700}}
EXACT = "P_a+s@s#{|} a.b-c äß漢"


@pytest.fixture(scope="module")
async def chromium() -> AsyncIterator[Browser]:
    async with running_chromium() as browser:
        yield browser


@dataclass
class Elsewhere:
    """A person with their page open, and what the held browser's page says."""

    stack: Stack
    page: Page
    notes: Notes
    handoff_id: str
    link: str

    @property
    def view(self) -> Locator:
        return self.page.locator("#view")

    async def is_in(self, state: str, seconds: float = 10) -> None:
        await expect(self.view).to_have_attribute("data-state", state, timeout=seconds * 1000)

    async def take_control(self) -> None:
        """And click into the field."""
        await self.is_in("watching")
        await self.page.get_by_role("button", name="Take control").click()
        await self.is_in("control")
        await self.click()
        await until(lambda: "mouseup 0" in self.notes.keys)

    async def click(self) -> None:
        canvas = self.view.locator("canvas")
        await canvas.scroll_into_view_if_needed()
        box = await canvas.bounding_box()
        assert box is not None
        await self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    async def until_answered(self) -> None:
        await until(lambda: self.stack.handoffs.summary(self.handoff_id), wanted=lambda now: now.answer is Answer.DONE)

    async def until(self, text: str) -> None:
        """Wait until exactly this is in the held browser's field."""
        try:
            await until(lambda: self.notes.text.strip("\n") == text)
        except TimeoutError:
            assert self.notes.text == text


@asynccontextmanager
async def elsewhere(stack: Stack, chromium: Browser, seconds: float = 600, **options: Any) -> AsyncIterator[Elsewhere]:
    """A browser on a page with a text field, held for so many seconds, and the person's page of it."""
    async with Notes().serving() as notes:
        request, _ = await stack.begin({"url": notes.url}, timeout_seconds=seconds)
        browser_id = Association.parse(request.handoff_id).browser_id
        try:
            link = await issue_link(stack.handoffs, str(stack.server.facts()["gateway_url"]), request.handoff_id)
            async with person(chromium, link, **(options or DESK)) as page:
                yield Elsewhere(stack, page, notes, request.handoff_id, link)
        finally:
            await stack.ask(Activities.CLOSE_BROWSER, BrowserRequest(browser_id=browser_id), type(None))


async def test_exactly_what_is_typed_arrives_and_done_ends_the_view(stack: Stack, chromium: Browser) -> None:
    """F4, K50: by keys, by characters that no key has, by a paste of the person's own, and by its button."""
    async with elsewhere(stack, chromium) as there:
        await there.take_control()
        await there.page.keyboard.type(EXACT[:-3])
        await there.page.keyboard.insert_text(EXACT[-3:])
        await there.until(EXACT)
        for key in ("Control+a", "Delete", "x", "Enter", "y", "Shift+ArrowLeft", "Backspace", "z"):
            await there.page.keyboard.press(key)
        await there.until("x\nz")
        await there.page.get_by_role("button", name="Paste text").click()
        await there.page.get_by_label("Text to paste").fill("ü1!")
        await there.page.get_by_role("button", name="Paste", exact=True).click()
        await there.until("x\nzü1!")
        await there.page.get_by_role("button", name="Done").click()
        await there.until_answered()
        await expect(there.view).to_be_hidden()


async def test_a_phone_types_taps_and_zooms(stack: Stack, chromium: Browser) -> None:
    """F4, K50: an on-screen keyboard tells no keys, only what becomes of a text."""
    async with elsewhere(stack, chromium, **PHONE) as there:
        await there.is_in("watching")
        await there.page.get_by_role("button", name="Take control").tap()
        await there.is_in("control")
        canvas = there.view.locator("canvas")
        await canvas.scroll_into_view_if_needed()
        await canvas.tap()
        await until(lambda: "mouseup 0" in there.notes.keys)
        await there.page.get_by_role("button", name="Keyboard").tap()
        session = await there.page.context.new_cdp_session(there.page)
        for text in ("P_a+s@s#{|} ", "a.b-c ", "äß漢"):
            await session.send("Input.insertText", {"text": text})
        await there.until(EXACT)
        await session.send("Input.imeSetComposition", {"text": "teh", "selectionStart": 3, "selectionEnd": 3})
        await session.send("Input.insertText", {"text": "the"})
        await there.until(EXACT + "the")
        width = await _width(canvas)
        box = await there.view.locator(".view-stage").bounding_box()
        assert box is not None
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await _pinch(session, middle)
        assert await _width(canvas) > 1.8 * width
        before = len(there.notes.keys)
        await there.page.touchscreen.tap(*middle)
        await until(lambda: len(there.notes.keys) > before)
        assert await there.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_a_picture_that_stands_still_is_said_within_two_seconds(stack: Stack, chromium: Browser) -> None:
    """F5: and the view goes on when the display does."""
    async with elsewhere(stack, chromium) as there:
        await there.take_control()
        record = read_record(stack.state / "desktop")
        assert record is not None
        os.kill(record.server.pid, signal.SIGSTOP)
        try:
            await there.is_in("frozen", 2)
        finally:
            os.kill(record.server.pid, signal.SIGCONT)
        await there.is_in("control")
        await there.page.keyboard.type("ok")
        await there.until("ok")


async def test_without_the_gateway_it_is_said_at_once_and_input_is_dead(stack: Stack, chromium: Browser) -> None:
    """F5, K02: the hold stays, and control has to be taken anew once it is back."""
    async with elsewhere(stack, chromium) as there:
        await there.take_control()
        await there.page.keyboard.type("a")
        await there.until("a")
        port = stack.server.facts()["gateway_url"]
        assert stack.server.pid is not None
        gateway = psutil.Process(stack.server.pid)
        gateway.suspend()
        try:
            await there.is_in("frozen", 2)
            await there.page.keyboard.type("lost")
        finally:
            gateway.kill()
        await there.is_in("lost", 2)
        await stack.server.wait()
        summary = await _after(stack.server.start(), stack, there.handoff_id)
        assert (summary.state, port) == (HandoffState.HELD, port)
        assert there.notes.text.strip() == "a"
        log = (stack.state / "logs" / "runner.log").read_text()
        assert "control has ended: gone" in log
        assert there.link.rpartition("/")[2] not in log


async def test_without_temporal_it_is_said_and_input_is_dead_half_a_minute_after_the_last_renewal(
    stack: Stack, chromium: Browser
) -> None:
    """F5: the hold stays, and control has to be taken anew once Temporal answers again."""
    async with elsewhere(stack, chromium) as there:
        await there.take_control()
        await there.page.keyboard.type("a")
        await there.until("a")
        assert stack.engine.pid is not None
        engine = psutil.Process(stack.engine.pid)
        engine.suspend()
        try:
            await expect(there.view).to_contain_text(VIEW_WORDS["unsure"])
            await there.is_in("watching", TTL_SECONDS + 1)
            await there.page.keyboard.type("lost")
        finally:
            engine.resume()
        await there.take_control()
        await there.page.keyboard.type("b")
        await there.until("ab")
        assert (await stack.handoffs.summary(there.handoff_id)).state is HandoffState.HELD


async def test_when_the_time_is_up_while_somebody_types_the_page_says_so_and_nothing_more_arrives(
    stack: Stack, chromium: Browser
) -> None:
    """K10, F5: the keys go on coming, and the button that is held down is released."""
    async with elsewhere(stack, chromium, 15) as there:
        await there.take_control()
        await there.page.mouse.down()
        await until(lambda: there.notes.keys.count("mousedown 0") == 2)
        over = there.page.get_by_role("heading", name=texts.ENDS[Result.EXPIRED][0])
        while not await over.is_visible():
            await there.page.keyboard.type("a")
        await until(lambda: there.notes.keys.count("mouseup 0") == 2)
        arrived = there.notes.text
        await there.page.keyboard.type("b")
        await expect(there.view).to_be_hidden()
        await stack.look(await stack.handoffs.summary(there.handoff_id))  # answered after whatever was typed before
        assert arrived.strip() and there.notes.text == arrived


async def test_a_view_that_cannot_be_reached_is_said_comes_back_by_itself_and_the_answer_counts_without_it(
    stack: Stack, chromium: Browser
) -> None:
    """F5: as from a gateway on another machine that does not find the desktop's, or not for a moment."""
    socket = runtime_folder(str(stack.runner.facts()["desktop_id"])) / "view"
    away = socket.rename(socket.with_name("away"))
    try:
        async with elsewhere(stack, chromium) as there:
            await there.is_in("unreachable")
            await expect(there.view).to_contain_text(VIEW_WORDS["unreachable"])
            await expect(there.view.locator(".view-stage")).to_be_hidden()
            away.rename(socket)
            await there.take_control()
            await there.page.keyboard.type("ok")
            await there.until("ok")
            await there.page.get_by_role("button", name="Done").click()
            await there.until_answered()
    finally:
        if away.exists():
            away.rename(socket)


async def test_no_log_tells_a_link_or_a_ticket(stack: Stack, chromium: Browser) -> None:
    """K41."""
    async with elsewhere(stack, chromium) as there:
        await there.take_control()
    token = there.link.rpartition("/")[2]
    logs = {path.name: path.read_text() for path in (stack.state / "logs").iterdir()}
    assert "VIEW /j/{token}/view" in logs["server.log"]
    assert not any(token in text or token[:32] in text for text in logs.values())


async def _after(started: Any, stack: Stack, handoff_id: str) -> Any:
    await started
    return await stack.handoffs.summary(handoff_id)


async def _width(canvas: Locator) -> float:
    box = await canvas.bounding_box()
    assert box is not None
    return box["width"]


async def _pinch(session: Any, middle: tuple[float, float]) -> None:
    """Two fingers that move apart."""
    x, y = middle

    async def touch(kind: str, *points: tuple[float, float]) -> None:
        await session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": at, "y": down, "id": n} for n, (at, down) in enumerate(points)]},
        )

    await touch("touchStart", (x - 30, y))
    await touch("touchStart", (x - 30, y), (x + 30, y))
    for apart in (40, 50, 60, 75):
        await touch("touchMove", (x - apart, y), (x + apart, y))
    await touch("touchEnd")
