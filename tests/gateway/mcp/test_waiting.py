"""Waiting for a person: told while it lasts, and never lost with the call that waits."""

import asyncio

import pytest
from mcp.shared.exceptions import MCPError

from tests.gateway.mcp.stage import INVOICES_URL, Agent, Stage
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.session import ReplyMessage
from user_handoff.gateway.toolbox import Toolbox
from user_handoff.testing import ScriptedPerson


async def _held(agent: Agent) -> tuple[str, str]:
    browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
    begun = await agent.do("begin_user_handoff", browser_id=browser_id, instructions="Sign in")
    return browser_id, begun["handoff_id"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_wait_tells_its_progress(stage: Stage, mode: str) -> None:
    stage.meets(ScriptedPerson("done", waits_for=asyncio.Event()))
    told: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with stage.agent(await stage.grant(await stage.session()), mode=mode) as agent:
        browser_id, handoff_id = await _held(agent)
        asked = {"handoff_id": handoff_id, "timeout_seconds": 4}
        called = await agent.client.call_tool("wait", asked, progress_callback=on_progress)
        assert called.structured_content is not None
        waited = called.structured_content["result"]
        await agent.do("close_browser", browser_id=browser_id)
    assert (waited["waiting"], waited["state"]) == (True, "held")
    assert told[0][1:] == (4.0, "held: waiting for a person")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_wait_that_timed_out_on_the_caller_is_gone_on_with_by_the_next(stage: Stage, mode: str) -> None:
    answers = asyncio.Event()
    stage.meets(ScriptedPerson("done", waits_for=answers))
    async with stage.agent(await stage.grant(await stage.session()), mode=mode) as agent:
        browser_id, handoff_id = await _held(agent)
        with pytest.raises(MCPError, match=r"[Tt]imed out"):
            await agent.client.call_tool("wait", {"handoff_id": handoff_id}, read_timeout_seconds=0.5)
        answers.set()
        waited = await agent.tool("wait", handoff_id=handoff_id, timeout_seconds=30)
        await agent.do("close_browser", browser_id=browser_id)
    assert waited["state"] == "recovering"
    assert "fresh snapshot" in waited["do_next"]


async def test_a_question_is_answered(stage: Stage) -> None:
    """A person's words come marked as untrusted, with whose they are."""
    session_id = await stage.session()
    async with stage.agent(await stage.grant(session_id)) as agent:
        posted = await agent.tool("post_message", text="Which month?", message_id="month")
        assert (posted["session_id"], posted["kind"], posted["state"]) == (session_id, "question", "open")
        assert not (await agent.tool("read_reply", message_id="month"))["replied"]
        waiting = asyncio.create_task(agent.tool("wait", message_id="month", timeout_seconds=60))
        await stage.handoffs.reply_message(session_id, ReplyMessage(message_id="month", text="March", by="Robin"))
        waited = await waiting
    assert not waited["waiting"]
    assert (waited["reply"]["text"], waited["reply"]["by"], waited["reply"]["untrusted"]) == ("March", "Robin", True)


async def test_a_wait_ends_with_the_grant(stage: Stage) -> None:
    """C1: within a second, whatever it waits for."""
    stage.meets(ScriptedPerson("done", waits_for=asyncio.Event()))
    token = await stage.grant(await stage.session())
    async with stage.agent(token) as agent:
        _, handoff_id = await _held(agent)
        waiting = asyncio.create_task(agent.client.call_tool("wait", {"handoff_id": handoff_id, "timeout_seconds": 60}))
        await asyncio.sleep(0)
        await stage.access.revoke_grant(token)
        async with asyncio.timeout(30):
            with pytest.raises(MCPError):
                await waiting
    await stage.handoffs.close(handoff_id)


async def test_a_wait_looks_whether_its_caller_may_still_ask(stage: Stage) -> None:
    """C1: at a door without streams, too."""
    session_id = await stage.session()
    grant = await stage.access.grant(token := await stage.grant(session_id))
    toolbox = Toolbox(DesktopClient(stage.temporal), stage.access, stage.base_url)

    async def still() -> None:
        await stage.access.grant(token)

    asked = {"person_request": True, "timeout_seconds": 60}
    waiting = asyncio.create_task(toolbox.call(grant, "wait", asked, still=still))
    await stage.access.revoke_grant(token)
    with pytest.raises(HandoffError) as refused:
        await waiting
    assert refused.value.code is ErrorCode.GRANT_REVOKED


async def test_an_unknown_handoff_is_said_to_be_unknown(stage: Stage) -> None:
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        for handoff_id in ("handoff/b/s/m", "nonsense"):
            assert (await agent.refused("wait", handoff_id=handoff_id))["code"] == "unknown_handoff"
