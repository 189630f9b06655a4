"""The door of REST, and the stream of a handoff's events."""

import asyncio
import json
import time
from typing import Any

import httpx

from tests.e2e.stack import Stack
from tests.transcripts.agents import INSTRUCTIONS
from tests.transcripts.person import Robin
from tests.transcripts.steps import Log, Step
from tests.transcripts.telling import export_of, short
from user_handoff.client.access import Access
from user_handoff.contract.errors import from_dict
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope

OWNER = "agent:by-rest"


class Program:
    """Sends requests, and keeps what came."""

    def __init__(self, connection: httpx.AsyncClient) -> None:
        self.log = Log("program", time.time)
        self._http = connection

    async def post(self, path: str, key: str = "", **body: Any) -> dict[str, Any]:
        """Ask for a change, under a key of its own."""
        named = f", Idempotency-Key {key}" if key else ""
        return await self.log.ask(f"POST {path} {short(body)}{named}", self._send("POST", path, body, key))

    async def get(self, path: str) -> dict[str, Any]:
        """Ask what holds."""
        return await self.log.ask(f"GET {path}", self._send("GET", path, None, ""))

    async def refused(self, path: str, **body: Any) -> None:
        """Ask for what must be refused."""
        await self.log.refused(f"POST {path} {short(body)}", self._send("POST", path, body, ""))

    async def follow(self, path: str, states: "asyncio.Queue[str]") -> None:
        """Follow a handoff to its end."""
        await self.log.ask(f"GET {path}, to its end", self._follow(path, states), ", ".join)

    async def _follow(self, path: str, states: "asyncio.Queue[str]") -> list[str]:
        found = []
        async with self._http.stream("GET", path) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    now = json.loads(line.removeprefix("data: "))
                    found.append(f"{now['state']}: `{now['result']}`" if now["result"] else str(now["state"]))
                    states.put_nowait(now["state"])
        return found

    async def _send(self, method: str, path: str, body: Any, key: str) -> dict[str, Any]:
        headers = {"idempotency-key": key} if key else {}
        response = await self._http.request(method, path, json=body, headers=headers)
        found: dict[str, Any] = response.json()
        if response.is_error:
            raise from_dict({**found, "what": found["title"]})
        return found


async def rest(stack: Stack) -> list[Step]:
    """A program that knows HTTP."""
    key = await Access(stack.handoffs).create_key(OWNER, [*SCOPES_OF_A_HANDOFF, Scope.SESSIONS_OPEN])
    base_url, headers = str(stack.server.facts()["gateway_url"]), {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=120) as connection:
        return await _job(stack, Program(connection))


async def _job(stack: Stack, program: Program) -> list[Step]:
    robin, states = Robin(stack), asyncio.Queue[str]()
    await program.post("/v1/sessions", "session-1")
    opened = await program.post("/v1/browsers", "browser-1", url=f"{stack.portal.url}/invoices")
    browser = f"/v1/browsers/{opened['browser_id']}"
    wall = await program.post(f"{browser}/snapshots")
    begun = await program.post(
        "/v1/handoffs",
        "handoff-1",
        browser_id=opened["browser_id"],
        instructions=INSTRUCTIONS,
        boundary=wall["boundary"],
        verify={"kind": "url", "glob": "**/invoices"},
    )
    handoff = f"/v1/handoffs/{begun['handoff_id']}"
    await program.refused(f"{browser}/actions", action="navigate", url=f"{stack.portal.url}/")
    await program.post(f"{handoff}/links", "link-1")
    async with asyncio.TaskGroup() as group:
        group.create_task(robin.comes_for(begun["handoff_id"]))
        group.create_task(program.follow(f"{handoff}/events", states))
        while await states.get() != "recovering":
            pass
        for page in (await program.get(browser))["pages"]:
            await program.post(f"{browser}/snapshots", page_id=page["page_id"])
    page = await program.post(f"{browser}/snapshots")
    await program.post(f"{browser}/actions", "export-1", action="download", element_id=export_of(page["text"]))
    await program.post(f"{browser}/close", "close-1")
    return [*program.log.steps, *robin.steps]
