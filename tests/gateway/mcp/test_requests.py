"""What a person sends reaches the agent as a tool that exists only while there is something to read."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.gateway.mcp.stage import INVOICES_URL, OWNER, Stage
from tests.waiting import until
from user_handoff.contract.ids import new_id
from user_handoff.contract.requests import SaveRequest
from user_handoff.testing import ScriptedPerson
from user_handoff.workflows import box

TOOL = "read_person_request"


class Person:
    """Writes to one session over HTTP, with a key of their own."""

    def __init__(self, stage: Stage, key: str) -> None:
        self._base = f"{stage.base_url}/inbox/requests"
        self._headers = {"authorization": f"Bearer {key}"}

    @classmethod
    async def of(cls, stage: Stage, session_id: str) -> "Person":
        headers = {"authorization": f"Bearer {await stage.key()}"}
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            issued = await http.post(f"{stage.base_url}/inbox/{session_id}/writers", json={"name": "Robin"})
        assert issued.status_code == 201, issued.text
        assert issued.headers["cache-control"] == "no-store"
        return cls(stage, issued.json()["key"])

    async def call(self, method: str, path: str, **json: Any) -> httpx.Response:
        async with httpx.AsyncClient(headers=self._headers, timeout=60) as http:
            return await http.request(method, f"{self._base}/{path}", json=json)

    async def save(self, request_id: str, generation: int, text: str, **more: Any) -> httpx.Response:
        return await self.call("PUT", request_id, generation=generation, text=text, **more)

    async def send(self, request_id: str, generation: int) -> httpx.Response:
        return await self.call("POST", f"{request_id}/send", generation=generation)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_every_edge_is_told_and_the_tool_is_there_only_meanwhile(stage: Stage, mode: str) -> None:
    """D1: publish, revise, withdraw, read."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    async with stage.agent(await stage.grant(session_id), mode=mode) as agent, agent.listening():
        assert TOOL not in await agent.tools()
        assert (await person.save("r1", 1, "Draft only")).json()["state"] == "draft"
        assert TOOL not in await agent.tools()
        assert (await person.send("r1", 1)).json()["state"] == "published"
        await agent.told(1)
        assert TOOL in await agent.tools()
        assert (await person.save("r1", 2, "Better", send=True)).json()["state"] == "published"
        await agent.told(2)
        assert TOOL in await agent.tools()
        assert (await person.call("DELETE", "r1")).json()["state"] == "withdrawn"
        await agent.told(3)
        assert TOOL not in await agent.tools()
        await person.save("r2", 1, "Book the room", skill="calendar", send=True)
        await agent.told(4)
        read = await agent.tool(TOOL)
        await agent.told(5)
        assert TOOL not in await agent.tools()
    assert read["request"]["text"] == "Book the room"
    assert read["request"]["skill"] == "calendar"
    assert read["request"]["untrusted"] is True
    assert read["request"]["provenance"]["by"] == "Robin"
    assert read["unread"] == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_request_that_expires_while_a_stream_is_open_is_told(stage: Stage, mode: str) -> None:
    """K85, D1."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    async with stage.agent(await stage.grant(session_id), mode=mode) as agent, agent.listening():
        await agent.tools()
        await person.save("r1", 1, "Soon over", send=True, expires_in_seconds=5)
        await agent.told(1)
        assert TOOL in await agent.tools()
        await agent.told(2)
        assert TOOL not in await agent.tools()
        assert (await agent.refused(TOOL))["code"] == "unknown_request"
    assert (await person.call("GET", "r1")).json()["state"] == "expired"


async def test_an_edit_while_a_sending_is_pending_keeps_the_old_text_back(stage: Stage) -> None:
    """D3, K84: whichever arrives first, a text that was changed is never published as sent."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    await person.save("r1", 1, "Pay 100")
    await person.save("r1", 2, "Pay 10")
    late = await person.send("r1", 1)
    assert (late.status_code, late.json()["code"]) == (409, "stale_version")
    assert (await stage.requests.view(session_id)).unread == 0
    older = await person.save("r1", 1, "Pay 100", send=True)
    assert older.json()["code"] == "stale_version"
    sent, edited = await asyncio.gather(person.send("r1", 2), person.save("r1", 3, "Pay 1"))
    assert edited.json()["generation"] == 3
    assert sent.json().get("generation") == 2 or sent.json()["code"] == "stale_version"
    view = await stage.requests.view(session_id)
    assert (view.unread, view.live) == (0, 1)
    await person.send("r1", 3)
    found = await stage.requests.read(session_id, new_id("q"))
    assert found.request is not None
    assert (found.request.text, found.request.generation) == ("Pay 1", 3)


