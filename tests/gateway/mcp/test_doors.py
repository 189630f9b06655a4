"""Who gets in, how they are refused, and what the transport takes."""

import asyncio
import functools
import json
import logging
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from tests.gateway.mcp.stage import OWNER, Stage
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import ReplyMessage

ACCEPT = {"accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


async def post(stage: Stage, body: Any, *, path: str = "/mcp", **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {**ACCEPT, "content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
    async with httpx.AsyncClient(timeout=60) as http:
        return await http.post(f"{stage.base_url}{path}", content=content, headers=sent)


def error_of(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["error"]
    return found


async def bearer(stage: Stage) -> str:
    return f"Bearer {await stage.grant(await stage.session())}"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("address", [False, True])
async def test_a_grant_lets_in_as_a_bearer_and_by_its_address(stage: Stage, address: bool, mode: str) -> None:
    """C2."""
    token = await stage.grant(await stage.session())
    async with stage.agent(token, address=address, mode=mode) as agent:
        assert "wait" in await agent.tools()


async def test_a_key_lets_in_as_a_bearer_and_by_no_address(stage: Stage) -> None:
    await stage.session()
    key = await stage.key()
    async with stage.agent(key) as agent:
        assert "wait" in await agent.tools()
    response = await post(stage, PING, path=f"/agent/{key}")
    assert (response.status_code, error_of(response)["data"]["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("secret", ["none", "nonsense", f"hk_k.{'A' * 43}", f"hw_s.{'A' * 43}", "Basic x"])
async def test_without_a_key_or_grant_nobody_is_let_in(stage: Stage, secret: str) -> None:
    """D2: an Origin of our own changes nothing."""
    response = await post(stage, PING, authorization=f"Bearer {secret}", origin=stage.base_url)
    assert (response.status_code, error_of(response)["data"]["code"]) == (401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_each_way_a_grant_ends_has_its_code(stage: Stage) -> None:
    """C2: -32001 the session is gone, -32002 the grant is; the request's id is answered."""
    revoked, expired, stale = [await stage.session() for _ in range(3)]
    tokens = {
        (-32002, "grant_unknown"): f"hg_{revoked}.{'A' * 43}",
        (-32002, "grant_revoked"): await stage.grant(revoked),
        (-32002, "grant_expired"): await stage.grant(expired, expires_in_seconds=0.001),
        (-32002, "stale_version"): await stage.grant(stale, require_version=0),
        (-32001, "session_closed"): await stage.grant(closed := await stage.session()),
    }
    await stage.access.revoke_grant(tokens[-32002, "grant_revoked"])
    await stage.handoffs.close_session(closed)
    async with stage.agent(await stage.grant(stale)) as agent:
        await agent.tool("post_message", text="Which month?")
    for (number, code), token in tokens.items():
        # the gateway learns of an end within a second; until then the request itself is found wrong
        response = await until(
            functools.partial(post, stage, PING, authorization=f"Bearer {token}"),
            wanted=lambda r: "error" in r.json() and r.json()["id"] is not None,
        )
        assert (response.status_code, response.json()["id"]) == (200, 7)
        assert (error_of(response)["code"], error_of(response)["data"]["code"]) == (number, code)
        with pytest.RaisesGroup(MCPError, flatten_subgroups=True) as refused:
            async with stage.agent(token, address=True):
                pass
        error: BaseException = refused.value
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        assert isinstance(error, MCPError)
        assert (error.error.code, error.error.data["code"]) == (number, code)
    response = await post(stage, PING, path=f"/agent/{tokens[-32002, 'stale_version']}")
    assert error_of(response)["data"]["details"]["version"] == 1


async def test_delete_of_the_address_takes_the_grant_back(stage: Stage) -> None:
    """C2, C1: and with it every stream that it has open, within a second or so."""
    token = await stage.grant(await stage.session())
    async with stage.agent(token, address=True, mode="legacy") as agent, httpx.AsyncClient(timeout=30) as http:
        assert "wait" in await agent.tools()
        for _ in range(2):
            assert (await http.delete(f"{stage.base_url}/agent/{token}")).status_code == 204
        with pytest.raises(MCPError) as refused:
            await agent.client.list_tools(cache_mode="bypass")
        assert refused.value.error.data["code"] == "grant_revoked"
        unknown = await http.delete(f"{stage.base_url}/agent/hg_{new_id('s')}.{'A' * 43}")
        assert (unknown.status_code, error_of(unknown)["data"]["code"]) == (401, "grant_unknown")


async def test_the_end_of_a_clients_own_session_leaves_its_grant(stage: Stage) -> None:
    token = await stage.grant(await stage.session())
    for _ in range(2):
        async with stage.agent(token, address=True, mode="legacy") as agent:
            assert "wait" in await agent.tools()


async def test_an_open_stream_ends_with_its_grant(stage: Stage) -> None:
    """C1: within a second, and without a word more."""
    token = await stage.grant(await stage.session())
    opened = await post(stage, INITIALIZE, path=f"/agent/{token}")
    headers = {**ACCEPT, "mcp-session-id": opened.headers["mcp-session-id"]}
    async with (
        asyncio.timeout(30),
        httpx.AsyncClient(timeout=60) as http,
        http.stream("GET", f"{stage.base_url}/agent/{token}", headers=headers) as stream,
    ):
        assert stream.status_code == 200
        await stage.access.revoke_grant(token)
        assert not [chunk async for chunk in stream.aiter_bytes()]


async def test_a_session_of_the_protocol_belongs_to_its_caller(stage: Stage) -> None:
    """K04: the id of another's session is no way in."""
    opened = await post(stage, INITIALIZE, authorization=await bearer(stage))
    stolen = opened.headers["mcp-session-id"]
    response = await post(stage, PING, authorization=await bearer(stage), mcp_session_id=stolen)
    assert response.status_code == 404
    assert error_of(response)["data"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b"null", 400),
        (b"7", 400),
        (b"\xff\xfe", 400),
        ([PING], 400),
        ([], 400),
        ({}, 400),
        ({**PING, "jsonrpc": "1.0"}, 400),
        ({**PING, "id": {"a": 1}}, 400),
        ({**PING, "method": 7}, 400),
        ({**PING, "params": [1]}, 400),
        ({"jsonrpc": "2.0", "id": 1, "method": "x" * 1_000_001}, 413),
    ],
)
async def test_what_is_not_one_message_is_refused_typed(stage: Stage, body: Any, status: int) -> None:
    response = await post(stage, body, authorization=await bearer(stage))
    assert response.status_code == status
    assert error_of(response)["data"]["code"] == "invalid_request"
    assert "Traceback" not in response.text


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp_protocol_version": "1999-01-01"},
        {"mcp_protocol_version": "2026-07-28"},
        {"accept": "text/html"},
        {"content_type": "text/plain"},
        {"mcp_session_id": "unknown"},
        {"mcp_session_id": "x" * 5_000},
    ],
)
async def test_headers_that_do_not_fit_are_refused_typed(stage: Stage, headers: dict[str, str]) -> None:
    response = await post(stage, PING, authorization=await bearer(stage), **headers)
    assert 400 <= response.status_code < 500
    assert error_of(response)["data"]["code"] == "invalid_request"


async def test_a_page_of_another_site_is_refused(stage: Stage) -> None:
    response = await post(stage, PING, authorization=await bearer(stage), origin="https://evil.example")
    assert (response.status_code, error_of(response)["data"]["code"]) == (403, "forbidden")


async def test_an_unknown_method_is_refused_typed(stage: Stage) -> None:
    authorization = await bearer(stage)
    opened = await post(stage, INITIALIZE, authorization=authorization)
    session = opened.headers["mcp-session-id"]
    for method, params in (("no/such", {}), ("tools/call", {"name": 7}), ("tools/call", {"arguments": []})):
        body = {"jsonrpc": "2.0", "id": 3, "method": method, "params": params}
        response = await post(stage, body, authorization=authorization, mcp_session_id=session)
        data = response.text.split("data: ", 1)[1] if "data: " in response.text else response.text
        assert json.loads(data.strip().splitlines()[0])["error"]["data"]["code"] == "invalid_request"


async def test_a_request_that_is_sent_again_is_done_once(stage: Stage) -> None:
    """A17, K12: a lost answer is asked for again under the same JSON-RPC id, without an effect id."""
    authorization = await bearer(stage)
    opened = await post(stage, INITIALIZE, authorization=authorization)
    more = {"authorization": authorization, "mcp_session_id": opened.headers["mcp-session-id"]}
    await post(stage, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **more)
    arguments = {"do": {"action": "open", "url": "https://open.example/"}}
    body = {"jsonrpc": "2.0", "id": 9, "method": "tools/call"}
    body["params"] = {"name": "control_browser", "arguments": arguments}
    first, second = [await post(stage, body, **more) for _ in range(2)]
    other = await post(stage, {**body, "id": 10}, **more)
    ids = [response.text.split('"browser_id":"')[1].split('"')[0] for response in (first, second, other)]
    assert ids[0] == ids[1] != ids[2]


async def test_a_second_open_request_of_one_id_is_refused_and_the_first_goes_on(stage: Stage) -> None:
    """The protocol has one answer for the two: one of them would wait for ever."""
    session_id = await stage.session()
    headers = {**ACCEPT, "authorization": f"Bearer {await stage.grant(session_id)}"}
    async with httpx.AsyncClient(headers=headers, base_url=stage.base_url, timeout=30) as http:
        opened = await http.post("/mcp", json=INITIALIZE)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        ask = {
            "method": "tools/call",
            "params": {"name": "post_message", "arguments": {"text": "?", "message_id": "m"}},
        }
        await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, **ask}, headers=session)
        wait = {"method": "tools/call", "params": {"name": "wait", "arguments": {"message_id": "m"}}}
        async with http.stream("POST", "/mcp", json={"jsonrpc": "2.0", "id": 7, **wait}, headers=session) as first:
            second = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 7, "method": "ping"}, headers=session)
            assert second.json()["error"]["data"]["code"] == ErrorCode.INVALID_REQUEST
            await stage.handoffs.reply_message(session_id, ReplyMessage(message_id="m", text="March", by="Robin"))
            assert "March" in (await first.aread()).decode()
        again = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 7, "method": "ping"}, headers=session)
        assert "result" in again.text


