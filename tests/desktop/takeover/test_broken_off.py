"""A takeover whose start or end is broken off in the middle."""

import asyncio
from typing import Any

import pytest

from tests.desktop.support import Agent, code_of
from tests.desktop.takeover.support import Taker
from tests.waiting import until
from user_handoff.contract.browser import BrowserRequest
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.takeover import TakeoverEnd, TakeoverState
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.handoff.records import Phase


class Slow:
    """Something that waits at its end, or fails, as often as it is told to."""

    def __init__(self, work: Any, failures: int = 0) -> None:
        self.work, self.failures = work, failures
        self.done, self.go_on = asyncio.Event(), asyncio.Event()

    async def wait(self, *args: Any) -> Any:
        answer = await self.work(*args)
        self.done.set()
        await self.go_on.wait()
        return answer

    async def fail(self, *args: Any) -> Any:
        if self.failures:
            self.failures -= 1
            raise make_error(ErrorCode.RESERVATION_CLOSED, "It cannot be kept.", holds="Nothing.", do_next="Nothing.")
        return await self.work(*args)


class Noted:
    """Notes that a test counts."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def note(self, event: str, **facts: object) -> None:
        self.events.append(event)


def browser_of(taker: Taker) -> ManagedBrowser:
    return taker.agent.desktop.browsers.get(taker.agent.browser_id)


async def close(taker: Taker) -> None:
    await taker.agent.desktop.close_browser(BrowserRequest(browser_id=taker.agent.browser_id))


async def test_an_end_that_fails_in_the_middle_is_gone_on_with(taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    """E5, F3: the agent does not wait for ever, and what happened is noted once."""
    monkeypatch.setattr(taker.takeovers.witness, "notes", noted := Noted())
    await taker.take()
    control = browser_of(taker).control
    monkeypatch.setattr(control, "recover", Slow(control.recover, failures=3).fail)
    assert await code_of(taker.give_back("done")) is ErrorCode.RESERVATION_CLOSED
    record = await taker.until(Phase.RECOVERING)
    assert record.taken is not None and (record.taken.how, record.taken.note) == (TakeoverEnd.RETURNED, "done")
    await until(lambda: not taker.lease_remains())
    assert noted.events == ["takeover_start", "takeover_return"]


async def test_what_a_new_runner_cannot_end_at_once_it_ends_later(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E4, F3."""
    await taker.take()
    control = browser_of(taker).control
    monkeypatch.setattr(control, "recover", (recover := Slow(control.recover, failures=1)).fail)
    await taker.takeovers.aclose()
    assert await code_of(taker.give_back()) is ErrorCode.RESERVATION_CLOSED
    recover.failures = 2
    await taker.takeovers.adopt(taker.agent.desktop.browsers.get)
    await taker.until(Phase.RECOVERING)


async def test_a_browser_that_is_closed_while_it_goes_back_has_ended(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A15, F3: whoever gives it back is told that, and the end stays one."""
    taker = Taker(await Agent.open(desktop))
    await taker.take()
    control = browser_of(taker).control
    monkeypatch.setattr(control, "recover", (slow := Slow(control.recover)).wait)
    going_back = asyncio.create_task(taker.give_back())
    await slow.done.wait()
    await close(taker)
    slow.go_on.set()
    now = await going_back
    assert (now.state, now.how) == (TakeoverState.ENDED, TakeoverEnd.CLOSED)
    assert taker.record().phase is Phase.CLOSED
    assert not taker.lease_remains()


async def test_a_browser_that_is_closed_while_it_is_taken_is_nobodys(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A15, E1: nobody is told that they have it, and the desktop is free."""
    taker = Taker(await Agent.open(desktop))
    monkeypatch.setattr(browser := browser_of(taker), "page_infos_with_code", (slow := Slow(browser.page_infos)).wait)
    taking = asyncio.create_task(taker.take())
    await slow.done.wait()
    await close(taker)
    slow.go_on.set()
    assert await code_of(taking) is ErrorCode.BROWSER_GONE
    assert desktop.holds.active(taker.agent.browser_id) is None
    other = Taker(await Agent.open(desktop))
    await other.take()
    await close(other)
