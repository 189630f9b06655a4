"""Every way in which a hold ends without its fence, as the workflow tells it."""

import asyncio

import psutil

from examples import person
from tests.e2e.stack import Stack
from user_handoff.contract.handoff import HandoffState, Result, RevokeReason, Summary


async def ended(stack: Stack, handoff_id: str, seconds: float = 40) -> Summary:
    """The summary once the handoff has ended."""
    await asyncio.wait_for(stack.handoffs.result(handoff_id), seconds)
    summary = await stack.handoffs.summary(handoff_id)
    assert summary.state.ended
    return summary


async def test_a_killed_browser_revokes_the_hold(stack: Stack) -> None:
    """A15, K32."""
    request, receipt = await stack.begin()
    psutil.Process(receipt.surface.pid).kill()
    summary = await ended(stack, request.handoff_id)
    assert (summary.result, summary.reason) == (Result.REVOKED, RevokeReason.BROWSER_CRASHED)


async def test_a_killed_browser_host_revokes_the_hold_and_takes_the_browser_with_it(stack: Stack) -> None:
    """A15."""
    request, receipt = await stack.begin()
    browser = psutil.Process(receipt.surface.pid)
    host = browser.parent()
    assert host is not None
    host.kill()
    summary = await ended(stack, request.handoff_id)
    assert summary.reason is RevokeReason.BROWSER_CRASHED
    await asyncio.to_thread(browser.wait, 5)


async def test_a_window_that_the_person_closes_revokes_the_hold(stack: Stack) -> None:
    """A15, K33: no blank browser opens in its place."""
    request, receipt = await stack.begin()
    keys = ["Control_L+Shift_L+w"]
    await person.act("keys", stack.display, receipt.surface.window_id, stack.portal, keys=keys)
    summary = await ended(stack, request.handoff_id)
    assert (summary.result, summary.reason) == (Result.REVOKED, RevokeReason.WINDOW_CLOSED)


async def test_the_end_of_the_lifetime_revokes_the_hold(stack: Stack) -> None:
    """A8, A15."""
    request, receipt = await stack.begin(browser={"lifetime_seconds": 6})
    assert receipt.expires_in_seconds < 6
    summary = await ended(stack, request.handoff_id)
    assert summary.state is HandoffState.REVOKED
    assert summary.reason is RevokeReason.LIFETIME


async def test_an_expired_hold_is_closed_for_idleness_while_temporal_is_down(stack: Stack) -> None:
    """A14, A15, K06: the desktop's own clock does it, and the workflow learns of it later."""
    request, receipt = await stack.begin(browser={"idle_seconds": 3}, timeout_seconds=4)
    browser = psutil.Process(receipt.surface.pid)
    await stack.engine.kill()
    await asyncio.to_thread(browser.wait, 20)
    await stack.engine.start()
    summary = await ended(stack, request.handoff_id)
    assert (summary.result, summary.reason) == (Result.EXPIRED, RevokeReason.IDLE)


async def test_a_desktop_that_never_comes_back_is_said_to_be_lost(stack: Stack) -> None:
    """B4."""
    request, _ = await stack.begin(lost_after_seconds=2)
    await stack.kill(stack.runner)
    summary = await ended(stack, request.handoff_id)
    await stack.runner.start()
    assert (summary.result, summary.reason) == (Result.RUNNER_LOST, RevokeReason.RUNNER_LOST)
    assert (await stack.browser(summary)).state == "held", "a hold whose workflow is gone stays paused"
    await stack.close(summary)


async def test_a_clean_shutdown_revokes_the_hold(stack: Stack) -> None:
    """A15."""
    request, _ = await stack.begin()
    await stack.runner.stop()
    summary = await ended(stack, request.handoff_id)
    await stack.runner.start()
    assert (summary.result, summary.reason) == (Result.REVOKED, RevokeReason.SHUTDOWN)


async def test_another_desktop_of_the_same_machine_replaces_the_old_one(stack: Stack) -> None:
    """A15: a new desktop id for the client id revokes what the old one held."""
    request, receipt = await stack.begin()
    await stack.kill(stack.runner)
    psutil.Process(stack.keeper.pid).kill()
    await stack.runner.start()
    assert stack.runner.facts()["desktop_id"] != request.desktop_id
    summary = await ended(stack, request.handoff_id)
    assert (summary.result, summary.reason) == (Result.REVOKED, RevokeReason.RUNNER_REPLACED)
    assert not psutil.pid_exists(receipt.surface.pid)


async def test_a_runner_whose_display_ended_ends_too_and_the_next_is_a_new_desktop(stack: Stack) -> None:
    """A15: what supervises it starts it again."""
    request, _ = await stack.begin()
    psutil.Process(stack.keeper.pid).kill()
    summary = await ended(stack, request.handoff_id)
    assert (summary.result, summary.reason) == (Result.REVOKED, RevokeReason.BROWSER_CRASHED)
    assert await asyncio.wait_for(stack.runner.wait(), 30) != 0
    await stack.runner.start()
    assert stack.runner.facts()["desktop_id"] != request.desktop_id
