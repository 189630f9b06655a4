"""Lists in pages."""

import base64
import json
from typing import Any

import pytest

from tests.gateway.mcp.stage import Stage
from tests.gateway.rest.caller import Caller, nobody, open_caller
from tests.waiting import until

URL = "https://open.example/"


async def pages(me: Caller, path: str, **query: Any) -> list[list[dict[str, Any]]]:
    """Every page of a list."""
    found, cursor = [], None
    while True:
        page = await me.get(path, **query, **({"cursor": cursor} if cursor else {}))
        found.append(page["items"])
        if not (cursor := page["next_cursor"]):
            return found


async def test_sessions_are_listed_newest_first_and_each_once_while_others_are_opened(me: Caller) -> None:
    opened = [(await me.post("/v1/sessions"))["session_id"] for _ in range(5)]
    first = await me.get("/v1/sessions", limit=2)
    await me.post("/v1/sessions")
    second = await me.get("/v1/sessions", limit=2, cursor=first["next_cursor"])
    third = await me.get("/v1/sessions", limit=2, cursor=second["next_cursor"])
    rows = [row["session_id"] for page in (first, second, third) for row in page["items"]]
    assert rows == opened[::-1]
    assert third["next_cursor"] is None


async def test_sessions_that_have_ended_are_told_apart(me: Caller) -> None:
    first, second = [(await me.post("/v1/sessions"))["session_id"] for _ in range(2)]
    await me.post(f"/v1/sessions/{first}/close")
    ended = await until(lambda: me.get("/v1/sessions", open=False), wanted=lambda ended: ended["items"])
    assert [row["session_id"] for row in ended["items"]] == [first]
    assert [row["session_id"] for row in (await me.get("/v1/sessions", open=True))["items"]] == [second]


async def test_messages_are_listed_in_order_and_each_once_while_others_are_posted(me: Caller) -> None:
    session_id = (await me.post("/v1/sessions"))["session_id"]
    path = f"/v1/sessions/{session_id}/messages"
    for number in range(5):
        await me.post(path, {"text": f"Question {number}", "kind": "question"})
    first = await me.get(path, limit=3)
    await me.post(path, {"text": "Question 5"})
    second = await me.get(path, limit=3, cursor=first["next_cursor"])
    assert [m["text"] for page in (first, second) for m in page["items"]] == [f"Question {n}" for n in range(6)]
    assert second["next_cursor"] is None
    assert (await me.get(path, state="answered"))["items"] == []
    info = await me.get(f"/v1/sessions/{session_id}")
    assert (info["messages"], info["open_messages"], info["version"]) == (6, 6, 6)


async def test_handoffs_are_listed_by_their_state_and_all_of_them_in_pages(stage: Stage, me: Caller) -> None:
    stage.meets(nobody())
    await me.post("/v1/sessions")
    begun = []
    for _ in range(3):
        browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
        begun.append((await me.post("/v1/handoffs", {"browser_id": browser_id, "instructions": "Look"}))["handoff_id"])
    await me.post(f"/v1/handoffs/{begun[0]}/close")

    async def listed(**query: Any) -> set[str]:
        found = await pages(me, "/v1/handoffs", limit=1, **query)
        assert all(len(page) <= 1 for page in found)
        return {row["handoff_id"] for page in found for row in page}

    # the list lags a moment behind
    await until(lambda: listed(state="held"), 20, wanted=lambda held: held == set(begun[1:]))
    await until(lambda: listed(state="closed"), 20, wanted=lambda closed: closed == {begun[0]})
    assert await listed() == set(begun)
    assert await listed(session_id="s_another") == set()
    async with open_caller(stage) as other:
        assert (await other.get("/v1/handoffs"))["items"] == []
    for handoff_id in begun[1:]:
        await me.post(f"/v1/handoffs/{handoff_id}/close")


def cursor(*words: str) -> str:
    return base64.urlsafe_b64encode(json.dumps(words).encode()).decode()


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/sessions/current/messages", "/v1/handoffs"])
@pytest.mark.parametrize("said", ["x", "%00", "e30=", cursor("0" * 32, "1"), "x" * 2_000, "\U0001f600"])
async def test_what_is_no_cursor_of_a_list_is_refused(me: Caller, path: str, said: str) -> None:
    await me.post("/v1/sessions")
    assert await me.not_told(path, cursor=said) == (400, "invalid_request")


async def test_a_cursor_is_good_for_the_same_question_alone(stage: Stage, me: Caller) -> None:
    for _ in range(3):
        await me.post("/v1/sessions")
    found = (await me.get("/v1/sessions", limit=1))["next_cursor"]
    assert await me.not_told("/v1/sessions", cursor=found, open=True) == (400, "invalid_request")
    async with open_caller(stage) as other:
        assert await other.not_told("/v1/sessions", cursor=found) == (400, "invalid_request")
    mark, _ = json.loads(base64.urlsafe_b64decode(found + "==="))
    assert await me.not_told("/v1/sessions", cursor=cursor(mark, "s_never_was")) == (400, "invalid_request")


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 101}, {"limit": "x"}, {"state": "x"}, {"more": 1}])
async def test_a_query_that_does_not_fit_is_refused(me: Caller, query: dict[str, Any]) -> None:
    assert await me.not_told("/v1/handoffs", **query) == (400, "invalid_request")
