"""The life of a handoff that a person answers, on a real server."""

import asyncio
from typing import Any

import pytest
from temporalio.client import RPCError, WorkflowUpdateFailedError
from temporalio.exceptions import WorkflowAlreadyStartedError

from tests.waiting import until
from tests.workflows.handoffs import OWNER, Handoffs
from user_handoff.contract.errors import ErrorCode, HandoffError, Refused, Stale
from user_handoff.contract.handoff import Answer, FinishRequest, HandoffState, Result
from user_handoff.contract.names import Activities, Workflows


async def test_a_reply_ends_in_a_verified_outcome_after_recovery(handoffs: Handoffs) -> None:
    """A6, A12, A20, B4: finish, a fresh look, then the condition."""
    handoff, receipt = await handoffs.begin()
    assert receipt.handoff_fence and receipt.surface.window_id and receipt.expires_in_seconds <= 600
    assert (await handoff.reply()).accepted
    await handoff.until(HandoffState.RECOVERING)
    assert Activities.CHECK not in handoffs.desktop.calls
    handoffs.desktop.look(handoff.id)
    outcome = await handoff.outcome()
    assert outcome.result is Result.VERIFIED and outcome.require_verified() is outcome


async def test_a_done_whose_condition_is_not_observed_is_not_verified(handoffs: Handoffs) -> None:
    """K20, A20: the person's word proves nothing."""
    handoffs.desktop.met = False
    handoff, _ = await handoffs.begin()
    outcome = await handoffs.finished(handoff)
    assert outcome.result is Result.NOT_VERIFIED and outcome.observation and not outcome.observation.met


async def test_a_done_without_a_condition_is_not_verified(handoffs: Handoffs) -> None:
    """B4."""
    handoff, _ = await handoffs.begin(verify=None)
    outcome = await handoffs.finished(handoff)
    assert outcome.result is Result.NOT_VERIFIED and outcome.observation is None


@pytest.mark.parametrize(("answer", "result"), [("declined", Result.DECLINED), ("could_not", Result.FAILED)])
async def test_a_no_is_never_verified_even_where_the_condition_holds(
    handoffs: Handoffs, answer: str, result: Result
) -> None:
    """K21, B4: distinct outcomes, and the browser is still taken back by a fresh look."""
    handoff, _ = await handoffs.begin()
    outcome = await handoffs.finished(handoff, answer, note="no phone here")
    assert outcome.result is result and outcome.note == "no phone here"
    assert Activities.CHECK not in handoffs.desktop.calls
    assert handoff.id in handoffs.desktop.finished


async def test_a_condition_that_cannot_be_looked_for_is_not_verified(handoffs: Handoffs) -> None:
    handoffs.desktop.refuse[Activities.CHECK] = ErrorCode.BROWSER_GONE
    handoff, _ = await handoffs.begin()
    assert (await handoffs.finished(handoff)).result is Result.NOT_VERIFIED


# --- begin ---


async def test_a_duplicate_begin_returns_the_running_hold(handoffs: Handoffs) -> None:
    """A7: under another id and with other arguments it neither renews the hold nor starts another."""
    handoff, first = await handoffs.begin()
    assert handoff.request
    changed = handoff.request.model_copy(update={"timeout_seconds": 100.0, "instructions": "Something else"})
    for request in (handoff.request, changed):
        _, again = await handoffs.begin(request)
        assert again == first
    assert handoffs.desktop.calls.count(Activities.BEGIN) == 1
    await handoff.close()


async def test_a_begin_by_somebody_else_is_refused(handoffs: Handoffs) -> None:
    """A4: also where the handoff runs already."""
    handoff, _ = await handoffs.begin()
    assert handoff.request
    with pytest.raises(Refused) as refused:
        await handoffs.begin(handoff.request.model_copy(update={"owner": "agent:other"}))
    assert refused.value.code is ErrorCode.NOT_OWNER
    await handoff.close()


async def test_an_association_can_never_begin_again(handoffs: Handoffs) -> None:
    """A18, A19: the message outlives its handoff, and makes no other."""
    handoff, _ = await handoffs.begin()
    await handoffs.finished(handoff)
    with pytest.raises(WorkflowAlreadyStartedError):
        await handoffs.begin(handoff.request)


async def test_a_lost_begin_receipt_is_asked_again_and_makes_no_second_hold(handoffs: Handoffs) -> None:
    """A17."""
    handoffs.desktop.crash_once.add(Activities.BEGIN)
    handoff, receipt = await handoffs.begin()
    assert handoffs.desktop.calls.count(Activities.BEGIN) == 2
    assert handoffs.desktop.holds == {handoff.id: receipt}
    await handoff.close()


