"""Who may connect to a host's socket, and what one client can do to the others."""

import asyncio
import contextlib
import json
import socket

import pytest
from websockets.asyncio.client import unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import raw_client
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host import server
from user_handoff.desktop.host.control import CONTROL_PATH, HostControl


async def test_a_web_page_cannot_connect(desk: Desk) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await unix_connect(str(desk.record.socket), "ws://host/cdp", origin="http://127.0.0.1")
    assert refused.value.response.status_code == 403


def test_another_user_cannot_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    """K05."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert server.same_user(ours)
        monkeypatch.setattr("os.getuid", lambda: 12345)
        assert not server.same_user(ours)


async def test_other_paths_lead_nowhere(desk: Desk) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await unix_connect(str(desk.record.socket), "ws://host/json/version")
    assert refused.value.response.status_code == 404


async def test_a_client_cannot_use_the_session_of_another(desk: Desk) -> None:
    async with raw_client(desk.record.socket) as one, raw_client(desk.record.socket) as other:
        targets = (await one.call("Target.getTargets"))["result"]["targetInfos"]
        page = next(info["targetId"] for info in targets if info["type"] == "page")
        session = await one.attach(page)
        answer = await other.call("Runtime.evaluate", session, expression="1")
        assert answer["error"]["code"] == -32001
        assert (await one.call("Runtime.evaluate", session, expression="1"))["result"]["result"]["value"] == 1


async def test_a_message_that_is_no_command_is_answered_and_the_client_goes_on(desk: Desk) -> None:
    async with raw_client(desk.record.socket) as client:
        client.events.clear()
        await client.connection.send(json.dumps({"method": "Browser.getVersion"}))
        assert "product" in (await client.call("Browser.getVersion"))["result"]


async def test_a_frame_of_more_than_16_megabytes_ends_only_its_client(desk: Desk) -> None:
    async with raw_client(desk.record.socket) as client:
        with contextlib.suppress(ConnectionClosed):
            await client.connection.send("x" * (1 << 20) for _ in range(17))
        await asyncio.wait_for(client.connection.wait_closed(), 30)
    assert await desk.page.evaluate("1") == 1


async def test_a_client_that_does_not_read_is_cut_off_and_the_others_go_on(desk: Desk) -> None:
    options = {"compression": None, "max_queue": 1, "max_size": None}  # a frame too big would end it from this side
    async with unix_connect(str(desk.record.socket), "ws://host/cdp", **options) as connection:
        async with raw_client(desk.record.socket) as client:
            targets = (await client.call("Target.getTargets"))["result"]["targetInfos"]
        target = next(info["targetId"] for info in targets if info["type"] == "page")
        await connection.send(_attach(target))
        session = json.loads(await connection.recv())["params"]["sessionId"]
        for id in range(2, 16):
            await connection.send(_evaluate(id, session, "'x'.repeat(4 << 20)"))
        await until(lambda: "cut off" in (desk.spec.folder / "host.log").read_text())
        assert await desk.page.evaluate("1") == 1
        connection.transport.abort()


async def test_a_socket_where_nobody_listens_is_a_browser_that_is_gone(desk: Desk) -> None:
    with pytest.raises(HandoffError) as refused:
        await HostControl.connect(desk.record.socket.with_name("nobody.sock"))
    assert refused.value.code is ErrorCode.BROWSER_GONE


async def test_nonsense_on_the_control_channel_changes_nothing(desk: Desk) -> None:
    async with unix_connect(str(desk.record.socket), f"ws://host{CONTROL_PATH}") as connection:
        await connection.send(json.dumps({"id": 1, "method": "hold", "params": {"hold_id": "x"}}))
        assert json.loads(await connection.recv())["error"]["code"] == "invalid_request"
        await connection.send("nonsense")
        with pytest.raises(ConnectionClosed):
            await connection.recv()
    assert (await desk.control.status()).hold_id is None


def _attach(target: str) -> str:
    return json.dumps({"id": 1, "method": "Target.attachToTarget", "params": {"targetId": target, "flatten": True}})


def _evaluate(id: int, session: str, expression: str) -> str:
    params = {"expression": expression, "returnByValue": True}
    return json.dumps({"id": id, "method": "Runtime.evaluate", "params": params, "sessionId": session})
