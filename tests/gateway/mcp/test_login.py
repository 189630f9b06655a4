"""The job: an agent meets a wall, a person passes it, and the agent goes on."""

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.gateway.mcp.stage import INVOICES_URL, OWNER, Agent, Stage
from user_handoff.contract.handoff import Answer, Reply
from user_handoff.testing import ScriptedPerson


async def _begin(agent: Agent, session_id: str | None = None, **options: Any) -> tuple[str, dict[str, Any]]:
    opened = await agent.do("open", url=INVOICES_URL)
    page = await agent.do("snapshot", browser_id=opened["browser_id"])
    assert page["boundary"]["rule_id"] == "sign-in-password"
    begun = await agent.do(
        "begin_user_handoff",
        browser_id=opened["browser_id"],
        instructions="Sign in to the portal",
        boundary=page["boundary"],
        verify={"kind": "url", "glob": "**/invoices"},
        **options,
    )
    return opened["browser_id"], begun


async def test_a_person_signs_in_and_the_agent_goes_on_where_it_was(stage: Stage) -> None:
    """A6, A12, A20, B3, B4, C2: by the key of a principal, in its current session."""
    stage.meets(ScriptedPerson("done", note="I signed in"))
    await stage.session()
    async with stage.agent(await stage.key()) as agent:
        browser_id, begun = await _begin(agent)
        url = await agent.tool("issue_browser_url", handoff_id=begun["handoff_id"])
        assert url["url"].startswith(f"{stage.base_url}/j/")
        waited = await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        assert (waited["state"], waited["waiting"]) == ("recovering", False)
        reply = await agent.tool("read_reply", handoff_id=begun["handoff_id"])
        assert (reply["answer"], reply["text"], reply["untrusted"]) == ("done", "I signed in", True)
        for page in (await agent.do("info", browser_id=browser_id))["pages"]:
            await agent.do("snapshot", browser_id=browser_id, page_id=page["page_id"])
        waited = await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        assert (waited["state"], waited["waiting"]) == ("completed", False), "it is not told to look again"
        assert waited["summary"]["result"] == "verified"
        assert waited["summary"]["link_hashes"] == []
        fresh = await agent.do("snapshot", browser_id=browser_id)
        element = fresh["text"].split('button "Export" [id=')[1].split("]")[0]
        assert (await agent.do("click", browser_id=browser_id, element_id=element))["outcome"] == "completed"
        await agent.do("close_browser", browser_id=browser_id)
    assert stage.desktop.done("click")[-1] == "Export"


async def test_done_that_is_not_so_is_never_verified(stage: Stage) -> None:
    """A20, K20."""
    stage.meets(ScriptedPerson("done", does_it=False))
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id, begun = await _begin(agent, verify_seconds=0.5)
        await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        await agent.do("snapshot", browser_id=browser_id)
        waited = await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        assert (waited["state"], waited["summary"]["result"]) == ("completed", "not_verified")
        assert "Nothing but `verified`" in waited["do_next"]
        await agent.do("close_browser", browser_id=browser_id)


async def test_a_begin_sent_twice_holds_once(stage: Stage) -> None:
    """A7, A17: the same effect id is the same message, and that is the same handoff."""
    stage.meets(ScriptedPerson("done", waits_for=asyncio.Event()))
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
        ask = {"browser_id": browser_id, "instructions": "Sign in", "effect_id": "once"}
        first, second = await asyncio.gather(*(agent.do("begin_user_handoff", **ask) for _ in range(2)))
        assert first["handoff_fence"] == second["handoff_fence"]
        await agent.do("close_browser", browser_id=browser_id)


async def test_a_grant_from_before_a_sign_in_is_refused_after_it(stage: Stage) -> None:
    """C3: until another is issued."""
    stage.meets(ScriptedPerson("done"))
    session_id = await stage.session()
    async with stage.agent(await stage.grant(session_id)) as agent:
        browser_id, begun = await _begin(agent)
        await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=30)
        await agent.do("snapshot", browser_id=browser_id)
        await stage.handoffs.result(begun["handoff_id"])
        async with asyncio.timeout(30):
            with pytest.raises(MCPError) as refused:
                while True:
                    await agent.tools()
        assert (refused.value.error.code, refused.value.error.data["code"]) == (-32002, "auth_context_changed")
    async with stage.agent(await stage.grant(session_id)) as agent:
        assert (await agent.do("info", browser_id=browser_id))["state"] == "open"
        await agent.do("close_browser", browser_id=browser_id)


async def test_an_answer_by_any_door_reaches_the_agent(stage: Stage) -> None:
    stage.meets(ScriptedPerson("never"))
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id, begun = await _begin(agent)
        reply = Reply(answer=Answer.COULD_NOT, note="no account", by=OWNER)
        await stage.handoffs.reply(begun["handoff_id"], reply, "r1")
        assert (await agent.tool("read_reply", handoff_id=begun["handoff_id"]))["answer"] == "could_not"
        await agent.do("close_browser", browser_id=browser_id)
