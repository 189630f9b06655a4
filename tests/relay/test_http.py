"""The relay before a server that is reached by streamable HTTP."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from tests.relay.conftest import BUSY, error_of, held
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.desk import Desk
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.gateway.serving import serve
from user_handoff.relay.http import HttpRelay, address, serve_http
from user_handoff.relay.messages import FRAME_BYTES
from user_handoff.relay.tools import Judge


class World:
    """A server, and a relay before it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.over = asyncio.Event()
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.reply: Any = None

    async def call(self, ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        self.calls.append(params.name)
        if (params.arguments or {}).get("wait"):
            await ctx.session.report_progress(1, 2, "half of it")
            await self.over.wait()
        return CallToolResult(content=[TextContent(type="text", text=params.name)])

    async def list(self, ctx: Any, params: Any) -> ListToolsResult:
        def tool(name: str, *, reads: bool) -> Tool:
            return Tool(name=name, input_schema={"type": "object"}, annotations=ToolAnnotations(read_only_hint=reads))

        return ListToolsResult(tools=[tool("look", reads=True), tool("act", reads=False)])

    async def plain(self, request: Request) -> Response:
        """A server of few words: it answers what the test says."""
        self.headers.append(dict(request.headers))
        message = json.loads(await request.body() or b"{}")
        self.calls.append(message.get("params", {}).get("name", message.get("method", request.method)))
        return (
            self.reply(message)
            if callable(self.reply)
            else JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        )


@contextlib.asynccontextmanager
async def served(app: Starlette) -> AsyncIterator[int]:
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, stop, ready=port.set_result))
    try:
        yield await port
    finally:
        stop.set()
        await serving


@contextlib.asynccontextmanager
async def relayed(state: Path, url: str) -> AsyncIterator[str]:
    stop, said = asyncio.Event(), asyncio.get_running_loop().create_future()
    relay = HttpRelay(Desk(state, "c_1"), Judge(), None, url)
    serving = asyncio.create_task(serve_http(relay, "127.0.0.1:0", stop, said.set_result))
    try:
        yield str(await said).removeprefix("handoff relay is ready: ")
    finally:
        stop.set()
        await serving


@pytest.fixture
async def world(state: Path, ledger: Ledger) -> AsyncIterator[World]:
    world = World()
    sdk: Server[Any] = Server("fake", version="1", on_call_tool=world.call, on_list_tools=world.list)
    manager = StreamableHTTPSessionManager(sdk)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [Route("/plain", world.plain, methods=["POST", "GET", "DELETE"]), Mount("/", app=manager.handle_request)]
    async with served(Starlette(routes=routes, lifespan=lifespan)) as port:
        world.url = f"http://127.0.0.1:{port}"
        yield world


