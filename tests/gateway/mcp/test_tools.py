"""What is listed, what is taken and returned, and that an effect is done once."""

import asyncio
from typing import Any, get_args

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError

from tests.gateway.mcp.stage import INVOICES_URL, LOGIN, OPEN, OWNER, Stage
from tests.waiting import until
from user_handoff.contract.access import Capability
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope
from user_handoff.testing import ScriptedPerson


async def test_a_grant_for_everything_lists_every_tool_with_closed_schemas(stage: Stage) -> None:
    """C1: each has a description, hints, and schemas that hold."""
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        tools = (await agent.client.list_tools()).tools
    assert [tool.name for tool in tools] == list(get_args(Capability))
    for tool in tools:
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (
            tool.name.startswith("observe") or tool.name in ("read_reply", "wait")
        )
        assert tool.annotations.destructive_hint is tool.name.startswith("control")
        assert len(tool.description or "") > 80
        for schema in (tool.input_schema, tool.output_schema):
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"unknown": 1}, tool.input_schema)


async def test_a_grant_lists_and_takes_what_it_allows_alone(stage: Stage) -> None:
    """C1, C2: the list is filtered, and so are the calls."""
    token = await stage.grant(await stage.session(), capabilities=["observe_browser", "read_reply"])
    async with stage.agent(token) as agent:
        assert await agent.tools() == ["observe_browser", "read_reply"]
        with pytest.raises(MCPError) as refused:
            await agent.client.call_tool("post_message", {"text": "hello"})
    assert refused.value.error.code == -32003
    assert refused.value.error.data["code"] == "forbidden"


async def test_a_key_without_a_scope_lists_no_tool_that_needs_it(stage: Stage) -> None:
    """A5."""
    key = await stage.key(scopes=[Scope.RUNTIME_READ])
    async with stage.agent(key) as agent:
        assert "control_browser" not in await agent.tools()
        assert "observe_browser" in await agent.tools()
        with pytest.raises(MCPError) as refused:
            await agent.do("open")
    assert (refused.value.error.code, refused.value.error.data["code"]) == (-32003, "missing_scope")


async def test_projections_leave_only_the_fields_they_name(stage: Stage) -> None:
    """C1."""
    token = await stage.grant(await stage.session(), projections=["browser_id", "page.url", "text"])
    async with stage.agent(token) as agent:
        opened = await agent.do("open", url=OPEN.url)
        assert set(opened) == {"browser_id"}
        page = await agent.do("snapshot", browser_id=opened["browser_id"])
    assert page["page"] == {"url": OPEN.url}
    assert "button" in page["text"]
    assert set(page) == {"browser_id", "page", "text"}


async def test_an_agent_drives_a_browser(stage: Stage) -> None:
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
        page = await agent.do("snapshot", browser_id=browser_id)
        element = page["text"].split("[id=")[1].split("]")[0]
        receipt = await agent.do("click", browser_id=browser_id, element_id=element)
        assert receipt["outcome"] == "completed"
        info = await agent.tool("observe_browser", do={"action": "info", "browser_id": browser_id})
        assert (info["state"], info["owner"]) == ("open", OWNER)
        look = await agent.tool("observe_computer", browser_id=browser_id)
        done = await agent.tool(
            "control_computer",
            browser_id=browser_id,
            generation=look["generation"],
            do={"action": "move", "x": 1, "y": 2},
        )
        assert done["outcome"] == "completed"
        assert (await agent.do("close_browser", browser_id=browser_id))["closed"]
    assert stage.desktop.done("click")[-1] == "Go"


async def test_an_agent_saves_a_login_and_opens_another_browser_with_it(stage: Stage) -> None:
    """B6: only numbers come back, and a login that does not stand is refused."""
    stage.meets(ScriptedPerson("done"))
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
        asked = {
            "browser_id": browser_id,
            "state_id": "portal",
            "sites": ["portal.example"],
            "probe": {"kind": "probe", "url": INVOICES_URL},
        }
        assert not (await agent.do("save_state", **asked))["probe_met"]
        stale = {"action": "open", "url": INVOICES_URL, "state": "portal"}
        assert (await agent.refused("control_browser", do=stale))["code"] == "state_stale"
        begun = await agent.do("begin_user_handoff", browser_id=browser_id, instructions="Sign in")
        await agent.tool("wait", handoff_id=begun["handoff_id"], timeout_seconds=20)
        await agent.do("snapshot", browser_id=browser_id)
        saved = await agent.do("save_state", effect_id="save", **asked)
        assert (saved["probe_met"], saved["cookies"]) == (True, 1)
        assert await agent.do("save_state", effect_id="save", **asked) == saved
        other = (await agent.do("open", url=INVOICES_URL, state="portal"))["browser_id"]
        assert "Export" in (await agent.do("snapshot", browser_id=other))["text"]
        unknown = {"action": "open", "url": INVOICES_URL, "state": "never"}
        assert (await agent.refused("control_browser", do=unknown))["code"] == "unknown_state"
        for each in (browser_id, other):
            await agent.do("close_browser", browser_id=each)


