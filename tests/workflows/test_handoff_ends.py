"""How a handoff ends when no person ends it: closed, revoked, lost, cancelled, never begun."""

from datetime import timedelta

import pytest
from temporalio.client import Client

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import HandoffState, Result, Revocation, RevokeReason
from user_handoff.contract.names import Activities, Workflows
from user_handoff.worker.server import server_worker
from user_handoff.workflows import desk

# --- closed ---


async def test_close_ends_the_browser_and_the_hold(handoffs: Handoffs) -> None:
    """A15."""
    handoff, _ = await handoffs.begin()
    assert (await handoff.close()).state is HandoffState.CLOSED
    outcome = await handoff.outcome()
    assert outcome.result is Result.CLOSED and not outcome.verified
    assert (await handoff.summary()).state is HandoffState.CLOSED


@pytest.mark.parametrize("given", [None, {}, {"why": "no time"}])
async def test_a_close_closes_whatever_it_is_given(handoffs: Handoffs, given: object) -> None:
    """The Temporal UI lets people give an input where none is asked for."""
    handoff, _ = await handoffs.begin()
    await handoff.handle.signal(Workflows.CLOSE, given)
    assert (await handoff.outcome()).result is Result.CLOSED
    other, _ = await handoffs.begin()
    await other.handle.execute_update(Workflows.CLOSE, given)
    assert (await other.outcome()).result is Result.CLOSED


async def test_a_close_before_the_hold_is_applied_to_it(handoffs: Handoffs) -> None:
    gate = handoffs.desktop.gate(Activities.BEGIN)
    handoff = await handoffs.start()
    await handoff.handle.signal(Workflows.CLOSE)
    gate.set()
    assert (await handoff.outcome()).result is Result.CLOSED


async def test_a_close_of_a_browser_that_is_gone_counts_as_closed(handoffs: Handoffs) -> None:
    handoffs.desktop.refuse[Activities.CLOSE] = ErrorCode.BROWSER_GONE
    handoff, _ = await handoffs.begin()
    assert (await handoff.close()).state is HandoffState.CLOSED


async def test_a_close_that_failed_is_said_and_can_be_asked_again(handoffs: Handoffs) -> None:
    """F3: the hold stands as long as the browser does."""
    handoffs.desktop.refuse[Activities.CLOSE] = ErrorCode.OUTCOME_UNKNOWN
    handoff, _ = await handoffs.begin()
    with pytest.raises(HandoffError) as failed:
        await handoff.close()
    assert failed.value.code is ErrorCode.OUTCOME_UNKNOWN
    assert (await handoff.summary()).state is HandoffState.HELD
    del handoffs.desktop.refuse[Activities.CLOSE]
    assert (await handoff.close()).state is HandoffState.CLOSED