@contextlib.asynccontextmanager
async def client_of(world: World, state: Path) -> AsyncIterator[Client]:
    """A real client of a real server."""
    async with (
        relayed(state, f"{world.url}/mcp") as url,
        httpx2.AsyncClient(timeout=30) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


@pytest.fixture
async def plain(world: World, state: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A raw client of a server of few words."""
    async with (
        relayed(state, f"{world.url}/plain") as url,
        httpx2.AsyncClient(base_url=url.removesuffix("/plain"), timeout=30) as http,
    ):
        yield http


def call(request_id: Any, tool: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": tool, "arguments": {}}}


async def test_a_client_works_is_refused_while_held_and_goes_on(world: World, state: Path, ledger: Ledger) -> None:
    """E8, K01: by the SDK, with sessions and streams."""
    async with client_of(world, state) as sdk:
        assert {tool.name for tool in (await sdk.list_tools()).tools} == {"look", "act"}
        assert not (await sdk.call_tool("act", {})).is_error
        with held(ledger):
            for tool in ("act", "look"):
                with pytest.raises(MCPError) as refused:
                    await sdk.call_tool(tool, {})
                assert (refused.value.error.code, refused.value.error.data["code"]) == (BUSY, "desktop_held")
        with pytest.raises(MCPError) as refused:
            await sdk.call_tool("act", {})
        assert refused.value.error.data["code"] == "snapshot_required"
        assert not (await sdk.call_tool("look", {})).is_error
        assert not (await sdk.call_tool("act", {})).is_error
        assert world.calls == ["act", "look", "act"]
        assert ledger.permits() == []


async def test_a_permit_stands_until_the_answer_though_its_client_has_left(
    world: World, state: Path, ledger: Ledger
) -> None:
    """E8, E2: progress passes meanwhile."""
    async with client_of(world, state) as sdk:
        told: list[float] = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            told.append(progress)

        calling = asyncio.create_task(sdk.call_tool("act", {"wait": True}, progress_callback=progress))
        await until(lambda: told)
        assert [row.scope for row in ledger.permits()] == ["native"]
        calling.cancel()
        await asyncio.wait({calling})
        assert len(ledger.permits()) == 1
        world.over.set()
        await until(lambda: not ledger.permits())


async def test_what_was_seen_across_a_hold_is_thrown_away(world: World, state: Path, ledger: Ledger) -> None:
    """F2, E8."""
    async with client_of(world, state) as sdk:
        await sdk.list_tools()
        calling = asyncio.create_task(sdk.call_tool("look", {"wait": True}))
        await until(lambda: world.calls)
        with held(ledger):
            pass
        world.over.set()
        with pytest.raises(MCPError) as refused:
            await calling
        assert refused.value.error.data["code"] == "observation_discarded"


async def test_each_element_of_a_batch_is_answered_in_one_array(
    plain: httpx2.AsyncClient, world: World, ledger: Ledger
) -> None:
    """E8."""
    batch = [call(1, "act"), {"jsonrpc": "2.0", "id": "1", "method": "ping"}, {**call(2, "act"), "id": None}]
    with held(ledger):
        answers = (await plain.post("/plain", json=[*batch, {"jsonrpc": "2.0", "method": "tools/call"}])).json()
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in answers] == [
        (1, BUSY),
        ("1", None),
        (None, BUSY),
    ]
    assert world.calls == ["ping"]
    assert (await plain.post("/plain", json=[])).status_code == 400


async def test_headers_pass_and_those_that_repeat_the_message_say_what_it_says(
    plain: httpx2.AsyncClient, world: World
) -> None:
    """E8."""
    given = {"authorization": "Bearer x", "mcp-name": "look", "mcp-method": "ping", "cookie": "a=b"}
    world.reply = lambda message: JSONResponse(
        {"jsonrpc": "2.0", "id": 1, "result": {}}, headers={"mcp-session-id": "s1", "set-cookie": "a=b"}
    )
    answer = await plain.post("/plain", json=call(1, "act"), headers=given)
    seen = world.headers[0]
    assert (seen["authorization"], seen["mcp-name"], seen["mcp-method"]) == ("Bearer x", "act", "tools/call")
    assert "cookie" not in seen
    assert answer.headers["mcp-session-id"] == "s1"
    assert "set-cookie" not in answer.headers


async def test_pages_of_other_sites_and_other_names_are_refused(plain: httpx2.AsyncClient, world: World) -> None:
    """E8: before anything is passed on."""
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        answer = await plain.post("/plain", json=call(1, "act"), headers=headers)
        assert (answer.status_code, answer.json()["error"]["data"]["code"]) == (403, "forbidden")
    assert world.calls == []
    assert (await plain.post("/plain", content=b"\xff{")).json()["error"]["code"] == -32700
    assert (await plain.post("/plain", content=b"x" * (FRAME_BYTES + 1))).json()["error"]["data"]["code"] == (
        "payload_too_large"
    )


async def test_a_stream_that_may_be_taken_up_again_keeps_its_permit(
    plain: httpx2.AsyncClient, world: World, ledger: Ledger
) -> None:
    """E2, E8: until its answer has come on another one; without that it ends with the stream."""
    session = {"mcp-session-id": "s1"}

    def stream(*blocks: str) -> Any:
        return lambda message: StreamingResponse(iter(blocks), media_type="text/event-stream")

    world.reply = stream("id: 1\nretry: 5\ndata:\n\n")
    await plain.post("/plain", json=call(1, "act"), headers=session)
    assert len(ledger.permits()) == 1
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": []}})
    world.reply = stream(f"id: 2\r\ndata: {answer}\r\n\r\nid: 3\ndata: {answer}\n\n")
    again = await plain.get("/plain", headers={**session, "last-event-id": "1"})
    assert again.text.count('"result"') == 1  # what was answered once is not told again
    assert ledger.permits() == []
    world.reply = stream(": nothing\n\n")
    cut = await plain.post("/plain", json=call(2, "act"), headers=session)
    assert "outcome_unknown" in cut.text
    assert ledger.permits() == []


async def test_each_session_looks_for_itself(plain: httpx2.AsyncClient, world: World, ledger: Ledger) -> None:
    """E8: after a hold, whether it has done anything before or not."""

    async def code(session: str, tool: str, request_id: int) -> str:
        answer = await plain.post("/plain", json=call(request_id, tool), headers={"mcp-session-id": session})
        return str(answer.json().get("error", {}).get("data", {}).get("code", "passed"))

    tools = {"tools": [{"name": "look", "annotations": {"readOnlyHint": True}}]}
    world.reply = lambda message: JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": tools})
    await plain.post("/plain", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert await code("s1", "act", 1) == "passed"
    with held(ledger):
        pass
    for session in ("s1", "s2"):
        assert await code(session, "act", 2) == "snapshot_required"
        assert await code(session, "look", 3) == "passed"
        assert await code(session, "act", 4) == "passed"


async def test_the_end_of_a_session_ends_its_permits(plain: httpx2.AsyncClient, world: World, ledger: Ledger) -> None:
    """E2."""
    session = {"mcp-session-id": "s1"}
    world.reply = lambda message: StreamingResponse(iter(["id: 1\n\n"]), media_type="text/event-stream")
    await plain.post("/plain", json=call(1, "act"), headers=session)
    assert len(ledger.permits()) == 1
    world.reply = lambda message: Response(status_code=204)
    assert (await plain.delete("/plain", headers=session)).status_code == 204
    assert ledger.permits() == []


async def test_refusals_of_the_server_pass_and_leave_no_permit(
    plain: httpx2.AsyncClient, world: World, ledger: Ledger
) -> None:
    for reply, status in (
        (JSONResponse({"error": "invalid_token"}, 401, {"www-authenticate": "Bearer"}), 401),
        (Response("gone", 404), 404),
    ):
        world.reply = lambda message, reply=reply: reply
        answer = await plain.post("/plain", json=call(1, "act"))
        assert answer.status_code == status
        assert ledger.permits() == []
    world.reply = lambda message: Response(b"<html>typed", media_type="text/html")
    answer = await plain.post("/plain", json=call(1, "act"))
    assert error_of(answer.json())[1] == "outcome_unknown"
    assert "typed" not in answer.text


async def test_a_server_that_is_not_there_is_told_of(state: Path, ledger: Ledger) -> None:
    async with relayed(state, "http://127.0.0.1:1/mcp") as url, httpx2.AsyncClient() as http:
        answer = (await http.post(url, json=call(1, "act"))).json()
        assert (answer["id"], error_of(answer)[1]) == (1, "failed")
        assert (await http.get(url)).status_code == 502
    assert ledger.permits() == []


@pytest.mark.parametrize("listen", ["", "8080", "127.0.0.1:x", "127.0.0.1:70000", "0.0.0.0:1", ":1"])
def test_an_address_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(HandoffError) as refused:
        address(listen)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_what_is_no_address_of_a_server_is_refused(state: Path, ledger: Ledger) -> None:
    for url in ("mcp", "file:///etc/passwd", "http://"):
        with pytest.raises(HandoffError) as refused:
            HttpRelay(Desk(state), Judge(), None, url)
        assert refused.value.code is ErrorCode.INVALID_REQUEST
