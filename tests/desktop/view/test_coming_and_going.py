"""Viewers who come and go at the same moment, and those who must go."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.desktop.support import Agent
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import RawViewer, ask, knock, viewing
from tests.desktop.view.test_stage import BLACK, RIGHT_OF_BROWSERS, picture
from tests.waiting import until
from user_handoff.contract.handoff import BeginReceipt
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.view.picture import Picture

A = ord("a")


@pytest.fixture
async def other(desktop: Desktop) -> AsyncIterator[BeginReceipt]:
    """Another browser of the same desktop, held for another request."""
    agent = await Agent.open(desktop)
    yield await agent.begin()
    await agent.close()


class Slow:
    """The first connection to the display from now on takes until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.go, self._open = asyncio.Event(), asyncio.Event(), Picture.open
        monkeypatch.setattr(Picture, "open", self._slowly)

    async def _slowly(self, path: Path) -> Picture:
        if not self.began.is_set():
            self.began.set()
            await self.go.wait()
        return await self._open(path)


async def test_who_comes_while_the_last_one_goes_does_not_look_behind_the_curtain(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: as when a page is loaded anew."""
    async with contextlib.AsyncExitStack() as second:
        async with viewing(stand.view, stand.handoff_id) as viewer:
            await until(lambda: viewer.picture > 1000)
            slow = Slow(monkeypatch)
            coming = asyncio.create_task(second.enter_async_context(viewing(stand.view, stand.handoff_id)))
            await slow.began.wait()
        await until(lambda: not stand.view._viewings)
        slow.go.set()
        viewer = await coming
        await until(lambda: viewer.picture > 1000)
        assert stand.view._stage._thread is not None
        assert (await picture(desktop)).getpixel(RIGHT_OF_BROWSERS) == BLACK
    await until(lambda: stand.view._stage._thread is None)


async def test_who_comes_at_the_same_moment_does_not_see_the_browser_of_another_request(
    stand: Stand, other: BeginReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: nor act in it."""
    slow = Slow(monkeypatch)
    async with contextlib.AsyncExitStack() as stack:
        ticket = secrets.token_urlsafe(24)
        await stand.view.admit(ask(stand.handoff_id, ticket))
        first = await stack.enter_async_context(knock(stand.view, ticket))
        await slow.began.wait()
        two = asyncio.create_task(stack.enter_async_context(viewing(stand.view, other.handoff_id)))
        await until(lambda: two.done() or bool(stand.view._staging._waiters))
        slow.go.set()
        second = await two
        async with asyncio.timeout(30):
            await first.wait_closed()
        assert first.close_reason == "other"
        await second.take()


async def test_who_comes_while_the_hold_ends_sees_nothing(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, ticket = Slow(monkeypatch), secrets.token_urlsafe(24)
    await stand.view.admit(ask(stand.handoff_id, ticket))
    async with knock(stand.view, ticket) as socket:
        await slow.began.wait()
        await stand.finish()
        slow.go.set()
        async with asyncio.timeout(30):
            await socket.wait_closed()
        assert socket.close_reason == "not_held"
    await until(lambda: stand.view._stage._thread is None)


async def test_not_one_byte_of_another_browser_is_sent_to_who_must_go(
    stand: Stand, other: BeginReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        (old,), show, cut = stand.view._viewings, stand.view._stage.show, []

        async def noting(pid: int) -> None:
            cut.append(old._picture._writer.is_closing())
            await show(pid)

        monkeypatch.setattr(stand.view._stage, "show", noting)
        async with viewing(stand.view, other.handoff_id):
            await until(lambda: viewer.closed == "other")
        assert cut == [True]
        assert [said["why"] for said in viewer.said if said["t"] == "end"] == ["other"]


async def test_who_must_go_gets_no_control_any_more(
    stand: Stand, other: BeginReceipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: not even in the moment in which they are told."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        (old,), show = stand.view._viewings, stand.view._stage.show
        old._words._send = _never
        asked, take = [], stand.view.control.take

        def noting(holder: Any, instead_of: str | None = None) -> Any:
            asked.append(holder)
            return take(holder, instead_of)

        async def acting(pid: int) -> None:
            await viewer.tell(t="control", want=True)
            await viewer.press(A)
            await show(pid)

        for _ in range(3):
            old._words.tell({"t": "pong"})
        monkeypatch.setattr(stand.view._stage, "show", acting)
        monkeypatch.setattr(stand.view.control, "take", noting)
        async with viewing(stand.view, other.handoff_id) as second:
            await until(lambda: viewer.closed == "other")
            await second.take()
        assert old not in asked and old.hands.passed == 0


async def test_no_more_than_four_come_in_however_many_were_announced(stand: Stand) -> None:
    tickets = [secrets.token_urlsafe(24) for _ in range(5)]
    for ticket in tickets:
        await stand.view.admit(ask(stand.handoff_id, ticket))
    async with contextlib.AsyncExitStack() as stack:
        for ticket in tickets[:4]:
            await RawViewer(await stack.enter_async_context(knock(stand.view, ticket))).greet()
        last = await stack.enter_async_context(knock(stand.view, tickets[4]))
        await last.wait_closed()
        assert last.close_reason == "view_unavailable"


async def test_a_display_that_reads_nothing_makes_a_talkative_viewer_wait(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What they send does not pile up in the runner."""

    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"RFB 003.008\n\x01\x01" + bytes(4) + b"\x05\x00\x03\x20" + bytes(16) + bytes(4))
        await over.wait()
        writer.close()

    async with await asyncio.start_unix_server(serve, tmp_path / "rfb", limit=1024):
        monkeypatch.setattr(stand.view, "_display", replace(desktop.display, rfb_socket=tmp_path / "rfb"))
        async with viewing(stand.view, stand.handoff_id) as viewer:
            (at_desktop,) = stand.view._viewings
            waiting = at_desktop._picture._writer.transport.get_write_buffer_size
            sending = asyncio.create_task(_send(viewer, 10_000_000))
            with pytest.raises(TimeoutError):
                await until(lambda: waiting() > 1_000_000, 2)
            assert not sending.done()
            sending.cancel()
        over.set()


async def _send(viewer: RawViewer, count: int) -> None:
    """Ask for the picture again and again, in so many bytes."""
    part = b"\x03\x01" + bytes(4) + b"\x00\x40\x00\x40"
    for _ in range(count // 60_000):
        await viewer.raw(part * 6_000)


async def _never(text: str) -> None:
    """A page that takes no words: those that were said last wait for it."""
    await asyncio.Event().wait()
