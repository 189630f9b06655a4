"""A page's connection is handed over to the desktop on its machine: a real gateway, and a real desktop's door."""

import asyncio
import json
import logging
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.asyncio.server import unix_serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from tests.gateway.live.ends import Other, raw_page
from tests.gateway.live.test_door import RENEW, Stage, error, gateway_before, stage, why
from tests.handles import handles
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.view import ENDED, TAKEN, AdmitViewer, ViewerAdmitted
from user_handoff.desktop.view import pages
from user_handoff.desktop.view.connection import Socket
from user_handoff.desktop.view.door import Door
from user_handoff.desktop.view.handed import HandedPage
from user_handoff.desktop.view.tickets import Tickets, Viewer
from user_handoff.gateway.live import handing

__all__ = ["stage"]

CONTROL = {"t": "control", "want": True}


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture) -> None:
    """The gateway says how each view has ended."""
    caplog.set_level(logging.INFO, "user_handoff.gateway.live.door")


@dataclass
class Machine(Stage):
    """A gateway and a desktop on one machine."""

    waiting: Tickets = field(default_factory=Tickets)
    views: list[Socket] = field(default_factory=list)
    ended: list[Socket] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def admit_viewer(self, queue: str, request: AdmitViewer) -> ViewerAdmitted:
        self.waiting.expect(request)
        return await super().admit_viewer(queue, request)

    async def look(self, viewer: Viewer, page: Socket) -> None:
        self.views.append(page)
        with suppress(ConnectionClosed):
            async for said in page:
                self.told.append(json.loads(said) if isinstance(said, str) else said)
                page.handled()
        self.ended.append(page)
        await page.close(1000, "")

    async def view(self, number: int = 1) -> Socket:
        """What the desktop has of the page, once it is there."""
        await until(lambda: len(self.views) == number)
        return self.views[-1]


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    machine = Machine(address=f"unix:{tmp_path / 'view'}")
    door = Door(machine.waiting, machine.look)
    await door.open_socket(tmp_path / "view")
    async with gateway_before(machine) as machine.stop:
        yield machine
    await door.close()


async def test_the_desktop_has_the_pages_own_connection(machine: Machine) -> None:
    async with machine.page() as page:
        view = await machine.view()
        assert isinstance(view, HandedPage)
        await view.send(b"picture")
        assert await page.recv() == b"picture"
        await page.send(b"input")
        await until(lambda: machine.told == [b"input"])


async def test_a_page_is_answered_as_long_as_its_gateway_lives(machine: Machine) -> None:
    ping = {"t": "ping", "n": 1}
    async with machine.page() as page:
        await page.send(json.dumps(ping))
        await until(lambda: machine.told == [ping])


async def test_a_handed_page_cannot_renew_by_itself(machine: Machine) -> None:
    async with machine.page() as page:
        await machine.view()
        await page.send(json.dumps(RENEW))
        assert await why(page) == "violation"
        assert page.close_code == ENDED
    await until(lambda: machine.ended)
    assert machine.told == []


@pytest.mark.parametrize("text", ["x" * 70_000, "ä" * 400_000])
async def test_a_handed_page_that_says_too_much_ends_the_view(machine: Machine, text: str) -> None:
    async with machine.page() as page:
        await machine.view()
        await page.send(json.dumps({"t": "text", "text": text}, ensure_ascii=False))
        assert await why(page) == "violation"
    await until(lambda: machine.ended)


async def test_its_sign_of_life_is_made_a_renewal(machine: Machine) -> None:
    async with machine.page() as page:
        await page.send('{"t": "beat"}')
        await until(lambda: machine.told == [RENEW])


async def test_it_gets_control_only_once_the_workflow_has_said_so(machine: Machine) -> None:
    async with machine.page() as page:
        await machine.view()
        machine.answers = asyncio.Event()
        asked = len(machine.tabs)
        await page.send(json.dumps(CONTROL))
        await until(lambda: len(machine.tabs) > asked)
        await page.send(b"input")
        await until(lambda: machine.told == [b"input"])
        machine.answers.set()
        await until(lambda: CONTROL in machine.told)


async def test_where_nobody_can_say_whether_it_may_the_page_is_told(machine: Machine) -> None:
    async with machine.page() as page:
        await machine.view()
        machine.refuses = error(ErrorCode.TEMPORAL_UNREACHABLE)
        await page.send(json.dumps(CONTROL))
        assert json.loads(await page.recv()) == {"t": "unsure"}
        assert CONTROL not in machine.told