async def test_a_second_handoff_of_a_browser_is_refused_and_the_first_untouched(handoffs: Handoffs) -> None:
    """K13."""
    first, _ = await handoffs.begin()
    handoffs.desktop.refuse[Activities.BEGIN] = ErrorCode.HANDOFF_ACTIVE
    assert first.request
    with pytest.raises(Refused) as refused:
        await handoffs.begin(browser_id=first.request.browser_id)
    assert refused.value.code is ErrorCode.HANDOFF_ACTIVE
    assert (await first.summary()).state is HandoffState.HELD
    await first.close()


async def test_a_refused_begin_leaves_a_typed_outcome_and_asks_the_desktop_for_nothing_else(
    handoffs: Handoffs,
) -> None:
    handoffs.desktop.refuse[Activities.BEGIN] = ErrorCode.SURFACE_AMBIGUOUS
    request = await handoffs.request()
    with pytest.raises(Refused) as refused:
        await handoffs.begin(request)
    assert refused.value.code is ErrorCode.SURFACE_AMBIGUOUS
    outcome = await handoffs.of(request).outcome()
    assert outcome.result is Result.REFUSED and outcome.code is ErrorCode.SURFACE_AMBIGUOUS
    assert handoffs.desktop.calls == [Activities.BEGIN]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"session_id": "nobody"}, ErrorCode.SESSION_NOT_FOUND),
        ({"message_id": "nothing"}, ErrorCode.MESSAGE_NOT_OPEN),
        ({"owner": "agent:other"}, ErrorCode.NOT_OWNER),
    ],
)
async def test_a_begin_without_authority_never_reaches_the_desktop(
    handoffs: Handoffs, change: dict[str, Any], code: ErrorCode
) -> None:
    """A4, A5: the session's authority alone refuses."""
    with pytest.raises(HandoffError) as refused:
        await handoffs.begin(**change)
    assert refused.value.code is code
    assert handoffs.desktop.calls == []


# --- reply ---


async def test_a_reply_that_comes_before_the_hold_is_kept_and_applied_after(handoffs: Handoffs) -> None:
    """K22."""
    gate = handoffs.desktop.gate(Activities.BEGIN)
    handoff = await handoffs.start()
    await handoff.handle.signal(Workflows.REPLY, {"answer": "done", "by": "early bird"})
    assert (await handoff.summary()).state is HandoffState.REQUESTED
    gate.set()
    summary = await handoff.until(HandoffState.RECOVERING)
    assert summary.answered_by == "early bird"
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified


async def test_the_first_of_several_answers_stands(handoffs: Handoffs) -> None:
    """K23: a different one gets the receipt of the first; the same one, its own again."""
    handoff, receipt = await handoffs.begin(finish_on_reply=False)
    assert (await handoff.reply("done")).accepted
    other = await handoff.reply("declined")
    assert not other.accepted and other.answer is Answer.DONE
    assert (await handoff.reply("done")).accepted
    await handoff.finish(receipt.handoff_fence)
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).result is Result.VERIFIED


async def test_the_same_update_id_gets_the_same_receipt_with_other_arguments_and_after_the_end(
    handoffs: Handoffs,
) -> None:
    """K24, A17."""
    handoff, _ = await handoffs.begin(id="begin")
    first = await handoff.update(Workflows.REPLY, {"answer": "done"}, id="r1")
    assert await handoff.update(Workflows.REPLY, {"answer": "declined"}, id="r1") == first
    await handoff.until(HandoffState.RECOVERING)
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified
    assert await handoff.update(Workflows.REPLY, {"answer": "could_not"}, id="r1") == first
    with pytest.raises(RPCError):
        await handoff.update(Workflows.REPLY, {"answer": "could_not"}, id="r2")


async def test_signals_do_what_updates_do(handoffs: Handoffs) -> None:
    handoff, receipt = await handoffs.begin(finish_on_reply=False)
    await handoff.handle.signal(Workflows.BEGIN)
    await handoff.handle.signal(Workflows.REPLY, {"answer": "done", "by": "someone at the UI"})
    await handoff.handle.signal(Workflows.FINISH, FinishRequest(handoff_fence="wrong"))
    assert (await handoff.summary()).state is HandoffState.HELD
    await handoff.handle.signal(Workflows.FINISH, FinishRequest(handoff_fence=receipt.handoff_fence))
    await handoff.until(HandoffState.RECOVERING)
    await handoff.handle.signal(Workflows.CLOSE)
    assert (await handoff.outcome()).result is Result.CLOSED


