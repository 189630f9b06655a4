"""How a handoff can end, on real parts."""

import pytest
from temporalio.client import WorkflowFailureError

from examples import person
from tests.e2e.stack import Stack
from user_handoff.contract.conditions import Url
from user_handoff.contract.errors import ErrorCode, NotCompleted
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import Answer, HandoffState, Result


async def test_done_on_an_error_page_is_not_verified(stack: Stack) -> None:
    """A20, B4, K20: the page says 200, the person says done, and nobody is signed in."""
    request, receipt = await stack.begin(verify=Url("**/invoices"), verify_seconds=1)
    held = await stack.handoffs.summary(request.handoff_id)
    await person.act("wrong-password", stack.display, receipt.surface.window_id, stack.portal)
    await stack.answer(held)
    await stack.look_again(held.handoff_id)
    outcome = await stack.handoffs.result(request.handoff_id)
    with pytest.raises(NotCompleted) as failed:
        outcome.require_verified()
    assert failed.value.code is ErrorCode.NOT_VERIFIED
    await stack.close(held)


async def test_a_person_who_declines_is_never_read_as_done(stack: Stack) -> None:
    """B4, K21."""
    agent = await stack.start_agent()
    held = await stack.held()
    await stack.answer(held, Answer.DECLINED)
    with pytest.raises(WorkflowFailureError) as failed:
        await agent.result()
    error = from_failure(failed.value.cause)
    assert error is not None
    assert error.code is ErrorCode.DECLINED
    await stack.close(held)


async def test_the_first_answer_stands(stack: Stack) -> None:
    """K23."""
    agent = await stack.start_agent()
    held = await stack.held()
    first = await stack.answer(held, Answer.COULD_NOT)
    second = await stack.answer(held, Answer.DONE)
    assert (first.accepted, second.accepted, second.answer) == (True, False, Answer.COULD_NOT)
    with pytest.raises(WorkflowFailureError):
        await agent.result()
    await stack.close(held)


async def test_close_ends_the_hold_with_its_browser(stack: Stack) -> None:
    """A9, A15, B4."""
    agent = await stack.start_agent()
    held = await stack.held()
    receipt = await stack.handoffs.close(held.handoff_id)
    assert receipt.state is HandoffState.CLOSED
    with pytest.raises(WorkflowFailureError):
        await agent.result()
    assert (await stack.handoffs.summary(held.handoff_id)).result is Result.CLOSED
    assert await stack.refusal_of_an_effect(held) is ErrorCode.BROWSER_GONE
