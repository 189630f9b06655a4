"""The deadline, on a real server whose workflows' clocks are put forward."""

from datetime import timedelta

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.handoffs import Handoff, Handoffs
from user_handoff.contract.errors import ErrorCode, HandoffExpired, Stale
from user_handoff.contract.handoff import HandoffState, Result
from user_handoff.contract.names import Activities


async def _expired(skipping: WorkflowEnvironment, handoff: Handoff) -> None:
    await skipping.fast_forward(handoff.handle, timedelta(minutes=10, seconds=1))
    await handoff.until(HandoffState.EXPIRED)


async def _looked(skipping: WorkflowEnvironment, timed: Handoffs, handoff: Handoff) -> None:
    """Take the fresh look, and put the clock forward to where the guard is asked again."""
    timed.desktop.look(handoff.id)
    await skipping.fast_forward(handoff.handle, timedelta(minutes=6))


async def test_a_hold_expires_after_ten_minutes_and_the_browser_stays_paused(
    skipping: WorkflowEnvironment, timed: Handoffs
) -> None:
    """A8, A14, A16: the deadline takes nothing back."""
    handoff, receipt = await timed.begin()
    await skipping.fast_forward(handoff.handle, timedelta(minutes=9, seconds=50))
    assert (await handoff.summary()).state is HandoffState.HELD
    await skipping.fast_forward(handoff.handle, timedelta(seconds=11))
    summary = await handoff.until(HandoffState.EXPIRED)
    assert summary.result is None and "paused" in summary.message
    assert set(timed.desktop.calls) == {Activities.BEGIN, Activities.GUARD}
    assert receipt.expires_in_seconds == 600
    await handoff.close()


async def test_the_deadline_is_the_desktop_s_own(timed: Handoffs) -> None:
    """A6, A8: whenever its receipt arrived."""
    handoff, receipt = await timed.begin()
    assert (await handoff.summary()).expires_at == receipt.expires_at
    await handoff.close()


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_desktop_whose_clock_is_wrong_changes_no_deadline(timed: Handoffs, hours: int) -> None:
    """A8: never renewed, and never over before it began."""
    timed.desktop.skew = timedelta(hours=hours)
    handoff, _ = await timed.begin()
    summary = await handoff.summary()
    assert summary.state is HandoffState.HELD and summary.expires_at
    assert timedelta(minutes=9) < summary.expires_at - summary.requested_at < timedelta(minutes=11)
    await handoff.close()


async def test_a_duplicate_begin_does_not_renew_the_deadline(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    """A7, A8."""
    handoff, receipt = await timed.begin()
    await skipping.fast_forward(handoff.handle, timedelta(minutes=9))
    _, again = await timed.begin(handoff.request)
    assert again == receipt
    await skipping.fast_forward(handoff.handle, timedelta(minutes=1, seconds=1))
    await handoff.until(HandoffState.EXPIRED)
    await handoff.close()


async def test_an_answer_after_the_deadline_changes_nothing_and_says_expired(
    skipping: WorkflowEnvironment, timed: Handoffs
) -> None:
    """K24, A16."""
    handoff, _ = await timed.begin()
    await _expired(skipping, handoff)
    late = await handoff.reply()
    assert not late.accepted and late.state is HandoffState.EXPIRED
    assert (await handoff.summary()).answer is None
    assert Activities.FINISH not in timed.desktop.calls
    await handoff.close()


async def test_an_exact_finish_and_a_fresh_look_free_an_expired_browser_and_its_outcome_stays_expired(
    skipping: WorkflowEnvironment, timed: Handoffs
) -> None:
    """A12, A14, K21."""
    handoff, receipt = await timed.begin()
    await _expired(skipping, handoff)
    with pytest.raises(Stale):
        await handoff.finish("wrong")
    assert (await handoff.finish(receipt.handoff_fence)).state is HandoffState.RECOVERING
    await _looked(skipping, timed, handoff)
    outcome = await handoff.outcome()
    assert outcome.result is Result.EXPIRED and (await handoff.summary()).state is HandoffState.COMPLETED
    with pytest.raises(HandoffExpired) as expired:
        outcome.require_verified()
    assert expired.value.code is ErrorCode.EXPIRED


async def test_an_expired_handoff_that_is_closed_stays_expired(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    """A14."""
    handoff, _ = await timed.begin()
    await _expired(skipping, handoff)
    assert (await handoff.close()).state is HandoffState.CLOSED
    assert (await handoff.outcome()).result is Result.EXPIRED


async def test_a_recovery_is_not_cut_short_by_the_deadline(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    """The person was in time; how long the agent takes to look again is its own affair."""
    handoff, _ = await timed.begin()
    await handoff.reply()
    await handoff.until(HandoffState.RECOVERING)
    await skipping.fast_forward(handoff.handle, timedelta(minutes=11))
    await _looked(skipping, timed, handoff)
    assert (await handoff.outcome()).verified
