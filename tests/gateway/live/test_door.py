"""The live view's door at the gateway, before a desktop that notes what it is told."""

import asyncio
import hashlib
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve, unix_serve

from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.view import TICKET_HEADER, AdmitViewer, ViewerAdmitted
from user_handoff.gateway.live.door import LiveDoor
from user_handoff.gateway.serving import serve as serve_gateway

TOKEN = "token-that-is-a-secret"
RENEW = {"t": "renew"}


@dataclass
class Stage:
    """A gateway, a desktop, and what the handoff's workflow would say."""

    address: str = ""
    port: int = 0
    state: HandoffState = HandoffState.HELD
    answer: str | None = None
    refuses: HandoffError | None = None
    answers: asyncio.Event | None = None
    told: list[Any] = field(default_factory=list)
    tickets: list[str] = field(default_factory=list)
    asked: list[tuple[str, AdmitViewer]] = field(default_factory=list)
    tabs: list[str] = field(default_factory=list)
    desktops: list[ServerConnection] = field(default_factory=list)

    async def sits(self, request: Any, token: str, tab: str) -> Any:
        assert token == TOKEN
        self.tabs.append(tab)
        if self.answers is not None:
            await self.answers.wait()
        if self.refuses is not None:
            raise self.refuses
        summary = {"handoff_id": "handoff/b/s/m", "state": self.state, "answer": self.answer, "queue": "desktop.c.d"}
        return SimpleNamespace(summary=SimpleNamespace(**summary))

    async def admit_viewer(self, queue: str, request: AdmitViewer) -> ViewerAdmitted:
        self.asked.append((queue, request))
        return ViewerAdmitted(viewer_id=request.viewer_id, address=self.address)

    async def desktop(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.tickets += socket.request.headers.get_all(TICKET_HEADER)
        self.desktops.append(socket)
        async for said in socket:
            self.told.append(json.loads(said) if isinstance(said, str) else said)

    def page(self, origin: str | None = "self", query: str = "?tab=t1") -> Any:
        mine = f"http://127.0.0.1:{self.port}"
        headers = {} if origin is None else {"Origin": mine if origin == "self" else origin}
        return connect(
            f"ws://127.0.0.1:{self.port}/j/{TOKEN}/view{query}", additional_headers=headers, compression=None
        )


@asynccontextmanager
async def gateway_before(stage: Stage) -> AsyncIterator[asyncio.Event]:
    """A gateway that lets people look at it; set what is yielded to stop it."""
    door = LiveDoor(stage, stage.sits, "http://gateway.example", check_seconds=0.1)  # type: ignore[arg-type]
    app = Starlette(routes=[WebSocketRoute("/j/{token}/view", door.view)])
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_gateway(app, "127.0.0.1", 0, stop, ready=port.set_result))
    stage.port = await port
    try:
        yield stop
    finally:
        stop.set()
        await serving


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(address=f"unix:{tmp_path / 'view'}")
    async with unix_serve(stage.desktop, str(tmp_path / "view"), compression=None), gateway_before(stage):
        yield stage


async def why(page: ClientConnection) -> str | None:
    """Why the gateway ended it."""
    async with asyncio.timeout(5):
        await page.wait_closed()
    return page.close_reason


def _are(what: list[str], number: int) -> bool:
    return len(what) == number


def error(code: ErrorCode) -> HandoffError:
    return make_error(code, "So it is.")


async def test_picture_and_input_go_through_as_they_are(stage: Stage) -> None:
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        await stage.desktops[0].send(b"picture")
        assert await page.recv() == b"picture"
        await stage.desktops[0].send('{"t": "pong", "n": 1, "age": 3}')
        assert json.loads(await page.recv()) == {"t": "pong", "n": 1, "age": 3}
        await page.send(b"input")
        await page.send('{"t": "ping", "n": 2}')
        await until(lambda: stage.told[-1:] == [{"t": "ping", "n": 2}])
        assert b"input" in stage.told


async def test_the_ticket_is_told_to_the_desktop_alone_and_its_hash_to_temporal(stage: Stage) -> None:
    """K04: 192 random bits, another one for each viewer."""
    for number in (1, 2):
        async with stage.page():
            await until(partial(_are, stage.tickets, number))
    assert len(set(stage.tickets)) == 2 and all(len(each) == 32 for each in stage.tickets)
    for ticket, (queue, asked) in zip(stage.tickets, stage.asked, strict=True):
        assert queue == "desktop.c.d"
        assert asked.ticket_sha256 == hashlib.sha256(ticket.encode()).hexdigest()
        assert ticket not in asked.model_dump_json()
    assert stage.asked[0][1].viewer_id != stage.asked[1][1].viewer_id
    assert set(stage.tabs) == {"t1"}


async def test_a_sign_of_life_is_made_a_renewal_while_the_workflow_says_so(stage: Stage) -> None:
    """E3."""
    async with stage.page() as page:
        await page.send('{"t": "beat"}')
        await until(lambda: RENEW in stage.told)


async def test_without_a_sign_of_life_nothing_is_renewed(stage: Stage) -> None:
    """K03: the right to look is asked for all the same."""
    async with stage.page():
        await until(lambda: len(stage.tabs) > 4)
        assert stage.told == []


async def test_a_page_cannot_renew_by_itself(stage: Stage) -> None:
    """K04."""
    async with stage.page() as page:
        await page.send(json.dumps(RENEW))
        assert await why(page) == "violation"
    assert stage.told == []


