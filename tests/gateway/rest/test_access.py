"""Who may ask for what: the same as behind every other door."""

from typing import Any

import pytest

from tests.gateway.mcp.stage import Stage
from tests.gateway.rest.caller import Caller, nobody, open_caller
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope

URL = "https://open.example/"


@pytest.mark.parametrize("bearer", ["x", "hk_k.x", "hg_s.x", "hw_s.x", "Ünïcode", "hk_" + "x" * 5_000])
async def test_what_lets_nobody_in_is_refused_and_an_origin_lets_nobody_in(stage: Stage, bearer: str) -> None:
    """A5, K83."""
    async with open_caller(stage, "nobody", bearer="none") as stranger:
        headers = {b"authorization": f"Bearer {bearer}".encode(), b"origin": stage.base_url.encode()}
        response = await stranger.http.post("/v1/sessions", json={}, headers=headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert stranger.problem(response)[1] in ("unauthorized", "grant_unknown")


async def test_what_belongs_to_another_principal_is_neither_shown_nor_changed(stage: Stage, me: Caller) -> None:
    """A5."""
    stage.meets(nobody())
    session_id = (await me.post("/v1/sessions"))["session_id"]
    posted = await me.post(f"/v1/sessions/{session_id}/messages", {"text": "Which invoice?"})
    browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
    begun = await me.post("/v1/handoffs", {"browser_id": browser_id, "instructions": "Look"})
    handoff, message = f"/v1/handoffs/{begun['handoff_id']}", f"messages/{posted['message_id']}"
    no = (403, "not_owner")
    async with open_caller(stage) as other:
        await other.post("/v1/sessions")
        for path in ("", "/messages", f"/{message}/reply"):
            assert await other.not_told(f"/v1/sessions/{session_id}{path}") == no, path
        for path in (f"/v1/browsers/{browser_id}", handoff, f"{handoff}/events"):
            assert await other.not_told(path) == no, path
        changes: dict[str, Any] = {
            f"/v1/sessions/{session_id}/close": {},
            f"/v1/sessions/{session_id}/messages": {"text": "x"},
            f"/v1/sessions/{session_id}/{message}/reply": {"text": "x"},
            f"/v1/browsers/{browser_id}/snapshots": {},
            f"/v1/browsers/{browser_id}/screenshots": {},
            f"/v1/browsers/{browser_id}/actions": {"action": "back"},
            f"/v1/browsers/{browser_id}/desktop/looks": {},
            f"/v1/browsers/{browser_id}/desktop/actions": {"generation": "g", "do": {"action": "move", "x": 1, "y": 1}},
            f"/v1/browsers/{browser_id}/close": {},
            f"{handoff}/finish": {"handoff_fence": begun["handoff_fence"]},
            f"{handoff}/links": {},
            f"{handoff}/close": {},
            "/v1/handoffs": {"browser_id": browser_id, "instructions": "x"},
        }
        for path, body in changes.items():
            assert await other.refused(path, body) == no, path
    assert (await me.get(handoff))["state"] == "held"
    await me.post(f"{handoff}/close")


async def test_a_key_does_no_more_than_its_scopes(stage: Stage, me: Caller) -> None:
    """A5: nor does it open a session that may do more."""
    await me.post("/v1/sessions")
    browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
    lacks = (403, "missing_scope")
    async with open_caller(stage, me.name, [Scope.RUNTIME_READ, Scope.SESSIONS_OPEN]) as reader:
        assert (await reader.get(f"/v1/browsers/{browser_id}"))["state"] == "open"
        assert (await reader.post(f"/v1/browsers/{browser_id}/snapshots"))["text"]
        assert await reader.refused(f"/v1/browsers/{browser_id}/actions", {"action": "back"}) == lacks
        assert await reader.refused(f"/v1/browsers/{browser_id}/close") == lacks
        assert await reader.refused(f"/v1/browsers/{browser_id}/desktop/looks") == lacks
        assert await reader.refused("/v1/handoffs", {"browser_id": browser_id, "instructions": "x"}) == lacks
        assert await reader.refused("/v1/sessions", {"scopes": ["browser:control"]}) == lacks
        assert (await reader.post("/v1/sessions"))["scopes"] == ["runtime:read"]
    await me.post(f"/v1/browsers/{browser_id}/close")


@pytest.mark.parametrize("scope", ["metrics:read", "handoffs:operate", "sessions:open", "everything"])
async def test_a_session_is_granted_nothing_that_is_about_no_session(stage: Stage, scope: str) -> None:
    """A5: an agent in it would have it too."""
    async with open_caller(stage, scopes=list(Scope)) as operator:
        assert await operator.refused("/v1/sessions", {"scopes": [scope]}) == (400, "invalid_request")
        assert scope not in (await operator.post("/v1/sessions"))["scopes"]


async def test_an_agent_starts_without_a_person_only_where_its_key_says_so(stage: Stage) -> None:
    """C4: what a key gets by default is not enough."""
    async with open_caller(stage, scopes=SCOPES_OF_A_HANDOFF) as agent:
        assert await agent.refused("/v1/sessions") == (403, "missing_scope")
        async with open_caller(stage, agent.name, [*SCOPES_OF_A_HANDOFF, Scope.SESSIONS_OPEN]) as starter:
            assert (await starter.post("/v1/sessions"))["owner"] == agent.name
        assert (await agent.get("/v1/sessions/current"))["owner"] == agent.name


async def test_a_grant_is_for_one_session_and_its_capabilities(stage: Stage, me: Caller) -> None:
    """C1."""
    mine, another = [(await me.post("/v1/sessions"))["session_id"] for _ in range(2)]
    browser_id = (await me.post("/v1/browsers", {"url": URL, "session_id": mine}))["browser_id"]
    token, _ = await stage.access.issue_grant(mine, me.name, capabilities=["observe_browser"], projections=["state"])
    no = (403, "forbidden")
    async with open_caller(stage, me.name, bearer=token) as agent:
        assert await agent.get(f"/v1/browsers/{browser_id}") == {"state": "open"}
        assert (await agent.get("/v1/sessions/current"))["session_id"] == mine
        assert [row["session_id"] for row in (await agent.get("/v1/sessions"))["items"]] == [mine]
        assert await agent.not_told(f"/v1/sessions/{another}") == no
        assert await agent.not_told("/v1/sessions/current/messages") == no
        assert await agent.refused("/v1/sessions") == no
        assert await agent.refused("/v1/sessions/current/close") == no
        assert await agent.refused("/v1/sessions/current/messages", {"text": "x"}) == no
        assert await agent.refused(f"/v1/browsers/{browser_id}/actions", {"action": "back"}) == no
        assert await agent.not_told("/v1/handoffs") == no
        await stage.access.revoke_grant(token)
        assert (await agent.not_told(f"/v1/browsers/{browser_id}"))[1] == "grant_revoked"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_a_key_that_was_revoked_lets_nobody_in(stage: Stage, me: Caller) -> None:
    assert (await me.get("/v1/sessions"))["items"] == []
    await stage.access.revoke_key(me.bearer.partition(".")[0].removeprefix("hk_"))
    assert await me.not_told("/v1/sessions") == (401, "unauthorized")


async def test_without_an_open_session_there_is_no_current_one(me: Caller) -> None:
    assert await me.not_told("/v1/sessions/current") == (404, "session_not_found")
    assert await me.refused("/v1/browsers", {"url": URL}) == (404, "session_not_found")
    assert await me.not_told("/v1/sessions/s_never_was") == (404, "session_not_found")


async def test_calls_are_noted_with_the_session(stage: Stage, me: Caller) -> None:
    """C8: tools and refusals, and never a value."""
    session_id = (await me.post("/v1/sessions"))["session_id"]
    browser_id = (await me.post("/v1/browsers", {"url": URL}))["browser_id"]
    fill = {"action": "fill", "element_id": "e_none", "text": "canary-of-the-audit"}
    await me.refused(f"/v1/browsers/{browser_id}/actions", fill)
    await me.post(f"/v1/browsers/{browser_id}/close")
    entries = await stage.access.read_audit(session_id)
    assert [(e.tool, e.action, e.outcome) for e in entries] == [
        ("control_browser", "open", "completed"),
        ("control_browser", "fill", "stale_element"),
        ("control_browser", "close_browser", "completed"),
    ]
    assert "canary" not in "".join(e.model_dump_json() for e in entries)
