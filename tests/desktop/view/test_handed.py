"""A page whose connection a gateway has handed over; the test is the gateway."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame, Opcode

from tests.desktop.view.handing import Desk, Stand, standing
from tests.desktop.view.pages import Page, page_on
from tests.handles import handles
from tests.waiting import until
from user_handoff.contract.view import ENDED
from user_handoff.desktop.view import handed as handed_module
from user_handoff.desktop.view.door import Door


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    door = Door(desk.tickets, desk.view)
    await door.open_socket(tmp_path / "view")
    yield desk
    if desk.busy is not None:
        desk.busy.set()
    await door.close()


@pytest.fixture
async def stand(desk: Desk) -> AsyncIterator[Stand]:
    async with standing(desk) as stand:
        yield stand


async def test_the_page_and_the_view_talk_without_the_gateway(stand: Stand) -> None:
    text, override = '{"t": "text", "text": "a"}', '{"t": "override"}'
    stand.page.say(b"input", text, override)
    await until(lambda: stand.told == [b"input", text, override])
    assert stand.view.send_at_once(b"picture")
    await stand.view.send("said")
    assert [await stand.page.heard(), await stand.page.heard()] == [b"picture", "said"]
    stand.page.tell("beat")
    assert await stand.asked() == {"t": "beat"}


async def test_input_is_taken_at_once_but_never_before_an_older_text(stand: Stand) -> None:
    taken: list[bytes] = []

    def take(data: bytes) -> bool:
        taken.append(data)
        return True

    stand.view.take = take
    text = '{"t": "text", "text": "a"}'
    stand.page.say(b"one", text, b"two")
    await until(lambda: stand.told == [text, b"two"])
    stand.page.say(b"three")
    await until(lambda: taken == [b"one", b"three"])


@pytest.mark.parametrize("said", ['{"t": "renew"}', '{"t": "control", "want": true}', '{"t": "bye", "why": ""}', "[]"])
async def test_what_the_gateway_decides_goes_to_it_alone(stand: Stand, said: str) -> None:
    stand.page.say(said, b"input")
    assert await stand.asked() == json.loads(said)
    await until(lambda: stand.told == [b"input"])


async def test_of_a_text_that_is_too_long_the_gateway_learns_that_it_is_nothing(stand: Stand) -> None:
    stand.page.tell("text", text="x" * 64 * 1024)
    async with asyncio.timeout(5):
        assert await stand.gateway.recv() == ""


async def test_what_the_gateway_says_reaches_the_view_or_the_page(stand: Stand) -> None:
    await stand.gateway.send('{"t": "unsure"}')
    await stand.gateway.send('{"t": "renew"}')
    await until(lambda: stand.told == ['{"t": "renew"}'])
    assert await stand.page.heard() == '{"t": "unsure"}'


@pytest.mark.parametrize(
    ("bye", "why"),
    [({"why": "link_taken"}, "link_taken"), ({"why": ""}, "lost"), ({}, "lost"), ({"why": 5}, "lost")],
)
async def test_when_the_gateway_ends_it_the_page_is_told_why_and_the_view_is_over(
    stand: Stand, bye: dict[str, Any], why: str
) -> None:
    await stand.gateway.send(json.dumps({"t": "bye", **bye}))
    assert await stand.page.closed() == (ENDED, why)
    await stand.desk.over.wait()


async def test_not_one_more_picture_is_sent_after_that_also_where_the_view_is_busy(desk: Desk) -> None:
    desk.busy = asyncio.Event()
    async with standing(desk) as stand:
        await stand.gateway.send('{"t": "bye", "why": "link_taken"}')
        assert await stand.page.closed() == (ENDED, "link_taken")
        assert not stand.view.send_at_once(b"picture")
        with pytest.raises(ConnectionClosedError):
            await stand.view.send(b"picture")


async def test_what_waited_for_the_view_when_it_ended_never_arrives(desk: Desk) -> None:
    desk.busy = asyncio.Event()
    async with standing(desk) as stand:
        stand.page.say(b"one", b"two", b"three")
        await until(lambda: stand.view._waiting)
        await stand.gateway.send('{"t": "bye", "why": "link_taken"}')
        await stand.page.closed()
        desk.busy.set()
        await desk.over.wait()
        assert stand.told == []


async def test_a_page_that_reads_nothing_does_not_keep_the_gateway_from_ending_it(stand: Stand) -> None:
    while stand.view.send_at_once(bytes(256 * 1024)):
        pass
    for _ in range(20):
        await stand.gateway.send('{"t": "unsure"}')
    await stand.gateway.send('{"t": "bye", "why": "link_taken"}')
    async with asyncio.timeout(5):
        await stand.desk.over.wait()


async def test_the_loss_of_the_gateway_is_the_end(stand: Stand) -> None:
    stand.gateway.transport.abort()
    assert await stand.page.closed() == (ENDED, "lost")
    await stand.desk.over.wait()


async def test_the_end_of_the_page_is_told_to_the_gateway(stand: Stand) -> None:
    stand.page.writer.transport.abort()
    async with asyncio.timeout(5):
        await stand.gateway.wait_closed()
    assert stand.gateway.close_reason == "gone"


@pytest.mark.parametrize("answer", [None, '{"t": "unsure"}'])
async def test_while_the_gateway_answers_no_ping_input_waits_and_then_goes_on(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, answer: str | None
) -> None:
    """Any word of it is a sign of life; a ping comes back."""
    monkeypatch.setattr(handed_module, "_DOUBT_SECONDS", 0.05)
    stand.page.tell("ping", n=1)
    await stand.until_held_back()
    stand.page.say(b"input")
    ping = json.dumps(await stand.asked())
    assert stand.told == []
    await stand.gateway.send(answer or ping)
    await until(lambda: stand.told == ([b"input"] if answer else [ping, b"input"]))


async def test_what_came_while_the_gateway_did_not_answer_never_arrives_when_that_is_the_end(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed_module, "_DOUBT_SECONDS", 0.05)
    monkeypatch.setattr(handed_module, "_LOST_SECONDS", 0.1)
    stand.page.tell("ping", n=1)
    await stand.until_held_back()
    stand.page.say(b"input")
    assert await stand.page.closed() == (ENDED, "lost")
    stand.page.say(Frame(Opcode.CLOSE, b""))
    stand.page.writer.write_eof()
    await stand.view._page.until_gone()
    assert stand.told == []


@pytest.mark.parametrize("said", [b"x" * 1000, b"x" * 1024 * 1024, '{"t": "text"}', '{"t": "beat"}'])
async def test_a_page_that_says_more_than_is_handled_waits_itself(desk: Desk, said: bytes | str) -> None:
    """Else it would fill the memory; neither the view nor the gateway takes anything here."""
    desk.busy = asyncio.Event()
    async with standing(desk) as stand:
        stand.gateway.transport.pause_reading()
        flooding = asyncio.create_task(_flood(stand.page, said))
        await stand.until_held_back()
        queues: list[Any] = [stand.view._said, stand.view._asked]
        assert sum(len(each) for queue in queues for each in queue._queue) < 3 * 1024 * 1024
        flooding.cancel()
        await asyncio.gather(flooding, return_exceptions=True)
        stand.gateway.transport.abort()


async def _flood(page: Page, said: bytes | str) -> None:
    while True:
        page.say(*[said] * max(1, 10_000 // len(said)))
        await page.writer.drain()


async def test_a_page_that_was_held_back_is_heard_again_once_all_is_handled(desk: Desk) -> None:
    desk.busy = asyncio.Event()
    async with standing(desk) as stand:
        stand.page.say(*[b"input"] * 64)
        await stand.until_held_back()
        desk.busy.set()
        stand.page.say(b"last")
        await until(lambda: stand.told == [*[b"input"] * 64, b"last"])


async def test_a_page_that_was_held_back_is_heard_again_once_the_gateway_is_told_all(stand: Stand) -> None:
    stand.gateway.transport.pause_reading()
    flooding = asyncio.create_task(_flood(stand.page, '{"t": "beat"}'))
    await stand.until_held_back()
    flooding.cancel()
    await asyncio.gather(flooding, return_exceptions=True)
    stand.page.say(b"input")
    stand.gateway.transport.resume_reading()
    while not stand.told:
        assert await stand.asked() == {"t": "beat"}
    assert stand.told == [b"input"]
    stand.gateway.transport.abort()  # it need not hear the rest


async def test_a_view_that_cannot_begin_leaves_no_page_no_handle_and_no_task(desk: Desk) -> None:
    before, tasks = handles(), len(asyncio.all_tasks())
    desk.fails = True
    ours, theirs = socket.socketpair()
    async with await desk.connect("ticket", "key") as gateway, page_on(theirs) as page:
        with ours:
            await desk.hand_over(ours, "key")
        assert (await page.closed())[0] == ENDED
        page.writer.write_eof()
        await gateway.wait_closed()
    await until(lambda: handles() == before and len(asyncio.all_tasks()) == tasks)
