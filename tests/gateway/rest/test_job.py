"""The job by REST: an agent meets a wall, a person passes it, and the agent goes on."""

from typing import Any

import pytest

from tests.gateway.mcp.stage import INVOICES_URL, Stage
from tests.gateway.rest.caller import Caller, nobody, open_caller
from tests.waiting import until
from user_handoff.contract.handoff import Answer, Reply
from user_handoff.testing import ScriptedPerson


async def begin(me: Caller, **options: Any) -> tuple[str, dict[str, Any]]:
    """Open a browser at the wall, and hand it over."""
    await me.post("/v1/sessions")
    browser_id = (await me.post("/v1/browsers", {"url": INVOICES_URL}))["browser_id"]
    page = await me.post(f"/v1/browsers/{browser_id}/snapshots")
    assert page["boundary"]["rule_id"] == "sign-in-password"
    body = {
        "browser_id": browser_id,
        "instructions": "Sign in to the portal",
        "boundary": page["boundary"],
        "verify": {"kind": "url", "glob": "**/invoices"},
        **options,
    }
    return browser_id, await me.post("/v1/handoffs", body)


async def ended(me: Caller, handoff_id: str) -> dict[str, Any]:
    """The handoff, once it has ended."""

    async def look() -> dict[str, Any]:
        summary = await me.get(f"/v1/handoffs/{handoff_id}")
        if summary["state"] == "recovering":
            browser_id = handoff_id.split("/")[1]
            await me.post(f"/v1/browsers/{browser_id}/snapshots")
        return summary

    return await until(look, 30, wanted=lambda now: now["state"] == "completed")


async def test_a_person_signs_in_and_the_agent_goes_on_where_it_was(stage: Stage, me: Caller) -> None:
    """A6, A12, A20, B3, B4: by REST alone."""
    stage.meets(ScriptedPerson("done", note="I signed in"))
    browser_id, begun = await begin(me)
    assert begun["handoff_id"] == f"handoff/{browser_id}/{begun['session_id']}/{begun['message_id']}"
    link = await me.post(f"/v1/handoffs/{begun['handoff_id']}/links")
    assert link["url"].startswith(f"{stage.base_url}/j/")
    summary = await ended(me, begun["handoff_id"])
    assert (summary["result"], summary["note"], summary["link_hashes"]) == ("verified", "I signed in", [])
    page = await me.post(f"/v1/browsers/{browser_id}/snapshots")
    element = page["text"].split('button "Export" [id=')[1].split("]")[0]
    done = await me.post(f"/v1/browsers/{browser_id}/actions", {"action": "click", "element_id": element})
    assert done["outcome"] == "completed"
    assert stage.desktop.done("click")[-1] == "Export"
    assert (await me.post(f"/v1/browsers/{browser_id}/close"))["closed"]


async def test_while_a_person_has_the_browser_it_is_not_acted_on(stage: Stage, me: Caller) -> None:
    """A8: the same gate as behind every door."""
    stage.meets(nobody())
    browser_id, begun = await begin(me)
    act = {"action": "navigate", "url": "https://open.example/"}
    assert await me.refused(f"/v1/browsers/{browser_id}/actions", act) == (409, "browser_held")
    look = await me.post(f"/v1/browsers/{browser_id}/desktop/looks")
    native = {"generation": look["generation"], "do": {"action": "press", "keys": ["enter"]}}
    assert await me.refused(f"/v1/browsers/{browser_id}/desktop/actions", native) == (409, "desktop_held")
    assert (await me.get(f"/v1/browsers/{browser_id}"))["state"] == "held"
    wrong = {"handoff_fence": "not it"}
    assert await me.refused(f"/v1/handoffs/{begun['handoff_id']}/finish", wrong) == (409, "fence_mismatch")
    fence = {"handoff_fence": begun["handoff_fence"]}
    assert (await me.post(f"/v1/handoffs/{begun['handoff_id']}/finish", fence))["state"] == "recovering"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_to_close_a_handoff_is_to_close_its_browser(stage: Stage, me: Caller) -> None:
    """A14."""
    stage.meets(nobody())
    browser_id, begun = await begin(me)
    for _ in range(2):
        assert (await me.post(f"/v1/handoffs/{begun['handoff_id']}/close"))["state"] == "closed"
    assert await me.not_told(f"/v1/browsers/{browser_id}") == (409, "browser_gone")


