"""Closing a browser that a person has taken over, on a real desktop."""

from tests.desktop.takeover.support import Taker
from tests.desktop.test_closing import refusal


async def test_it_is_not_closed_under_whoever_has_taken_it_over(taker: Taker) -> None:
    """E1: they keep it."""
    await taker.take()
    error = await refusal(taker.agent)
    assert (error.details["kind"], error.details["handoff_id"]) == ("takeover", taker.takeover_id)
    assert "`handoff takeover status`" in error.do_next
    assert (await taker.agent.info()).state == "held"
    await taker.give_back()