async def test_a_right_that_is_gone_ends_it_at_the_desktop_and_the_page_is_told_why(machine: Machine) -> None:
    async with machine.page() as page:
        await machine.view()
        machine.refuses = error(ErrorCode.LINK_TAKEN)
        assert await why(page) == ErrorCode.LINK_TAKEN
        assert page.close_code == ENDED
    await until(lambda: machine.ended)


async def test_the_end_of_a_handed_page_is_the_end_at_the_desktop_and_at_the_gateway(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    async with machine.page() as page:
        await machine.view()
        page.transport.abort()
        await until(lambda: machine.ended)
    await until(lambda: "VIEW /j/{token}/view gone" in caplog.text)


async def test_the_end_at_the_desktop_is_told_to_the_page_and_the_gateway(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    async with machine.page() as page:
        await (await machine.view()).close(1000, "expired")
        assert (await why(page), page.close_code) == ("expired", ENDED)
    await until(lambda: "VIEW /j/{token}/view expired" in caplog.text)


async def test_the_end_of_the_gateway_is_the_end_of_the_view_and_its_server_says_nothing_to_the_page(
    machine: Machine,
) -> None:
    """It would say 1012, in the middle of the desktop's messages."""
    async with machine.page() as page:
        await machine.view()
        machine.stop.set()
        async with asyncio.timeout(2):  # sooner than what is open is cancelled
            assert (await why(page), page.close_code) == ("lost", ENDED)
    await until(lambda: machine.ended)


async def test_views_that_have_ended_leave_no_handle(machine: Machine) -> None:
    async with machine.page():
        await machine.view()
    await until(lambda: machine.ended)
    before = handles()
    for number in (2, 3, 4):
        async with machine.page() as page:
            view = await machine.view(number)
            if number == 2:
                await page.send("[]")
            elif number == 3:
                await view.close(1000, "over")
        await until(lambda: len(machine.ended) == len(machine.views))
    await until(lambda: handles() <= before)


@pytest.fixture
async def other(stage: Stage, tmp_path: Path) -> AsyncIterator[Other]:
    other = Other(tmp_path / "page")
    yield other
    other.close()


async def test_a_page_that_is_not_taken_goes_through_the_gateway(stage: Stage, other: Other) -> None:
    """As where it died before it answered."""
    async with stage.page() as page:
        await page.send(b"input")
        (await other.take()).close()
        other.gateway.close()
        await until(lambda: stage.told == [b"input"])
        await stage.desktops[0].send(b"picture")
        assert await page.recv() == b"picture"


async def test_a_page_of_which_nobody_says_whether_it_was_taken_is_cut(
    stage: Stage, other: Other, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two that speak on one connection would be worse: the page comes again."""
    monkeypatch.setattr(handing, "_SECONDS", 0.2)
    async with stage.page() as page:
        await other.take()
        assert await why(page) == ""
        assert page.close_code == 1006
    await until(lambda: "VIEW /j/{token}/view view_unavailable" in caplog.text)


async def test_a_page_that_goes_while_it_is_handed_over_is_cut_without_a_fault(
    stage: Stage, other: Other, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(handing, "_SECONDS", 0.2)
    async with stage.page() as page:
        await other.take()
        page.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        page.transport.abort()
        await until(lambda: "VIEW /j/{token}/view view_unavailable" in caplog.text)


async def test_a_server_that_ends_while_a_page_is_handed_over_says_not_one_byte_to_it(tmp_path: Path) -> None:
    stage, other = Stage(address=f"unix:{tmp_path / 'view'}"), Other(tmp_path / "page")

    async def refused() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", stage.port)
        except ConnectionError:
            return True
        writer.transport.abort()
        return False

    desktop = unix_serve(stage.desktop, str(tmp_path / "view"), compression=None)
    async with desktop, gateway_before(stage) as stop, raw_page(stage) as (reader, _):
        page = await other.take()
        stop.set()
        await until(refused)
        other.gateway.send(TAKEN)
        await until(lambda: stage.desktops[0].state is State.CLOSED)
        page.shutdown(socket.SHUT_RDWR)
        assert await reader.read() == b""
    other.close()


WHOLE = Frame(Opcode.BINARY, b"early").serialize(mask=True)


@pytest.mark.parametrize("length", [len(WHOLE), 2, 8])
async def test_a_page_that_speaks_before_it_is_let_in_goes_through_the_gateway(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    """What it has said is here, and be it the beginning of a message."""
    monkeypatch.setattr(pages, "_SECONDS", 0.1)
    async with raw_page(machine, WHOLE[:length]) as (_, writer):
        writer.write(WHOLE[length:])
        await until(lambda: machine.told == [b"early"])
        assert not isinstance(await machine.view(), HandedPage)
