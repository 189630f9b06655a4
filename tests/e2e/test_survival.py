"""Each process is killed in the middle of a handoff, and the handoff goes on to its end on the same browser."""

from tests.e2e.stack import Stack, secrets_left
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import HandoffState, Result


async def test_the_whole_job_is_done_without_a_kill(stack: Stack) -> None:
    """B3, B4, B7: the same browser, a verified outcome, and no secret anywhere."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    await stack.sign_in(held)
    receipt = await stack.answer(held)
    assert receipt.accepted
    assert (await agent.result()).rows == 12
    summary = await stack.handoffs.summary(held.handoff_id)
    assert (summary.state, summary.result) == (HandoffState.COMPLETED, Result.VERIFIED)
    assert (await stack.browser(held)).pid == before.pid
    await stack.close(held)
    assert secrets_left(stack) == []


async def test_a_killed_runner_finds_browser_form_and_hold_again(stack: Stack) -> None:
    """F3, F10, A19: the person's half-typed form is there, effects stay refused, and the same browser is taken back."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    await stack.type_only(held)
    await stack.kill(stack.runner)
    await stack.runner.start()
    again = await stack.browser(held)
    assert (again.pid, again.desktop_id, again.state) == (before.pid, before.desktop_id, "held")
    assert "[value withheld]" in (await stack.look(held)).text
    assert await stack.refusal_of_an_effect(held) is ErrorCode.BROWSER_HELD
    await stack.sign_in(held)
    await stack.answer(held)
    assert (await agent.result()).rows == 12
    assert (await stack.handoffs.summary(held.handoff_id)).result is Result.VERIFIED
    await stack.close(held)


async def test_a_killed_server_worker_and_gateway_lose_nothing(stack: Stack) -> None:
    """F3, F10, A19."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    await stack.kill(stack.server)
    await stack.server.start()
    await stack.sign_in(held)
    await stack.answer(held)
    assert (await agent.result()).rows == 12
    assert (await stack.browser(held)).pid == before.pid
    await stack.close(held)


async def test_a_killed_temporal_comes_back_with_the_same_hold(stack: Stack) -> None:
    """F3, F10, A19: the fence and the deadline are the same, and the gate was closed all the time."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    await stack.engine.kill()
    await stack.sign_in(held)
    await stack.engine.start()
    again = await stack.handoffs.summary(held.handoff_id)
    assert again.receipt == held.receipt
    assert await stack.refusal_of_an_effect(held) is ErrorCode.BROWSER_HELD
    await stack.answer(held)
    assert (await agent.result()).rows == 12
    assert (await stack.browser(held)).pid == before.pid
    await stack.close(held)


async def test_every_process_killed_at_once_loses_nothing(stack: Stack) -> None:
    """F3, F10."""
    agent = await stack.start_agent()
    held = await stack.held()
    before = await stack.browser(held)
    await stack.engine.kill()
    for part in (stack.server, stack.runner):
        await stack.kill(part)
    await stack.engine.start()
    await stack.server.start()
    await stack.runner.start()
    await stack.sign_in(held)
    await stack.answer(held)
    assert (await agent.result()).rows == 12
    assert (await stack.browser(held)).pid == before.pid
    await stack.close(held)
