"""The same request under the same key is done once, wherever it arrives; another one is refused."""

import asyncio
from typing import Any

import pytest

from tests.gateway.mcp.stage import INVOICES_URL, Stage, open_gateway
from tests.gateway.rest.caller import Caller, nobody, open_caller

URL = "https://open.example/"


async def test_the_same_request_is_done_once_and_has_the_same_receipt(stage: Stage, me: Caller) -> None:
    """A17, K12: each kind of request that changes something."""
    stage.meets(nobody())

    async def twice(path: str, body: Any = None) -> dict[str, Any]:
        first, again = [await me.post(path, body, key=f"k {path}".replace(" ", "/")) for _ in range(2)]
        assert first == again or path.endswith(("/close", "/finish", "browsers")), path
        return first

    session = await twice("/v1/sessions")
    await twice("/v1/sessions/current/messages", {"text": "Which invoice?"})
    browser_id = (await twice("/v1/browsers", {"url": URL}))["browser_id"]
    before = len(stage.desktop.effects)
    await twice(f"/v1/browsers/{browser_id}/actions", {"action": "press", "key": "Enter"})
    look = await me.post(f"/v1/browsers/{browser_id}/desktop/looks")
    native = {"generation": look["generation"], "do": {"action": "press", "keys": ["enter"]}}
    await twice(f"/v1/browsers/{browser_id}/desktop/actions", native)
    assert len(stage.desktop.effects) == before + 2
    begun = await twice("/v1/handoffs", {"browser_id": browser_id, "instructions": "Look at this"})
    await twice(f"/v1/handoffs/{begun['handoff_id']}/links")
    await twice(f"/v1/handoffs/{begun['handoff_id']}/finish", {"handoff_fence": begun["handoff_fence"]})
    await twice(f"/v1/browsers/{browser_id}/close")
    await twice(f"/v1/sessions/{session['session_id']}/close")
    rows = (await me.get("/v1/sessions"))["items"]
    assert rows == [{"session_id": session["session_id"], "open": False}]


async def test_a_key_that_named_another_request_is_refused(stage: Stage, me: Caller) -> None:
    """K24: another body, another path and another operation; the first stands."""
    await me.post("/v1/sessions")
    first = await me.post("/v1/sessions/current/messages", {"text": "Which invoice?"}, key="k1")
    used = (409, "id_reused")
    assert await me.refused("/v1/sessions/current/messages", {"text": "Which one?"}, "k1") == used
    path = f"/v1/sessions/{first['session_id']}/messages"
    assert await me.refused(path, {"text": "Which invoice?"}, "k1") == used
    assert await me.refused("/v1/browsers", {"url": URL}, "k1") == used
    assert await me.post("/v1/sessions/current/messages", {"text": "Which invoice?"}, key="k1") == first
    assert len((await me.get(path))["items"]) == 1


async def test_a_key_is_known_at_another_gateway_and_after_the_first_has_ended(stage: Stage, me: Caller) -> None:
    """A17: Temporal keeps it, and no gateway."""
    await me.post("/v1/sessions")
    async with open_gateway(stage.temporal) as base_url, open_caller(stage, me.name) as there:
        there.http.base_url = base_url
        opened = await there.post("/v1/browsers", {"url": URL}, key="k1")
        act = {"action": "press", "key": "Enter"}
        done = await there.post(f"/v1/browsers/{opened['browser_id']}/actions", act, key="k2")
    before = len(stage.desktop.effects)
    again = await me.post("/v1/browsers", {"url": URL}, key="k1")
    assert again["browser_id"] == opened["browser_id"]
    assert await me.post(f"/v1/browsers/{opened['browser_id']}/actions", act, key="k2") == done
    assert await me.refused("/v1/browsers", {"url": INVOICES_URL}, "k1") == (409, "id_reused")
    assert len(stage.desktop.effects) == before
    await me.post(f"/v1/browsers/{opened['browser_id']}/close")


async def test_the_same_request_ten_times_at_once_is_done_once(stage: Stage, me: Caller) -> None:
    """K12."""
    await me.post("/v1/sessions")
    browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
    before = len(stage.desktop.effects)
    path, act = f"/v1/browsers/{browser_id}/actions", {"action": "press", "key": "Enter"}
    receipts = await asyncio.gather(*(me.post(path, act, key="k1") for _ in range(10)))
    assert len({receipt["effect_id"] for receipt in receipts}) == 1
    assert len(stage.desktop.effects) == before + 1
    await me.post(path, act)
    assert len(stage.desktop.effects) == before + 2, "without a key each is new"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_a_link_is_the_same_under_the_same_key_and_another_without(stage: Stage, me: Caller) -> None:
    """C6: it is made of the bearer, and kept nowhere."""
    stage.meets(nobody())
    await me.post("/v1/sessions")
    browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
    begun = await me.post("/v1/handoffs", {"browser_id": browser_id, "instructions": "Look at this"})
    path = f"/v1/handoffs/{begun['handoff_id']}/links"
    first, again, other, new = [(await me.post(path, key=key))["url"] for key in ("k1", "k1", "k2", None)]
    assert first == again
    assert len({first, other, new}) == 3
    async with open_caller(stage, me.name) as rotated:
        assert (await rotated.post(path, key="k1"))["url"] != first
    assert (await me.http.get(first)).status_code == 200
    await me.post(f"/v1/handoffs/{begun['handoff_id']}/close")


async def test_one_callers_key_is_nothing_to_another(stage: Stage, me: Caller) -> None:
    """A5."""
    async with open_caller(stage) as other:
        mine, theirs = [await each.post("/v1/sessions", key="k1") for each in (me, other)]
    assert mine["session_id"] != theirs["session_id"]


async def test_the_same_request_with_current_is_about_the_same_session(me: Caller) -> None:
    """A4: also where another session is the current one by then."""
    first = await me.post("/v1/sessions")
    posted = await me.post("/v1/sessions/current/messages", {"text": "Which invoice?"}, key="k1")
    closed = await me.post("/v1/sessions", key="k2")
    assert closed["session_id"] != first["session_id"] == posted["session_id"]
    assert await me.post("/v1/sessions/current/messages", {"text": "Which invoice?"}, key="k1") == posted
    for _ in range(2):
        await me.post("/v1/sessions/current/close", key="k3")
    rows = (await me.get("/v1/sessions"))["items"]
    assert [row["open"] for row in rows] == [False, True]


@pytest.mark.parametrize("key", ["", "x" * 201, "with a space", "a\ttab"])
async def test_what_is_no_key_is_refused(me: Caller, key: str) -> None:
    assert await me.refused("/v1/sessions", None, key) == (400, "invalid_request")
    assert (await me.get("/v1/sessions"))["items"] == []


async def test_another_text_under_a_messages_own_id_is_refused(me: Caller) -> None:
    """K24."""
    await me.post("/v1/sessions")
    path = "/v1/sessions/current/messages"
    await me.post(path, {"text": "Which invoice?", "message_id": "m_mine"})
    assert await me.refused(path, {"text": "Which one?", "message_id": "m_mine"}) == (409, "id_reused")
    await me.post(path, {"text": "Which invoice?", "message_id": "m_mine"})