async def test_to_close_a_handoff_that_has_ended_leaves_the_browser(stage: Stage, me: Caller) -> None:
    stage.meets(ScriptedPerson("declined"))
    browser_id, begun = await begin(me)
    await ended(me, begun["handoff_id"])
    assert (await me.post(f"/v1/handoffs/{begun['handoff_id']}/close"))["state"] == "completed"
    assert (await me.get(f"/v1/browsers/{browser_id}"))["state"] == "open"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_instructions_that_ask_for_a_secret_are_refused_whatever_message_carries_them(
    stage: Stage, me: Caller
) -> None:
    """E10."""
    stage.meets(nobody())
    session_id = (await me.post("/v1/sessions"))["session_id"]
    posted = await me.post(f"/v1/sessions/{session_id}/messages", {"kind": "todo", "text": "Sign in"})
    browser_id = (await me.post("/v1/browsers", {"url": INVOICES_URL}))["browser_id"]
    body = {"browser_id": browser_id, "instructions": "Please reply with your password."}
    assert await me.refused("/v1/handoffs", body) == (409, "secret_question")
    assert await me.refused("/v1/handoffs", {**body, "message_id": posted["message_id"]}) == (409, "secret_question")
    assert (await me.get(f"/v1/browsers/{browser_id}"))["state"] == "open"
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_a_question_is_asked_and_its_reply_read(stage: Stage, me: Caller) -> None:
    """D1: a reply is untrusted input, and the first one stands."""
    session_id = (await me.post("/v1/sessions"))["session_id"]
    messages = f"/v1/sessions/{session_id}/messages"
    asked = await me.post(messages, {"text": "Which invoice?"})
    reply = f"{messages}/{asked['message_id']}/reply"
    assert not (await me.get(reply))["replied"]
    said = await me.post(reply, {"text": "The last one", "by": "Ada"})
    assert said["reply"]["text"] == "The last one"
    found = await me.get(reply)
    assert (found["replied"], found["text"], found["by"], found["untrusted"]) == (True, "The last one", "Ada", True)
    assert await me.refused(reply, {"text": "The first one"}) == (409, "already_decided")
    assert (await me.get(reply))["text"] == "The last one"


async def test_an_agent_does_not_answer_for_a_person(stage: Stage, me: Caller) -> None:
    """C1: a grant of everything replies to nothing."""
    session_id = (await me.post("/v1/sessions"))["session_id"]
    token, _ = await stage.access.issue_grant(session_id, me.name)
    async with open_caller(stage, me.name, bearer=token) as agent:
        asked = await agent.post("/v1/sessions/current/messages", {"text": "Which invoice?"})
        reply = f"/v1/sessions/{session_id}/messages/{asked['message_id']}/reply"
        assert await agent.refused(reply, {"text": "The last one"}) == (403, "forbidden")
        assert not (await agent.get(reply))["replied"]


async def test_a_reply_by_another_door_is_told_here(stage: Stage, me: Caller) -> None:
    stage.meets(nobody())
    _, begun = await begin(me)
    await stage.handoffs.reply(begun["handoff_id"], Reply(answer=Answer.COULD_NOT, note="no account"), "r1")
    summary = await ended(me, begun["handoff_id"])
    assert (summary["result"], summary["note"]) == ("failed", "no account")
    await me.post(f"/v1/handoffs/{begun['handoff_id']}/close")


@pytest.mark.parametrize("how", ["handoff/b/s/m", "handoff%2Fb%2Fs%2Fm"])
async def test_a_handoff_is_named_by_its_id_with_slashes_or_without(me: Caller, how: str) -> None:
    assert await me.not_told(f"/v1/handoffs/{how}") == (404, "unknown_handoff")
