"""An agent without a workflow does the whole job by MCP, on real parts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.stack import Stack, secrets_left
from user_handoff.client.access import Access
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF

OWNER = "agent:by-mcp"


class Agent:
    """Calls tools; a refusal is returned, not raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        called = await self._client.call_tool(name, arguments)
        assert isinstance(called.structured_content, dict)
        found: dict[str, Any] = called.structured_content.get("result", called.structured_content)
        return found

    async def do(self, action: str, **arguments: Any) -> dict[str, Any]:
        return await self.tool("control_browser", do={"action": action, **arguments})


@contextlib.asynccontextmanager
async def agent(stack: Stack, key: str) -> AsyncIterator[Agent]:
    url = f"{stack.server.facts()['gateway_url']}/mcp"
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60, read=180)) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield Agent(client)


def element(page: dict[str, Any], line: str) -> str:
    return str(page["text"].split(f"{line} [", 1)[1].split("id=", 1)[1].split("]", 1)[0])


async def test_a_person_signs_in_for_an_agent_that_came_by_mcp(stack: Stack) -> None:
    """A9, A10, A12, A19, B3, B4, B7, C2, K01: with the gateway killed in between."""
    key = await Access(stack.handoffs).create_key(OWNER, SCOPES_OF_A_HANDOFF)
    await stack.handoffs.open_session(new_id("s"), OWNER)
    async with agent(stack, key) as robot:
        opened = await robot.do("open", url=f"{stack.portal.url}/invoices")
        of = {"browser_id": opened["browser_id"]}
        wall = await robot.do("snapshot", **of)
        begun = await robot.do(
            "begin_user_handoff",
            **of,
            instructions="Sign in to the portal",
            boundary=wall["boundary"],
            verify={"kind": "url", "glob": "**/invoices"},
        )
        assert (await robot.do("navigate", **of, url=stack.portal.url))["code"] == "browser_held"
        look = await robot.tool("observe_computer", **of)
        typed = {"generation": look["generation"], "do": {"action": "type", "text": "x"}}
        assert (await robot.tool("control_computer", **of, **typed))["code"] == "desktop_held"
    await stack.kill(stack.server)
    await stack.server.start()
    async with agent(stack, key) as robot:
        held = await stack.held()
        assert held.handoff_id == begun["handoff_id"]
        assert (await robot.do("info", **of))["state"] == "held"
        waiting = asyncio.create_task(robot.tool("wait", handoff_id=held.handoff_id, timeout_seconds=120))
        await stack.sign_in(held)
        await stack.answer(held)
        assert (await waiting)["state"] == "recovering"
        for page in (await robot.do("info", **of))["pages"]:
            await robot.do("snapshot", **of, page_id=page["page_id"])
        async with asyncio.timeout(60):
            while (waited := await robot.tool("wait", handoff_id=held.handoff_id))["state"] != "completed":
                pass
        assert waited["summary"]["result"] == "verified"
        page = await robot.do("snapshot", **of)
        file = await robot.do("download", **of, element_id=element(page, 'button "Export"'))
        assert file["outcome"] == "completed"
        assert file["bytes"] > 100
        assert (await robot.do("info", **of))["pid"] == opened["pid"]
        assert (await robot.do("close_browser", **of))["closed"]
    assert secrets_left(stack) == []
