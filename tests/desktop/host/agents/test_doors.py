"""Who gets in by a door, for how long, and what a client finds there."""

import asyncio
import contextlib
import json
import secrets
import socket
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.async_api import Error, Playwright
from websockets.asyncio.client import connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.desktop.host.agents.conftest import Door, open_door, page_of
from tests.desktop.host.conftest import Desk
from tests.desktop.host.raw import raw_client
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host.doors import MAX_DOORS


def ask(url: str, **headers: str) -> tuple[int, bytes]:
    """The status and the body of an HTTP answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


async def refused(url: str, **options: object) -> int:
    with pytest.raises(InvalidStatus) as answer:
        await connect(url, **options)  # type: ignore[arg-type]
    return answer.value.response.status_code


async def test_playwright_connects_by_http_too(desk: Desk, door: Door, playwright: Playwright) -> None:
    """F9."""
    browser = await playwright.chromium.connect_over_cdp(door.http)
    assert await browser.contexts[0].pages[0].evaluate("1 + 1") == 2
    await browser.close()
    assert await desk.page.evaluate("1") == 1


async def test_a_client_finds_the_socket_by_http(door: Door) -> None:
    for path in ("/json/version", "/json/version/"):
        status, body = await asyncio.to_thread(ask, door.http + path)
        found = json.loads(body)
        assert status == 200
        assert found["webSocketDebuggerUrl"] == f"ws://127.0.0.1:{door.port}/{door.token}/devtools/browser/b_desk"
    assert (await asyncio.to_thread(ask, door.http + "/json/list")) == (200, b"[]")
    async with connect(found["webSocketDebuggerUrl"]) as connection:
        await connection.send(json.dumps({"id": 1, "method": "Browser.getVersion"}))
        assert "product" in json.loads(await connection.recv())["result"]


@pytest.mark.parametrize(
    "path", ["", "/", "/json/version", "/x", "/" + "A" * 43, "/agent/" + "A" * 43, "/cdp", "/control"]
)
async def test_without_its_token_there_is_nothing(desk: Desk, door: Door, path: str) -> None:
    """K05: not even that a browser is there."""
    assert (await asyncio.to_thread(ask, f"http://127.0.0.1:{door.port}{path}"))[0] == 404
    assert await refused(f"ws://127.0.0.1:{door.port}{path}") == 404
    with pytest.raises(InvalidStatus):
        await unix_connect(str(door.socket), f"ws://host{path}")


async def test_a_web_page_cannot_use_a_door(door: Door) -> None:
    assert await refused(f"{door.http.replace('http', 'ws')}/devtools/browser/b_desk", origin="http://127.0.0.1") == 403
    assert (await asyncio.to_thread(ask, door.http + "/json/version", Host="evil.example"))[0] == 403
    assert (await asyncio.to_thread(ask, door.http + "/json/version", Host=f"evil.example:{door.port}"))[0] == 403


async def test_the_port_is_open_on_loopback_alone(door: Door) -> None:
    assert door.port is not None
    with pytest.raises(OSError), socket.create_connection((_own_address(), door.port), timeout=2):
        pass


async def test_the_socket_is_private_and_another_one_than_the_runners(desk: Desk, door: Door) -> None:
    """K05."""
    assert door.socket != desk.record.socket
    assert stat.S_IMODE(door.socket.stat().st_mode) == 0o600


async def test_a_door_of_the_socket_alone_is_closed_on_the_port(desk: Desk, door: Door) -> None:
    hidden = await open_door(desk.control, tcp=False)
    assert hidden.port is None
    assert (await asyncio.to_thread(ask, f"http://127.0.0.1:{door.port}/{hidden.token}/json/version"))[0] == 404
    async with raw_client(hidden.socket, hidden.path) as client:
        assert "result" in await client.call("Browser.getVersion")
    await desk.control.close_door(hidden.door_id)


async def test_a_door_that_is_closed_lets_nobody_in_and_cuts_off_who_came_by_it(desk: Desk, door: Door) -> None:
    other = await open_door(desk.control, name="for a while")
    async with raw_client(door.socket, door.path) as stays, raw_client(other.socket, other.path) as client:
        await client.attach(await page_of(client))
        listed = {each["door_id"]: each for each in await desk.control.doors()}
        assert (listed[other.door_id]["name"], listed[other.door_id]["connected"]) == ("for a while", 1)
        assert other.token not in json.dumps(list(listed.values()))
        assert await desk.control.close_door(other.door_id)
        await asyncio.wait_for(client.connection.wait_closed(), 5)
        with pytest.raises(InvalidStatus):
            await unix_connect(str(other.socket), f"ws://host{other.path}")
        assert "result" in await stays.call("Browser.getVersion")
    assert not await desk.control.close_door(other.door_id)


async def test_a_door_closes_by_itself_when_its_time_is_over(desk: Desk) -> None:
    short = await open_door(desk.control, seconds=0.4)
    async with raw_client(short.socket, short.path) as client:
        await asyncio.wait_for(client.connection.wait_closed(), 5)
    assert short.door_id not in [each["door_id"] for each in await desk.control.doors()]


async def test_only_so_many_doors_are_open_at_once(desk: Desk) -> None:
    opened = []
    with pytest.raises(HandoffError) as full:
        for _ in range(MAX_DOORS + 1):
            opened.append(await open_door(desk.control))
    assert full.value.code is ErrorCode.INVALID_REQUEST
    for each in opened:
        await desk.control.close_door(each.door_id)


async def test_nobody_new_gets_in_while_a_person_has_the_browser(
    held: Desk, door: Door, playwright: Playwright
) -> None:
    """F9: refused at once, and typed."""
    await held.control.hold("h", 2)
    with pytest.raises(InvalidStatus) as refusal:
        await unix_connect(str(door.socket), f"ws://host{door.path}")
    assert refusal.value.response.status_code == 503
    assert json.loads(bytes(refusal.value.response.body or b""))["code"] == "browser_held"
    with pytest.raises(Error, match="503"):
        await playwright.chromium.connect_over_cdp(door.http)
    await held.control.release("h")
    async with raw_client(door.socket, door.path) as client:
        assert "result" in await client.call("Browser.getVersion")


async def test_a_token_is_written_nowhere(desk: Desk, door: Door) -> None:
    """B7: what a page could be made to read has none, and no process shows it."""
    with contextlib.suppress(ConnectionClosed, InvalidStatus):
        await connect(f"ws://127.0.0.1:{door.port}/{door.token}/nowhere")
    files = [path for path in desk.spec.folder.rglob("*") if path.is_file() and "profile" not in path.parts]
    assert desk.spec.folder / "host.log" in files
    for path in files:
        assert door.token.encode() not in path.read_bytes()
    assert not await asyncio.to_thread(_shown_by_processes, door.token)


def _shown_by_processes(token: str) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if token.encode() in (process / "cmdline").read_bytes():
                return True
    return False


def _own_address() -> str:
    """An address of this machine that is not loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return f"127.{secrets.randbelow(100) + 1}.0.2"
        return str(probe.getsockname()[0])