@pytest.mark.parametrize("said", ["[]", "nothing", '{"t": "end"}', '{"t": "text", "text": "' + "x" * 70_000 + '"}'])
async def test_what_a_page_may_not_say_ends_the_view(stage: Stage, said: str) -> None:
    async with stage.page() as page:
        await page.send(said)
        assert await why(page) == "violation"


async def test_while_temporal_does_not_answer_nothing_is_renewed_and_nobody_gets_control(stage: Stage) -> None:
    """F5: so that control ends by itself."""
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        stage.refuses = error(ErrorCode.TEMPORAL_UNREACHABLE)
        await page.send('{"t": "beat"}')
        await page.send('{"t": "control", "want": true}')
        for _ in range(2):
            assert json.loads(await page.recv()) == {"t": "unsure"}
        assert stage.told == []
        await page.send('{"t": "control", "want": false}')
        await until(lambda: stage.told == [{"t": "control", "want": False}])
        stage.refuses = None
        await page.send('{"t": "beat"}')
        await until(lambda: RENEW in stage.told)


async def test_who_wants_no_control_any_more_does_not_get_it_late(stage: Stage) -> None:
    """E3: nothing gives control to anybody by itself."""
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        stage.answers = asyncio.Event()
        await page.send('{"t": "control", "want": true}')
        await page.send('{"t": "control", "want": false}')
        await until(lambda: stage.told == [{"t": "control", "want": False}])
        stage.answers.set()
        await page.send('{"t": "beat"}')
        await until(lambda: RENEW in stage.told)
        assert {"t": "control", "want": True} not in stage.told
        await page.send('{"t": "control", "want": true}')
        await until(lambda: {"t": "control", "want": True} in stage.told)


@pytest.mark.parametrize("code", [ErrorCode.LINK_UNKNOWN, ErrorCode.LINK_TAKEN, ErrorCode.UNKNOWN_HANDOFF])
async def test_a_right_that_is_gone_ends_a_view_that_is_open(stage: Stage, code: ErrorCode) -> None:
    """C6: revoked with the link."""
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        stage.refuses = error(code)
        assert await why(page) == code
        await stage.desktops[0].wait_closed()


@pytest.mark.parametrize(("state", "answer"), [(HandoffState.FINISHING, None), (HandoffState.HELD, "done")])
async def test_an_answer_ends_it(stage: Stage, state: HandoffState, answer: str | None) -> None:
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        stage.state, stage.answer = state, answer
        assert await why(page) == ErrorCode.NOT_HELD
    async with stage.page() as page:
        assert await why(page) == ErrorCode.NOT_HELD
    assert len(stage.asked) == 1


@pytest.mark.parametrize("origin", [None, "null", "https://elsewhere.example", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_is_let_in_nowhere(stage: Stage, origin: str | None) -> None:
    """C6: cookies would come along."""
    async with stage.page(origin) as page:
        assert await why(page) == ErrorCode.FORBIDDEN
    assert stage.tabs == []


async def test_the_end_of_the_page_is_at_once_the_end_at_the_desktop(stage: Stage) -> None:
    """K02."""
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        page.transport.abort()
        async with asyncio.timeout(5):
            await stage.desktops[0].wait_closed()


async def test_the_desktops_reason_reaches_the_page(stage: Stage) -> None:
    """F5."""
    async with stage.page() as page:
        await until(lambda: stage.desktops)
        await stage.desktops[0].close(1000, "expired")
        assert await why(page) == "expired"


@pytest.mark.parametrize("address", ["unix:/nowhere", "ws://127.0.0.1:1", "ws://no.such.invalid:8710", "ftp://x"])
async def test_a_desktop_that_cannot_be_reached_is_said_and_the_log_tells_where_it_was_looked_for(
    stage: Stage, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    """F5: the page tells it from a desktop that has no view, and the operator finds what to mend."""
    stage.address = address
    async with stage.page() as page:
        assert await why(page) == "unreachable"
    await until(lambda: address in caplog.text and "HANDOFF_VIEW_ADDRESS" in caplog.text)


async def test_what_an_address_says_beyond_its_place_is_in_no_log(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    """K41: a proxy's password may be part of it."""
    stage.address = "ws://me:hunter2@127.0.0.1:1/s3cret?t=s3cret"
    async with stage.page() as page:
        assert await why(page) == "unreachable"
    await until(lambda: "ws://127.0.0.1:1" in caplog.text)
    assert "hunter2" not in caplog.text and "s3cret" not in caplog.text


async def test_a_desktop_without_a_view_is_told_as_such(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: there the person is at the desk, and the page shows nothing."""

    async def admit_viewer(queue: str, request: AdmitViewer) -> ViewerAdmitted:
        raise error(ErrorCode.VIEW_UNAVAILABLE)

    monkeypatch.setattr(stage, "admit_viewer", admit_viewer)
    async with stage.page() as page:
        assert await why(page) == ErrorCode.VIEW_UNAVAILABLE


async def test_a_desktop_on_another_machine_is_reached_by_its_address(stage: Stage) -> None:
    async with serve(stage.desktop, "127.0.0.1", 0, compression=None) as server:
        stage.address = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        async with stage.page() as page:
            await page.send(b"input")
            await until(lambda: stage.told == [b"input"])


async def test_no_log_tells_the_link(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """K41: whoever switches all logs on."""
    caplog.set_level(logging.DEBUG)
    for name in ("websockets", "websockets.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # the test's own page
    async with stage.page() as page:
        await until(lambda: stage.tickets)
        await page.send(json.dumps(RENEW))
        await why(page)
    await until(lambda: "VIEW /j/{token}/view violation" in caplog.text)
    assert TOKEN not in caplog.text and stage.tickets[0] not in caplog.text