async def test_a_malformed_signal_hurts_nobody(handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    await handoff.handle.signal(Workflows.REPLY, "yes")
    await handoff.handle.signal(Workflows.REVOKE, "because")
    await handoff.handle.signal(Workflows.ADD_LINK, {"sha256": "short"})
    assert (await handoff.summary()).state is HandoffState.HELD
    assert (await handoffs.finished(handoff)).verified


# --- finish ---


async def test_finish_needs_the_exact_fence_and_a_wrong_one_leaves_no_trace(handoffs: Handoffs) -> None:
    """A12, K09, K25: neither a guess nor the fence of another handoff."""
    handoff, receipt = await handoffs.begin()
    other, theirs = await handoffs.begin()
    before = len([e async for e in handoff.handle.fetch_history_events()])
    for fence in ("", receipt.handoff_fence[:-1], theirs.handoff_fence):
        with pytest.raises(Stale) as refused:
            await handoff.finish(fence)
        assert refused.value.code is ErrorCode.FENCE_MISMATCH
    names = [e.WhichOneof("attributes") async for e in handoff.handle.fetch_history_events()][before:]
    assert not [n for n in names if n and "update" in n]
    assert (await other.summary()).state is HandoffState.HELD
    await handoff.close()
    await other.close()


async def test_a_finish_before_the_hold_is_refused(handoffs: Handoffs) -> None:
    gate = handoffs.desktop.gate(Activities.BEGIN)
    handoff = await handoffs.start()
    with pytest.raises(Refused) as refused:
        await handoff.finish("f")
    assert refused.value.code is ErrorCode.NOT_HELD
    gate.set()
    await handoff.close()


async def test_a_reply_alone_takes_nothing_back_where_the_caller_finishes(handoffs: Handoffs) -> None:
    """A16, A20."""
    handoff, receipt = await handoffs.begin(finish_on_reply=False)
    await handoff.reply()
    assert (await handoff.summary()).state is HandoffState.HELD
    assert Activities.FINISH not in handoffs.desktop.calls
    finished = await handoff.finish(receipt.handoff_fence)
    assert finished.state is HandoffState.RECOVERING and [p.needs_snapshot for p in finished.pages] == [True, True]
    assert await handoff.finish(receipt.handoff_fence) == finished
    assert handoffs.desktop.calls.count(Activities.FINISH) == 1
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified


async def test_a_lost_finish_receipt_is_asked_again(handoffs: Handoffs) -> None:
    """A17, F3."""
    handoffs.desktop.crash_once |= {Activities.FINISH, Activities.GUARD}
    handoff, receipt = await handoffs.begin()
    assert (await handoff.finish(receipt.handoff_fence)).pages
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified


async def test_a_finish_that_the_desktop_refuses_leaves_the_browser_held(handoffs: Handoffs) -> None:
    """F3: nothing is unpaused by a failure."""
    handoffs.desktop.refuse[Activities.FINISH] = ErrorCode.RESERVATION_CLOSED
    handoff, receipt = await handoffs.begin()
    with pytest.raises(HandoffError) as refused:
        await handoff.finish(receipt.handoff_fence)
    assert refused.value.code is ErrorCode.RESERVATION_CLOSED
    assert (await handoff.summary()).state is HandoffState.HELD
    del handoffs.desktop.refuse[Activities.FINISH]
    await handoff.finish(receipt.handoff_fence)
    handoffs.desktop.look(handoff.id)
    assert (await handoff.outcome()).verified


async def test_the_end_of_a_handoff_resolves_no_message(handoffs: Handoffs) -> None:
    """A20."""
    handoff, _ = await handoffs.begin()
    await handoffs.finished(handoff)
    view = await handoffs.view()
    assert view.owner == OWNER and [m.state for m in view.messages] == ["open"]


async def test_nobody_is_told_twice_that_a_recovery_began(handoffs: Handoffs) -> None:
    """A12: the guard's word that the agent looked again ends the recovery, also before the finish receipt came."""
    gate = handoffs.desktop.gate(Activities.FINISH)
    handoff, _ = await handoffs.begin()
    await handoff.reply()
    await until(lambda: Activities.FINISH in handoffs.desktop.calls)
    handoffs.desktop.look(handoff.id)
    assert (await handoff.summary()).state is HandoffState.FINISHING
    gate.set()
    assert (await handoff.outcome()).verified


@pytest.mark.parametrize("name", [Workflows.BEGIN, Workflows.REPLY, Workflows.FINISH, Workflows.ADD_LINK])
@pytest.mark.parametrize("count", [0, 2])
async def test_messages_with_the_wrong_input_are_refused_and_wedge_nothing(
    handoffs: Handoffs, name: str, count: int
) -> None:
    """F3: what a person types into the Temporal UI is not always what is asked for."""
    handoff, _ = await handoffs.begin()
    args = [{"unexpected": True}] * count
    await handoff.handle.signal(name, args=args)
    if (name, count) != (Workflows.BEGIN, 0):  # which is right
        with pytest.raises(WorkflowUpdateFailedError):
            async with asyncio.timeout(5):
                await handoff.handle.execute_update(name, args=args)
    assert (await handoff.summary()).state is HandoffState.HELD
    await handoff.close()