async def test_what_writes_reads_nothing_and_what_reads_writes_nothing(stage: Stage) -> None:
    """D2: distinct keys."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    await person.save("r1", 1, "canary-text", send=True)
    assert "canary-text" not in (await person.call("GET", "r1")).text
    for secret in (await stage.key(), await stage.grant(session_id), f"hw_{session_id}.{'A' * 43}", "x"):
        other = Person(stage, secret)
        for response in (
            await other.save("r1", 9, "Mine"),
            await other.call("GET", "r1"),
            await other.call("DELETE", "r1"),
            await other.save("r2", 1, "New", send=True),
        ):
            assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
    second = await Person.of(stage, session_id)
    assert (await second.call("GET", "r1")).status_code == 401
    assert (await stage.requests.view(session_id)).live == 1


async def test_three_hundred_creations_without_a_key_leave_what_is_there(stage: Stage) -> None:
    """K83, D2: a forged Origin is no credential."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    await person.save("r1", 1, "Mine", send=True)
    origin = {"origin": stage.base_url}
    async with httpx.AsyncClient(headers=origin, timeout=60, limits=httpx.Limits(max_connections=10)) as http:
        url = f"{stage.base_url}/inbox/requests"
        forged = {"authorization": f"Bearer hw_{session_id}.{'A' * 43}"}
        calls = [
            http.put(f"{url}/f{n}", json={"generation": 1, "text": "x", "send": True}, headers=forged if n % 2 else {})
            for n in range(300)
        ]
        answers = await asyncio.gather(*calls)
        writers = await http.post(f"{stage.base_url}/inbox/{session_id}/writers", json={"name": "x"})
    assert {answer.status_code for answer in answers} == {401}
    assert writers.status_code == 401
    view = await stage.requests.view(session_id)
    assert (view.live, view.unread) == (1, 1)


async def test_only_the_owner_has_keys_to_write_issued(stage: Stage) -> None:
    session_id = await stage.session("somebody else")
    headers = {"authorization": f"Bearer {await stage.key(OWNER)}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        refused = await http.post(f"{stage.base_url}/inbox/{session_id}/writers", json={"name": "x"})
        unknown = await http.post(f"{stage.base_url}/inbox/{new_id('s')}/writers", json={"name": "x"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_owner")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "session_not_found")


async def test_at_the_bound_the_new_one_is_refused_and_none_is_pushed_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D4: of live ones (the rules are tested at 256), of characters and of bytes."""
    monkeypatch.setattr(box, "MAX_LIVE", 4)
    person = await Person.of(stage, await stage.session())
    for number in range(4):
        assert (await person.save(f"r{number}", 1, "x")).status_code == 200
    refused = await person.save("one-more", 1, "x")
    assert (refused.status_code, refused.json()["code"]) == (429, "request_limit")
    assert (await person.call("GET", "r0")).json()["state"] == "draft"
    assert (await person.save("r0", 2, "changed")).status_code == 200
    await person.call("DELETE", "r1")
    assert (await person.save("one-more", 1, "x")).status_code == 200
    for text in ("x" * 4_001, "", 7):
        assert (await person.save("r0", 3, text)).json()["code"] == "invalid_request"  # type: ignore[arg-type]
    assert (await person.save("r0", 3, "x" * 1_000_001)).status_code == 413
    assert (await person.save("r0", 3, "x" * 4_000)).status_code == 200


async def test_a_closed_session_takes_no_requests(stage: Stage) -> None:
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    await stage.handoffs.close_session(session_id)
    refused = await person.save("r1", 1, "Hello")
    assert refused.json()["code"] in ("session_closed", "unauthorized")


async def test_a_reply_that_comes_by_any_door_is_there_to_read(stage: Stage) -> None:
    """D1: a reply to a handoff, to an agent that does not wait."""
    stage.meets(ScriptedPerson("declined", note="not today"))
    session_id = await stage.session()
    async with stage.agent(await stage.grant(session_id), mode="legacy") as agent:
        await agent.tools()
        browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
        begun = await agent.do("begin_user_handoff", browser_id=browser_id, instructions="Sign in")
        await agent.told(1)
        assert TOOL in await agent.tools()
        read = (await agent.tool(TOOL))["request"]
        await agent.do("close_browser", browser_id=browser_id)
    assert (read["kind"], read["answer"], read["text"]) == ("reply", "declined", "not today")
    assert read["provenance"]["about"] == begun["handoff_id"]


async def test_a_reply_that_was_read_by_waiting_is_not_there_a_second_time(stage: Stage) -> None:
    stage.meets(ScriptedPerson("could_not"))
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
        begun = await agent.do("begin_user_handoff", browser_id=browser_id, instructions="Sign in")
        waited = await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        assert waited["summary"]["answer"] == "could_not"
        assert TOOL not in await agent.tools()
        await agent.do("close_browser", browser_id=browser_id)


async def test_an_agent_waits_for_a_request(stage: Stage) -> None:
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    async with stage.agent(await stage.grant(session_id)) as agent:
        waiting = asyncio.create_task(agent.tool("wait", person_request=True, timeout_seconds=60))
        await person.save("r1", 1, "Hello", send=True)
        assert (await waiting)["unread"] == 1


async def test_a_grant_that_may_not_read_never_sees_the_tool(stage: Stage) -> None:
    """C1."""
    session_id = await stage.session()
    person = await Person.of(stage, session_id)
    await person.save("r1", 1, "Hello", send=True)
    async with stage.agent(await stage.grant(session_id, capabilities=["wait"])) as agent:
        assert await agent.tools() == ["wait"]


async def test_a_key_reads_what_came_to_the_session_that_is_current_now(stage: Stage) -> None:
    """A4: also where that is another than at first."""
    owner = new_id("agent")
    first, key = await stage.session(owner), await stage.key(owner)
    async with stage.agent(key, mode="legacy") as agent:
        assert TOOL not in await agent.tools()
        await stage.handoffs.close_session(first)
        second = await stage.session(owner)
        writer = await stage.requests.issue_writer(second, owner, "Robin")
        await stage.requests.write(writer, SaveRequest(request_id="r1", generation=1, text="Hello", send=True))
        await until(agent.tools, 40, wanted=lambda tools: TOOL in tools)
        assert (await agent.tool(TOOL, session_id=second))["request"]["text"] == "Hello"
