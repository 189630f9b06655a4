"""A program without a workflow does the whole job by REST, on real parts."""

import asyncio
import json
from typing import Any

import httpx

from tests.e2e.stack import Stack, secrets_left
from tests.waiting import until
from user_handoff.client.access import Access
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope

OWNER = "agent:by-rest"


class Program:
    """Calls REST."""

    def __init__(self, stack: Stack, key: str) -> None:
        self.base_url = str(stack.server.facts()["gateway_url"])
        headers = {"authorization": f"Bearer {key}"}
        self.http = httpx.AsyncClient(base_url=self.base_url, headers=headers, timeout=120)

    async def __aenter__(self) -> "Program":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def post(self, path: str, body: Any = None, key: str = "") -> dict[str, Any]:
        headers = {"idempotency-key": key} if key else {}
        found: dict[str, Any] = (await self.http.post(path, json=body or {}, headers=headers)).raise_for_status().json()
        return found

    async def code(self, path: str, body: Any) -> str:
        return str((await self.http.post(path, json=body)).json()["code"])


async def test_a_person_signs_in_for_a_program_that_came_by_rest(stack: Stack) -> None:
    """A9, A10, A12, A17, A19, B4, B7: with the gateway killed in between, and asked again by the same keys."""
    key = await Access(stack.handoffs).create_key(OWNER, [*SCOPES_OF_A_HANDOFF, Scope.SESSIONS_OPEN])
    async with Program(stack, key) as program:
        await program.post("/v1/sessions", key="session")
        opened = await program.post("/v1/browsers", {"url": f"{stack.portal.url}/invoices"}, "browser")
        browser = f"/v1/browsers/{opened['browser_id']}"
        wall = await program.post(f"{browser}/snapshots")
        begin = {
            "browser_id": opened["browser_id"],
            "instructions": "Sign in to the portal.",
            "boundary": wall["boundary"],
            "verify": {"kind": "url", "glob": f"{stack.portal.url}/invoices"},
        }
        begun = await program.post("/v1/handoffs", begin, "handoff")
        assert await program.code(f"{browser}/actions", {"action": "back"}) == "browser_held"
    await stack.kill(stack.server)
    await stack.server.start()
    async with Program(stack, key) as program:
        assert await program.post("/v1/handoffs", begin, "handoff") == begun
        assert (await program.post("/v1/browsers", {"url": f"{stack.portal.url}/invoices"}, "browser"))[
            "browser_id"
        ] == opened["browser_id"]
        handoff = f"/v1/handoffs/{begun['handoff_id']}"
        link = (await program.post(f"{handoff}/links"))["url"]
        assert link.startswith(f"{program.base_url}/j/"), "also where the port was free to choose"
        assert (await program.http.get(link)).status_code == 200
        following = asyncio.create_task(_states(program, handoff))
        summary = await stack.handoffs.summary(begun["handoff_id"])
        await stack.sign_in(summary)
        await stack.answer(summary)
        await until(
            lambda: program.http.get(handoff), 60, wanted=lambda r: r.json()["state"] in ("recovering", "completed")
        )
        info = (await program.http.get(browser)).json()
        for page in info["pages"]:
            await program.post(f"{browser}/snapshots", {"page_id": page["page_id"]})
        states = await following
        assert states[0] == "held"
        assert states[-1] == "completed/verified"
        await program.post(f"{browser}/close")
    assert secrets_left(stack) == []


async def _states(program: Program, handoff: str) -> list[str]:
    """What a stream tells, until it ends."""
    found = []
    async with program.http.stream("GET", f"{handoff}/events") as response:
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                found.append(f"{data['state']}/{data['result']}" if data["result"] else data["state"])
    return found
