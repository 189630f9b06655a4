"""A hold whose browser ends while it is begun or taken back: what has ended stays so."""

import asyncio
from typing import Any

import pytest

from tests.desktop.support import Agent, code_of
from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.handoff.records import Phase


async def closed_meanwhile(agent: Agent, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, work: Any) -> None:
    """Close the browser right after a step of what is under way."""
    step, done, closed = getattr(where, name), asyncio.Event(), asyncio.Event()

    async def then_wait(*args: Any, **more: Any) -> Any:
        answer = await step(*args, **more)
        done.set()
        await closed.wait()
        return answer

    monkeypatch.setattr(where, name, then_wait)
    working = asyncio.create_task(work)
    await done.wait()
    await agent.close()
    closed.set()
    assert await code_of(working) is ErrorCode.BROWSER_GONE


async def test_what_is_closed_while_it_is_begun_is_not_held(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A11, A15: begin is refused, and nothing is left behind."""
    agent = await Agent.open(desktop)
    browser = desktop.browsers.get(agent.browser_id)
    await closed_meanwhile(agent, monkeypatch, browser, "page_infos_with_code", agent.begin())
    assert desktop.holds.active(agent.browser_id) is None


async def test_what_is_closed_while_it_is_taken_back_stays_closed(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A15, F3."""
    agent = await Agent.open(desktop)
    receipt = await agent.begin()
    control = desktop.browsers.get(agent.browser_id).control
    await closed_meanwhile(agent, monkeypatch, control, "recover", agent.finish(receipt))
    record = desktop.holds.record(receipt.handoff_id)
    assert record is not None and record.phase is Phase.CLOSED
