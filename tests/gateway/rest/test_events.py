"""Server-sent events of one handoff."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.gateway.mcp.stage import INVOICES_URL, Stage, open_gateway
from tests.gateway.rest.caller import Caller, nobody, open_caller
from tests.gateway.rest.test_job import begin
from tests.waiting import until
from user_handoff.contract.handoff import Answer, Reply
from user_handoff.gateway.rest import events


@dataclass
class Event:
    """One event."""

    name: str
    event_id: str
    data: dict[str, Any]


class Stream:
    """A stream that is read."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()
        self.beats = 0

    async def next(self) -> Event | None:
        """The next event; None: the stream has ended."""
        fields: dict[str, str] = {}
        async with asyncio.timeout(30):
            async for line in self._lines:
                if line.startswith(":"):
                    self.beats += 1
                elif line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "data" in fields:
                    return Event(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
        return None

    async def rest(self) -> list[Event]:
        """All events until the stream ends."""
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@contextlib.asynccontextmanager
async def following(me: Caller, handoff_id: str, last: str = "") -> AsyncIterator[Stream]:
    headers = {"last-event-id": last} if last else {}
    async with me.http.stream("GET", f"/v1/handoffs/{handoff_id}/events", headers=headers) as response:
        yield Stream(response)


async def test_each_change_is_told_until_the_end_and_then_the_stream_ends(stage: Stage, me: Caller) -> None:
    """A20: by push, with what holds at each moment."""
    stage.meets(nobody())
    browser_id, begun = await begin(me)
    async with following(me, begun["handoff_id"]) as stream:
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        first = await stream.next()
        assert first is not None
        assert (first.name, first.data["state"]) == ("state", "held")
        assert first.data["link_hashes"] == []
        await stage.handoffs.reply(begun["handoff_id"], Reply(answer=Answer.DECLINED, note="no"), "r1")
        while (event := await stream.next()) is not None and event.data["state"] != "recovering":
            pass
        await me.post(f"/v1/browsers/{browser_id}/snapshots")
        last = (await stream.rest())[-1]
    assert (last.name, last.data["state"], last.data["result"]) == ("end", "completed", "declined")
    assert len({last.event_id, first.event_id}) == 2
    async with following(me, begun["handoff_id"]) as stream:
        assert [event.name for event in await stream.rest()] == ["end"]
    async with following(me, begun["handoff_id"], last.event_id) as stream:
        assert stream.response.status_code == 204, "which tells a client to come no more"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_what_is_known_is_not_told_again_by_any_gateway(stage: Stage, me: Caller) -> None:
    stage.meets(nobody())
    browser_id, begun = await begin(me)
    async with following(me, begun["handoff_id"]) as stream:
        first = await stream.next()
    assert first is not None
    async with open_gateway(stage.temporal) as base_url, open_caller(stage, me.name) as there:
        there.http.base_url = base_url
        async with following(there, begun["handoff_id"], first.event_id) as stream:
            await me.post(f"/v1/browsers/{browser_id}/close")
            found = await stream.rest()
    assert [event.name for event in found][-1] == "end"
    assert first.event_id not in [event.event_id for event in found]


async def test_a_stream_ends_with_its_grant(stage: Stage, me: Caller) -> None:
    """C1: within about a second."""
    stage.meets(nobody())
    browser_id, begun = await begin(me)
    token, _ = await stage.access.issue_grant(begun["session_id"], me.name, projections=["state"])
    async with open_caller(stage, me.name, bearer=token) as agent, following(agent, begun["handoff_id"]) as stream:
        first = await stream.next()
        assert first is not None
        assert first.data == {"state": "held"}
        await stage.access.revoke_grant(token)
        (refused,) = await stream.rest()
    assert (refused.name, refused.data["code"]) == ("refused", "grant_revoked")
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_streams_are_bounded_and_those_that_end_make_room(
    stage: Stage, me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.meets(nobody())
    monkeypatch.setattr(events, "MAX_STREAMS_OF_ONE", 2)
    browser_id, begun = await begin(me)
    path = f"/v1/handoffs/{begun['handoff_id']}/events"
    async with following(me, begun["handoff_id"]) as one, following(me, begun["handoff_id"]) as two:
        await one.next(), await two.next()
        response = await me.http.get(path)
        assert me.problem(response) == (429, "rate_limited")
        assert response.headers["retry-after"]
        async with open_caller(stage, me.name) as other, following(other, begun["handoff_id"]) as another:
            assert await another.next()

    async def let_in() -> bool:
        async with following(me, begun["handoff_id"]) as stream:
            return stream.response.status_code == 200

    await until(let_in)
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_a_quiet_stream_says_that_it_lives_and_ends_with_its_gateway(
    stage: Stage, me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.meets(nobody())
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.3)
    browser_id, begun = await begin(me)
    async with open_caller(stage, me.name) as there, contextlib.AsyncExitStack() as gateway:
        there.http.base_url = await gateway.enter_async_context(open_gateway(stage.temporal))
        async with following(there, begun["handoff_id"]) as stream:
            await stream.next()
            reading = asyncio.create_task(stream.rest())
            await until(lambda: stream.beats >= 2)
            began = asyncio.get_running_loop().time()
            ending = asyncio.create_task(gateway.aclose())
            assert await reading == []
            assert asyncio.get_running_loop().time() - began < 2
        await ending
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_nobody_else_follows(stage: Stage, me: Caller) -> None:
    """A5."""
    stage.meets(nobody())
    await me.post("/v1/sessions")
    browser_id = (await me.post("/v1/browsers", {"url": INVOICES_URL}))["browser_id"]
    begun = await me.post("/v1/handoffs", {"browser_id": browser_id, "instructions": "Look"})
    async with open_caller(stage) as other:
        assert await other.not_told(f"/v1/handoffs/{begun['handoff_id']}/events") == (403, "not_owner")
    await me.post(f"/v1/browsers/{browser_id}/close")
