"""The doors of MCP: two SDKs over HTTP, and pipes."""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.stack import Stack
from tests.gateway.mcp.node_client import NotInstalled, installed_client
from tests.transcripts.agents import INSTRUCTIONS
from tests.transcripts.person import Robin
from tests.transcripts.steps import Log, Step
from tests.transcripts.telling import export_of, short, tell
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client.access import Access
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.errors import from_dict
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF

OWNER = "agent:by-mcp"
CACHE = Path(__file__).resolve().parents[2] / ".pytest_cache" / "d" / "node"


class Tools:
    """Calls tools, and keeps what came."""

    def __init__(self, client: Client) -> None:
        self.log = Log("agent", time.time)
        self._client = client

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool."""
        return await self.log.ask(_asks(name, arguments), self._call(name, arguments))

    async def do(self, action: str, **arguments: Any) -> dict[str, Any]:
        """One action of control_browser."""
        return await self.call("control_browser", do={"action": action, **arguments})

    async def refused(self, action: str, **arguments: Any) -> None:
        """The same, where it must be refused."""
        arguments = {"do": {"action": action, **arguments}}
        await self.log.refused(_asks("control_browser", arguments), self._call("control_browser", arguments))

    async def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        called = await self._client.call_tool(name, arguments)
        found = called.structured_content
        assert isinstance(found, dict)
        if called.is_error:
            raise from_dict(found)
        result: dict[str, Any] = found["result"]
        return result


async def http(stack: Stack) -> list[Step]:
    """The SDK for Python at the gateway."""
    headers = {"authorization": f"Bearer {await _key(stack)}"}
    url = f"{stack.server.facts()['gateway_url']}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60, read=180)) as connection,
        Client(streamable_http_client(url, http_client=connection)) as client,
    ):
        return await _job(stack, client)


async def stdio(stack: Stack) -> list[Step]:
    """The SDK for Python at `handoff mcp`, which it starts itself."""
    environment = {**os.environ, **embedded_environment(stack.engine.address), "HANDOFF_TOKEN": await _key(stack)}
    command = ["-P", "-m", "user_handoff.cli.main", "mcp", "--state", str(stack.state / "by-pipes")]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)
    async with Client(server) as client:
        return await _job(stack, client)


async def typescript(stack: Stack) -> list[Step] | str:
    """The SDK for TypeScript at the gateway: the very client of its test."""
    try:
        client = await installed_client(CACHE)
    except NotInstalled as why:
        return str(why)
    key, robin, requests = await _key(stack), Robin(stack), RequestsClient(stack.handoffs)
    session = (await stack.handoffs.sessions_of(OWNER))[0]
    writer = await requests.issue_writer(session.session_id, OWNER, "Robin")
    job = {
        "url": f"{stack.server.facts()['gateway_url']}/mcp",
        "token": key,
        "page": f"{stack.portal.url}/invoices",
    }
    async with _node(client, job) as (process, said):
        await _line(said, "held")
        await robin.comes_when_called()
        await _line(said, "done")
        await robin.writes(requests, writer)
        assert process.stdout is not None
        seen = json.loads(await process.stdout.read())
    steps = [
        Step(
            at=each["at"] / 1000,
            seconds=each["ms"] / 1000,
            who="agent",
            asks=_asks(each["name"], each["arguments"]),
            came=tell(each["came"]),
        )
        for each in seen["steps"]
    ]
    return [*steps, *robin.steps]


async def _job(stack: Stack, client: Client) -> list[Step]:
    agent, robin = Tools(client), Robin(stack)
    of = {"browser_id": (await agent.do("open", url=f"{stack.portal.url}/invoices"))["browser_id"]}
    wall = await agent.do("snapshot", **of)
    verify = {"kind": "url", "glob": "**/invoices"}
    begun = await agent.do(
        "begin_user_handoff", **of, instructions=INSTRUCTIONS, boundary=wall["boundary"], verify=verify
    )
    await agent.refused("navigate", **of, url=f"{stack.portal.url}/")
    async with asyncio.TaskGroup() as group:
        group.create_task(robin.comes_for(begun["handoff_id"]))
        await agent.call("wait", handoff_id=begun["handoff_id"], timeout_seconds=120)
        for page in (await agent.do("info", **of))["pages"]:
            await agent.do("snapshot", **of, page_id=page["page_id"])
        await agent.call("wait", handoff_id=begun["handoff_id"])
    page = await agent.do("snapshot", **of)
    await agent.do("download", **of, element_id=export_of(page["text"]))
    await agent.do("close_browser", **of)
    return [*agent.log.steps, *robin.steps]


async def _key(stack: Stack) -> str:
    await stack.handoffs.open_session(new_id("s"), OWNER)
    return await Access(stack.handoffs).create_key(OWNER, SCOPES_OF_A_HANDOFF)


@contextlib.asynccontextmanager
async def _node(
    client: Path, job: dict[str, str]
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    process = await asyncio.create_subprocess_exec(
        "node",
        str(client),
        env={**os.environ, "JOB": json.dumps(job)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(180):
            yield process, process.stderr
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _line(said: asyncio.StreamReader, expected: str) -> None:
    line = (await said.readline()).decode().strip()
    assert line == expected, f"{line} {(await said.read()).decode()}"


def _asks(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {short(arguments.get('do', arguments))}"
