"""Who may take a browser over by REST."""

import pytest

from tests.gateway.mcp.stage import Stage
from tests.gateway.rest.caller import STARTS, Caller, open_caller
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import Scope

NOBODYS = "/v1/takeovers/takeover/b/t"


async def asked_for(caller: Caller) -> set[tuple[int, str]]:
    """How each operation is refused, of a takeover that nobody began."""
    return {
        await caller.refused("/v1/takeovers", {"browser_id": new_id("b")}),
        await caller.not_told(NOBODYS),
        await caller.refused(f"{NOBODYS}/renew"),
        await caller.refused(f"{NOBODYS}/return"),
    }


async def test_an_agents_key_takes_nothing_over(me: Caller) -> None:
    """B8, C3."""
    assert await asked_for(me) == {(403, "missing_scope")}


async def test_no_grant_takes_anything_over_whatever_its_session_may(stage: Stage, me: Caller) -> None:
    """B8, C3: also of a session that was given an operator's scope."""
    session_id = new_id("s")
    await stage.handoffs.open_session(session_id, me.name, (*STARTS, Scope.HANDOFFS_OPERATE))
    token, _ = await stage.access.issue_grant(session_id, me.name)
    async with open_caller(stage, me.name, bearer=token) as agent:
        assert await asked_for(agent) == {(403, "forbidden")}


async def test_an_operator_is_told_of_what_is_not_there(stage: Stage) -> None:
    """B8."""
    async with open_caller(stage, "operator:ada", [Scope.HANDOFFS_OPERATE]) as ada:
        assert await asked_for(ada) == {(404, "unknown_browser"), (404, "unknown_takeover")}


@pytest.mark.parametrize("wrong", [{}, {"seconds": 601}, {"seconds": 0}, {"cause": "whim"}, {"by": "ada"}])
async def test_what_does_not_fit_is_refused(stage: Stage, wrong: dict[str, object]) -> None:
    """B8: who takes over is what the key says, and nothing that is sent."""
    async with open_caller(stage, "operator:ada", [Scope.HANDOFFS_OPERATE]) as ada:
        body = {"browser_id": "b_1", **wrong} if wrong else {}
        assert await ada.refused("/v1/takeovers", body) == (400, "invalid_request")