async def test_an_effect_asked_for_again_under_its_id_is_done_once(stage: Stage) -> None:
    """A17, K12, K24."""
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
        page = await agent.do("snapshot", browser_id=browser_id)
        element = page["text"].split("[id=")[1].split("]")[0]
        before = len(stage.desktop.effects)
        asked = {"browser_id": browser_id, "element_id": element, "effect_id": "mine"}
        first, second = await asyncio.gather(agent.do("click", **asked), agent.do("click", **asked))
        third = await agent.do("click", **asked)
        await agent.do("close_browser", browser_id=browser_id)
    assert first == second == third
    assert first["effect_id"] == "mine"
    assert len(stage.desktop.effects) == before + 1


async def test_a_browser_asked_for_again_under_its_id_is_the_same_or_refused(stage: Stage) -> None:
    """A17, K24."""
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        first, again = [await agent.do("open", url=OPEN.url, effect_id="mine") for _ in range(2)]
        assert first["browser_id"] == again["browser_id"]
        other = {"action": "open", "url": LOGIN.url, "effect_id": "mine"}
        refused = await agent.refused("control_browser", do=other)
        await agent.do("close_browser", browser_id=first["browser_id"])
    assert refused["code"] == "id_reused"
    assert LOGIN.url not in str(refused)


async def test_the_effect_id_of_one_session_means_nothing_in_another(stage: Stage) -> None:
    receipts = []
    for _ in range(2):
        async with stage.agent(await stage.grant(await stage.session())) as agent:
            browser_id = (await agent.do("open", url=OPEN.url, effect_id="the-same"))["browser_id"]
            receipts.append(browser_id)
            await agent.do("navigate", browser_id=browser_id, url=INVOICES_URL, effect_id="also-the-same")
            info = await agent.do("info", browser_id=browser_id)
            assert info["pages"][0]["url"] != OPEN.url
            await agent.do("close_browser", browser_id=browser_id)
    assert receipts[0] != receipts[1]


async def test_a_browser_of_another_session_is_refused(stage: Stage) -> None:
    """A5: by the grant of another session, and by the key of another principal."""
    theirs = await stage.session()
    async with stage.agent(await stage.grant(theirs)) as agent:
        browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
        for secret in (await stage.grant(await stage.session()), await stage.key("somebody else")):
            async with stage.agent(secret) as other:
                with pytest.raises(MCPError) as refused:
                    await other.do("snapshot", browser_id=browser_id)
            assert (refused.value.error.code, refused.value.error.data["code"]) == (-32003, "not_owner")
        await agent.do("close_browser", browser_id=browser_id)
    assert "not_owner" not in [entry.outcome for entry in await stage.access.read_audit(theirs)]


async def test_arguments_that_do_not_fit_are_a_typed_error_without_their_values(stage: Stage) -> None:
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        canary = "hunter2-canary"
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("control_browser", {"do": {"action": "fill", "text": canary}}),
            ("control_browser", {"do": {"action": canary}}),
            ("control_browser", {"do": {"action": "open", "url": canary, "more": canary}}),
            ("wait", {}),
            ("wait", {"person_request": "yes please", "timeout_seconds": -1}),
            ("post_message", {"text": ""}),
            ("control_computer", {"browser_id": "b", "generation": "g", "do": {"action": "type", "text": ["x"]}}),
        ]
        for name, arguments in wrong:
            error = await agent.refused(name, **arguments)
            assert error["code"] == "invalid_request"
            assert canary not in str(error)
        with pytest.raises(MCPError) as unknown:
            await agent.client.call_tool("no_such_tool", {})
    assert unknown.value.error.data["code"] == "invalid_request"


