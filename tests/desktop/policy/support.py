"""What the tests of the stop list share."""

from typing import Any

import pytest

from tests.desktop.support import Agent
from user_handoff.contract import browser as b
from user_handoff.contract.boundary import Boundary, boundary_of
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import new_id

TOUCHES = "onclick=\"fetch('/touched',{method:'POST',keepalive:true})\""


async def refused(effect: Any) -> Boundary:
    """The boundary that an effect is refused at."""
    with pytest.raises(HandoffError) as error:
        await effect
    assert error.value.code is ErrorCode.BOUNDARY_REACHED, str(error.value)
    boundary = boundary_of(error.value)
    assert boundary is not None
    assert error.value.details["rule_id"] == boundary.rule_id
    assert "handoff" in error.value.do_next
    return boundary


async def shown(agent: Agent, url: str) -> b.Snapshot:
    """Go to a page and look at it."""
    await agent.go(url)
    return await agent.look()


async def press(agent: Agent, key: str, element_id: str | None = None) -> b.EffectReceipt:
    return await agent.desktop.act(
        b.Press(browser_id=agent.browser_id, effect_id=new_id("e"), key=key, element_id=element_id)
    )


def refused_by(look: b.Snapshot) -> list[str]:
    """The rules by which elements of a snapshot are refused."""
    return [each.rule_id for each in look.refused]