async def test_a_close_while_recovering_ends_closed(handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    await handoff.reply()
    await handoff.until(HandoffState.RECOVERING)
    assert (await handoff.close()).state is HandoffState.CLOSED
    assert (await handoff.outcome()).result is Result.CLOSED


async def test_a_browser_that_is_closed_on_the_desktop_closes_the_handoff(handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    handoffs.desktop.end(handoff.id, "closed")
    assert (await handoff.outcome()).result is Result.CLOSED


async def test_to_cancel_is_to_close(handoffs: Handoffs) -> None:
    """F3: a hold whose asker is gone is not silently unpaused, and not left behind."""
    handoff, _ = await handoffs.begin()
    await handoff.handle.cancel()
    outcome = await handoff.outcome()
    assert outcome.result is Result.CLOSED
    assert Activities.CLOSE in handoffs.desktop.calls and Activities.FINISH not in handoffs.desktop.calls


# --- revoked ---


@pytest.mark.parametrize("reason", [RevokeReason.IDLE, RevokeReason.BROWSER_CRASHED, RevokeReason.WINDOW_CLOSED])
async def test_a_hold_that_ends_on_the_desktop_is_revoked_with_its_reason(
    handoffs: Handoffs, reason: RevokeReason
) -> None:
    """A15, K32, K33."""
    handoff, _ = await handoffs.begin()
    handoffs.desktop.end(handoff.id, "revoked", reason)
    outcome = await handoff.outcome()
    assert (outcome.result, outcome.reason) == (Result.REVOKED, reason)
    assert (await handoff.summary()).state is HandoffState.REVOKED


async def test_a_guard_that_finds_no_browser_revokes_the_hold(handoffs: Handoffs) -> None:
    handoffs.desktop.refuse[Activities.GUARD] = ErrorCode.BROWSER_GONE
    handoff, _ = await handoffs.begin()
    outcome = await handoff.outcome()
    assert (outcome.result, outcome.reason) == (Result.REVOKED, RevokeReason.BROWSER_CRASHED)


async def test_a_revocation_reaches_only_handoffs_of_the_desktop_that_it_names(handoffs: Handoffs) -> None:
    """A15."""
    handoff, _ = await handoffs.begin()
    other = Revocation(reason=RevokeReason.RUNNER_REPLACED, desktop_id="another")
    await handoff.handle.signal(Workflows.REVOKE, other)
    assert (await handoff.summary()).state is HandoffState.HELD
    own = other.model_copy(update={"desktop_id": handoffs.desktop.desktop_id})
    await handoff.handle.signal(Workflows.REVOKE, own)
    outcome = await handoff.outcome()
    assert (outcome.result, outcome.reason) == (Result.REVOKED, RevokeReason.RUNNER_REPLACED)


async def test_a_revocation_can_be_sent_by_its_reason_alone(handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    await handoff.handle.signal(Workflows.REVOKE, RevokeReason.SHUTDOWN)
    assert (await handoff.outcome()).reason is RevokeReason.SHUTDOWN


# --- a desktop that does not answer ---


async def test_a_desktop_that_falls_silent_is_waited_for_and_then_lost(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B4: `runner_lost` is an outcome of its own."""
    monkeypatch.setattr(desk, "HEARTBEAT", timedelta(seconds=1))
    desktop = FakeDesktop()
    async with server_worker(client):
        handoffs = await Handoffs.open(client, desktop)
        async with desktop.serving(client):
            handoff, _ = await handoffs.begin(lost_after_seconds=1)
            await until(lambda: Activities.GUARD in desktop.calls)
        outcome = await handoff.outcome()
    assert (outcome.result, outcome.reason) == (Result.RUNNER_LOST, RevokeReason.RUNNER_LOST)


async def test_a_desktop_that_comes_back_in_time_goes_on_with_the_same_hold(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F3, F10, A19: a runner's restart makes no hold and loses none."""
    monkeypatch.setattr(desk, "HEARTBEAT", timedelta(seconds=1))
    desktop = FakeDesktop()
    async with server_worker(client):
        handoffs = await Handoffs.open(client, desktop)
        async with desktop.serving(client):
            handoff, receipt = await handoffs.begin()
            await until(lambda: Activities.GUARD in desktop.calls)
        async with desktop.serving(client):
            await until(lambda: desktop.calls.count(Activities.GUARD) == 2)
            assert (await handoff.finish(receipt.handoff_fence)).pages
            desktop.look(handoff.id)
            assert (await handoff.outcome()).verified
    assert desktop.calls.count(Activities.BEGIN) == 1


async def test_a_begin_that_no_desktop_takes_is_refused(client: Client) -> None:
    desktop = FakeDesktop()
    async with server_worker(client):
        handoffs = await Handoffs.open(client, desktop)
        with pytest.raises(HandoffError) as refused:
            await handoffs.begin(lost_after_seconds=0.5)
    assert refused.value.code is ErrorCode.RUNNER_UNAVAILABLE
    assert refused.value.details["never_started"]


async def test_a_hold_whose_begin_was_given_up_is_undone_when_the_desktop_comes_back(client: Client) -> None:
    """A11, A17: a failed begin leaves nothing behind; the fresh look is still needed."""
    desktop = FakeDesktop()
    async with server_worker(client):
        handoffs = await Handoffs.open(client, desktop)
        desktop.crash_once.add(Activities.BEGIN)
        request = await handoffs.request(lost_after_seconds=1)
        handoff = await handoffs.start(request)
        async with desktop.serving(client):
            await until(lambda: Activities.BEGIN in desktop.calls)
        await handoff.until(HandoffState.REFUSED)
        async with desktop.serving(client):
            outcome = await handoff.outcome()
    assert outcome.result is Result.REFUSED and outcome.code is ErrorCode.RUNNER_UNAVAILABLE
    assert handoff.id in desktop.finished