async def test_while_held_every_effect_is_refused_with_the_same_code_and_looking_works(stage: Stage) -> None:
    """K01, A9, A10: by MCP as by every other door."""
    stage.meets(ScriptedPerson("done", waits_for=asyncio.Event()))
    before = len(stage.desktop.effects)
    async with stage.agent(await stage.grant(await stage.session())) as agent:
        browser_id = (await agent.do("open", url=INVOICES_URL))["browser_id"]
        page = await agent.do("snapshot", browser_id=browser_id)
        begun = await agent.do(
            "begin_user_handoff", browser_id=browser_id, instructions="Sign in", boundary=page["boundary"]
        )
        element = page["text"].split("[id=")[1].split("]")[0]
        of = {"browser_id": browser_id}
        for action in (
            {"action": "click", **of, "element_id": element},
            {"action": "fill", **of, "element_id": element, "text": "x"},
            {"action": "press", **of, "key": "Enter"},
            {"action": "select", **of, "element_id": element, "labels": ["x"]},
            {"action": "navigate", **of, "url": OPEN.url},
            {"action": "back", **of},
            {"action": "download", **of, "element_id": element},
            {"action": "close_page", **of},
        ):
            error = await agent.refused("control_browser", do=action)
            assert error["code"] == "browser_held", action
        look = await agent.tool("observe_computer", browser_id=browser_id)
        error = await agent.refused(
            "control_computer", browser_id=browser_id, generation=look["generation"], do={"action": "get_clipboard"}
        )
        assert error["code"] == "desktop_held"
        assert (await agent.do("snapshot", **of))["boundary"]
        assert (await agent.do("info", **of))["state"] == "held"
        summary = await agent.do("handoff_summary", handoff_id=begun["handoff_id"])
        assert summary["state"] == "held"
        wrong = await agent.refused(
            "control_browser",
            do={"action": "finish_user_handoff", "handoff_id": begun["handoff_id"], "handoff_fence": "wrong"},
        )
        assert wrong["code"] == "fence_mismatch"
        finished = await agent.do(
            "finish_user_handoff", handoff_id=begun["handoff_id"], handoff_fence=begun["handoff_fence"]
        )
        assert finished["state"] == "recovering"
        assert len(await agent.refused("control_browser", do={"action": "back", **of})) == 5
        await agent.do("snapshot", **of)
        assert (await agent.do("navigate", **of, url=OPEN.url))["outcome"] == "completed"
        await agent.do("close_browser", **of)
    assert len(stage.desktop.effects) == before + 1


async def test_the_pages_input_is_locked_by_who_was_granted_that(stage: Stage) -> None:
    """C7: a capability of its own, in no default."""
    plain, granted = await stage.session(), new_id("s")
    await stage.handoffs.open_session(granted, OWNER, (*SCOPES_OF_A_HANDOFF, Scope.UI_LOCK))
    for session_id, may in ((plain, False), (granted, True)):
        async with stage.agent(await stage.grant(session_id)) as agent:
            browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
            if may:
                locked = await agent.do("lock_ui", browser_id=browser_id, seconds=20)
                assert (locked["browser_id"], locked["seconds"]) == (browser_id, 20)
            else:
                with pytest.raises(MCPError) as refused:
                    await agent.do("lock_ui", browser_id=browser_id)
                assert refused.value.error.data["code"] == "missing_scope"
            await agent.do("close_browser", browser_id=browser_id)


async def test_every_call_is_in_the_audit_without_its_values(stage: Stage) -> None:
    """C8."""
    session_id = await stage.session()
    async with stage.agent(await stage.grant(session_id)) as agent:
        browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
        page = await agent.do("snapshot", browser_id=browser_id)
        element = page["text"].split("[id=")[2].split("]")[0]
        await agent.do("fill", browser_id=browser_id, element_id=element, text="audit-canary")
        await agent.refused("control_browser", do={"action": "click", "browser_id": browser_id, "element_id": "dead"})
        await agent.do("close_browser", browser_id=browser_id)
    entries = await until(lambda: stage.access.read_audit(session_id), 30, wanted=lambda entries: len(entries) >= 6)
    told = [(e.action, e.outcome) for e in entries if e.tool == "control_browser"]
    assert told == [
        ("open", "completed"),
        ("snapshot", "completed"),
        ("fill", "completed"),
        ("click", str(ErrorCode.STALE_ELEMENT)),
        ("close_browser", "completed"),
    ]
    assert "audit-canary" not in str(entries)
