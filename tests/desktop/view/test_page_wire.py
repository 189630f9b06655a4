"""A page's WebSocket that was opened elsewhere."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame, Opcode

from tests.desktop.view.pages import Page, page_on
from tests.waiting import until
from user_handoff.desktop.view import page_wire
from user_handoff.desktop.view.page_wire import PageWire

BIG = bytes(256 * 1024)


@dataclass
class Line:
    """A page, our end of its connection, and what was heard there."""

    page: Page
    wire: PageWire
    heard: list[bytes | str]
    gone: asyncio.Event

    async def until_much_waits(self) -> None:
        """The page reads nothing."""
        while self.wire.send_at_once(BIG):
            pass
        assert not self.wire._writable.is_set()


@asynccontextmanager
async def connected() -> AsyncIterator[Line]:
    ours, theirs = socket.socketpair()
    heard: list[bytes | str] = []
    gone = asyncio.Event()
    wire = PageWire(heard.append, gone.set)
    await asyncio.get_running_loop().connect_accepted_socket(lambda: wire, ours)
    async with page_on(theirs) as page:
        yield Line(page, wire, heard, gone)
        wire.abort()
        await wire.until_gone()


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    async with connected() as line:
        yield line


async def test_messages_go_both_ways_and_each_keeps_its_kind(line: Line) -> None:
    line.page.say(b"input", "text")
    await until(lambda: line.heard == [b"input", "text"])
    await line.wire.send("said")
    assert line.wire.send_at_once(b"picture")
    assert (await line.page.heard(), await line.page.heard()) == ("said", b"picture")


async def test_fragments_are_one_message_and_a_ping_between_them_is_answered(line: Line) -> None:
    first, last = Frame(Opcode.TEXT, "ä".encode()[:1], fin=False), Frame(Opcode.CONT, "ä".encode()[1:])
    line.page.say(first, Frame(Opcode.PING, b"there?"), last)
    await until(lambda: line.heard == ["ä"])
    frame = await line.page.frame()
    while frame.opcode is not Opcode.PONG:
        frame = await line.page.frame()
    assert frame.data == b"there?"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (Frame(Opcode.BINARY, bytes(1024 * 1024 + 1)), 1009),
        (Frame(Opcode.TEXT, b"\xff"), 1007),
        (Frame(Opcode.CONT, b"of nothing"), 1002),
    ],
)
async def test_what_no_websocket_may_say_ends_it_and_nothing_after_it_is_heard(
    line: Line, said: Frame, code: int
) -> None:
    line.page.say(said, b"input")
    assert (await line.page.closed())[0] == code
    await line.gone.wait()
    assert line.heard == []


async def test_a_page_that_gives_no_sign_of_life_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_wire, "_ALIVE_SECONDS", 0.05)
    async with connected() as line:
        await line.page.cut()
        await line.gone.wait()


async def test_a_page_that_answers_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_wire, "_ALIVE_SECONDS", 0.2)
    async with connected() as line:
        for _ in range(3):
            line.page.say(Frame(Opcode.PONG, (await line.page.frame()).data))
        assert not line.gone.is_set()


async def test_a_slow_page_holds_back_who_sends(line: Line) -> None:
    await line.until_much_waits()
    sending = asyncio.create_task(line.wire.send(b"late"))
    assert not line.wire.send_at_once(b"now")
    await asyncio.wait([sending], timeout=0.05)
    assert not sending.done()
    while await line.page.heard() != b"late":
        pass
    assert sending.done()


async def test_the_end_is_the_last_word_also_for_who_waits_to_send(line: Line) -> None:
    await line.until_much_waits()
    sending = asyncio.create_task(line.wire.send(b"late"))
    await asyncio.wait([sending], timeout=0.05)
    line.wire.end(4410, "over")
    with pytest.raises(ConnectionClosedError):
        async with asyncio.timeout(1):  # sooner than the page is cut
            await sending
    assert not line.wire.send_at_once(b"picture")


async def test_after_the_end_the_page_is_told_why_and_not_heard_any_more(line: Line) -> None:
    """It has time to answer, whatever comes from it before that."""
    line.wire.end(4410, "ä" * 200)
    line.wire._silent = True
    line.page.say(b"input", "text")
    await until(lambda: not line.wire._silent)
    assert await line.page.closed() == (4410, "ä" * 61)
    assert line.wire._transport is not None and not line.wire._transport.is_closing() and line.heard == []
    line.page.say(Frame(Opcode.CLOSE, b""))
    async with asyncio.timeout(1):
        await line.page.cut()


async def test_a_page_that_says_goodbye_is_answered_and_let_go_at_once(line: Line) -> None:
    line.page.say(Frame(Opcode.CLOSE, b"\x03\xe8"))
    async with asyncio.timeout(1):
        assert await line.page.closed() == (1000, "")
        await line.page.cut()


async def test_a_page_that_never_answers_the_end_is_cut(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_wire, "_CLOSE_SECONDS", 0.05)
    await line.until_much_waits()
    line.wire.end(4410, "over")
    async with asyncio.timeout(5):
        await line.wire.until_gone()


@pytest.mark.parametrize("end", ["half", "whole", "close"])
async def test_a_page_that_goes_is_gone(line: Line, end: str) -> None:
    if end == "half":
        line.page.writer.write_eof()
    elif end == "whole":
        line.page.writer.transport.abort()
    else:
        line.page.say(Frame(Opcode.CLOSE, b""))
    async with asyncio.timeout(5):
        await line.gone.wait()
    with pytest.raises(ConnectionClosedError):
        await line.wire.send(b"picture")


async def test_the_page_is_cut_although_another_process_has_a_handle_of_its_connection(line: Line) -> None:
    assert line.wire._transport is not None
    with line.wire._transport.get_extra_info("socket").dup():
        line.wire.abort()
        await line.page.cut()


async def test_a_page_that_asks_without_end_and_reads_nothing_is_cut(line: Line) -> None:
    """What it is answered must not fill the memory."""
    pings = [Frame(Opcode.PING, bytes(125))] * 2000

    async def flood() -> None:
        while True:
            line.page.say(*pings)
            await line.page.writer.drain()

    flooding = asyncio.create_task(flood())
    async with asyncio.timeout(20):
        await line.gone.wait()
    flooding.cancel()
    await asyncio.gather(flooding, return_exceptions=True)
