"""Messages that nobody should send: none is a fault of the server, and none has an effect."""

import asyncio
import json
import os
import random
from typing import Any

import httpx

from tests.gateway.mcp.stage import Stage
from tests.gateway.mcp.test_doors import ACCEPT, INITIALIZE

MESSAGES = int(os.environ.get("FUZZ_MESSAGES", "300"))
ODD: list[Any] = [None, True, 0, -1, 2**70, 1e300, "", "x" * 2_000, "\x00", "\ud800", "../..", [], {}, [[]], {"": {}}]
ACTIONS = ["open", "click", "fill", "navigate", "begin_user_handoff", "finish_user_handoff", "handoff_summary", "info"]
VALID: list[dict[str, Any]] = [
    {"method": "ping"},
    {"method": "tools/list", "params": {"cursor": "x"}},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
    *(
        {
            "method": "tools/call",
            "params": {
                "name": "control_browser",
                "arguments": {
                    "do": {
                        "action": action,
                        "browser_id": "b_unknown",
                        "element_id": "e1",
                        "url": "file:///etc/passwd",
                        "handoff_id": "handoff/b/s/m",
                    }
                },
            },
        }
        for action in ACTIONS
    ),
    {"method": "tools/call", "params": {"name": "wait", "arguments": {"handoff_id": "handoff/b/s/m"}}},
    {"method": "tools/call", "params": {"name": "post_message", "arguments": {"text": ""}}},
    {"method": "tools/call", "params": {"name": "issue_browser_url", "arguments": {"handoff_id": "handoff/b/s/m"}}},
]


def spoil(dice: random.Random, value: Any) -> Any:
    """The same with something odd somewhere in it."""
    if not isinstance(value, dict) or not value or dice.random() < 0.2:
        return dice.choice(ODD)
    name = dice.choice(list(value))
    kind = dice.random()
    if kind < 0.15:
        return {key: each for key, each in value.items() if key != name}
    if kind < 0.3:
        return {**value, f"more{dice.randrange(9)}": dice.choice(ODD)}
    return {**value, name: spoil(dice, value[name])}


def messages(dice: random.Random) -> Any:
    for number in range(MESSAGES):
        message: Any = {"jsonrpc": "2.0", "id": number, **dice.choice(VALID)}
        for _ in range(dice.randrange(1, 4)):
            message = spoil(dice, message)
        body = json.dumps(message).encode()
        yield body[: dice.randrange(len(body))] if dice.random() < 0.1 else body


async def test_no_message_is_a_fault_of_the_server_or_has_an_effect(stage: Stage) -> None:
    before = len(stage.desktop.effects)
    token = await stage.grant(await stage.session())
    headers = {**ACCEPT, "content-type": "application/json", "authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, base_url=stage.base_url, timeout=60) as http:
        opened = await http.post("/mcp", json=INITIALIZE)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        gate = asyncio.Semaphore(8)

        async def send(body: bytes) -> None:
            async with gate:
                answer = await http.post("/mcp", content=body, headers=session)
            assert answer.status_code < 500, body
            assert '"code":-32603' not in answer.text.replace(" ", ""), (body, answer.text)
            if answer.status_code >= 400:
                assert answer.json()["error"]["data"]["code"], body

        await asyncio.gather(*(send(body) for body in messages(random.Random(4))))
        assert (await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=session)).is_success
    assert len(stage.desktop.effects) == before
