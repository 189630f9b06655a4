"""Two desktops, two handoffs, two people at once."""

import asyncio
from dataclasses import replace
from pathlib import Path

from examples.portal import Portal
from tests.e2e.stack import Stack, runner_command
from user_handoff.contract.conditions import Url
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import Answer, HandoffState, Reply, Result
from user_handoff.contract.ids import new_id


async def test_two_people_work_at_once_and_each_ends_only_their_own(stack: Stack, tmp_path: Path) -> None:
    """F8, A10, K25: on two desktops; the one who is done first leaves the other's browser held and as it was."""
    runner = runner_command(tmp_path, stack.engine.address)
    await runner.start()
    try:
        async with Portal.start() as portal:
            other = replace(stack, state=tmp_path, runner=runner, portal=portal)
            pair = (stack, other)
            begun = await asyncio.gather(*(each.begin(verify=Url("**/invoices")) for each in pair))
            (first, mine), (second, theirs) = begun
            assert first.desktop_id != second.desktop_id and first.client_id != second.client_id
            waiting = {each.handoff_id for each in await stack.handoffs.waiting()}
            assert {first.handoff_id, second.handoff_id} <= waiting
            held = [await stack.handoffs.summary(request.handoff_id) for request, _ in begun]
            await asyncio.gather(*(each.sign_in(summary) for each, summary in zip(pair, held, strict=True)))
            await answer(stack, first.handoff_id, "robin")
            await stack.look_again(first.handoff_id)
            await stack.handoffs.result(first.handoff_id)
            assert (await other.browser(held[1])).state == "held"
            assert await other.refusal_of_an_effect(held[1]) is ErrorCode.BROWSER_HELD
            await answer(other, second.handoff_id, "kim")
            await other.look_again(second.handoff_id)
            await stack.handoffs.result(second.handoff_id)
            for each, summary, receipt, by in zip(pair, held, (mine, theirs), ("robin", "kim"), strict=True):
                told = await stack.handoffs.summary(summary.handoff_id)
                assert (told.state, told.result) == (HandoffState.COMPLETED, Result.VERIFIED)
                assert told.answered_by == by
                assert (await each.browser(summary)).pid == receipt.surface.pid
                assert each.portal.state()["logins"] >= 1
                await each.close(summary)
    finally:
        await runner.stop()


async def answer(stack: Stack, handoff_id: str, by: str) -> None:
    receipt = await stack.handoffs.reply(handoff_id, Reply(answer=Answer.DONE, by=by), new_id("r"))
    assert receipt.accepted