async def test_no_secret_reaches_a_log(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    """C6, K41: whatever is switched on."""
    caplog.set_level(logging.DEBUG)
    token, key = await stage.grant(await stage.session()), await stage.key()
    for mode in ("legacy", "auto"):
        async with stage.agent(token, address=True, mode=mode) as agent:
            await agent.tools()
        async with stage.agent(key, mode=mode) as agent:
            await agent.tools()
    async with httpx.AsyncClient(timeout=30) as http:
        await http.delete(f"{stage.base_url}/agent/{token}")
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore", "mcp.client"))]
    assert any("/agent/{token}" in line for line in ours)
    for secret in (token.split(".")[1], key.split(".")[1]):
        assert not [line for line in ours if secret in line]


async def test_another_principals_session_cannot_be_named(stage: Stage) -> None:
    """A5."""
    theirs, mine = await stage.session("somebody else"), await stage.session()
    async with stage.agent(await stage.key(OWNER)) as agent:
        with pytest.raises(MCPError) as refused:
            await agent.tool("post_message", text="hello", session_id=theirs)
        assert refused.value.error.data["code"] == "not_owner"
        assert (await agent.tool("post_message", text="hello", session_id=mine))["session_id"] == mine
    async with stage.agent(await stage.grant(mine)) as agent:
        with pytest.raises(MCPError) as refused:
            await agent.tool("post_message", text="hello", session_id=theirs)
        assert refused.value.error.data["code"] == "forbidden"
