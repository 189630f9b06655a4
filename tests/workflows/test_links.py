"""A person's link, on a real server: one tab reserves it, one browser spends it, and a stall gives it back."""

from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.workflows.handoffs import Handoff, Handoffs
from user_handoff.contract.entering import MAX_STEPS, LinkView, OpenedLink, UseLink
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import LinkGrant
from user_handoff.contract.names import Workflows

LINK, OTHER = "aa" * 32, "bb" * 32
SEAT, SEAT_2 = "11" * 32, "22" * 32
TAB, TAB_2 = "cc" * 32, "dd" * 32


async def linked(handoffs: Handoffs, **more: Any) -> Handoff:
    """A held handoff with a link."""
    handoff, _ = await handoffs.begin(**more)
    await handoff.update(Workflows.ADD_LINK, LinkGrant(sha256=LINK))
    return handoff


async def use(handoff: Handoff, step: str, seat: str = SEAT, tab: str = TAB, **more: Any) -> None:
    what = {"step": step, "sha256": LINK, "seat_sha256": seat, "tab_sha256": tab, **more}
    await handoff.update(Workflows.USE_LINK, UseLink.model_validate(what))


async def refused(handoff: Handoff, step: str, *args: str, **more: Any) -> HandoffError:
    with pytest.raises(HandoffError) as error:
        await use(handoff, step, *args, **more)
    return error.value


async def opened(handoff: Handoff, sha256: str = LINK) -> OpenedLink | None:
    found: OpenedLink | None = await handoff.handle.query(Workflows.OPEN_LINK, sha256, result_type=OpenedLink)
    return found


async def view(handoff: Handoff) -> LinkView:
    found = await opened(handoff)
    assert found is not None
    return found.link


async def test_a_link_lets_in_one_browser(handoffs: Handoffs) -> None:
    """C5: attach reserves it, finalize spends it, and both may be told again."""
    handoff = await linked(handoffs)
    for step in ("attach", "attach", "finalize", "finalize"):
        assert not (await view(handoff)).spent or step == "finalize"
        await use(handoff, step)
    link = await view(handoff)
    assert (link.spent, link.seat_sha256, link.tab_sha256) == (True, SEAT, TAB)
    for step in ("attach", "enter", "finalize", "take"):
        assert (await refused(handoff, step, SEAT_2, TAB_2)).code is ErrorCode.LINK_TAKEN
    assert await view(handoff) == link
    await handoff.close()


async def test_a_tab_that_stalls_gives_the_link_back(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    """C5: for half a minute it is that tab's, and no longer."""
    handoff = await linked(timed)
    await use(handoff, "attach")
    soon = await refused(handoff, "attach", SEAT_2, TAB_2)
    assert soon.code is ErrorCode.LINK_TAKEN and 0 < soon.details["again_in_seconds"] <= 30
    await skipping.fast_forward(handoff.handle, timedelta(seconds=31))
    await use(handoff, "attach", SEAT_2, TAB_2)
    assert (await refused(handoff, "finalize")).code is ErrorCode.LINK_TAKEN
    await use(handoff, "finalize", SEAT_2, TAB_2)
    await handoff.close()


async def test_a_tab_that_stalls_and_was_not_followed_goes_on(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    handoff = await linked(timed)
    await use(handoff, "attach")
    await skipping.fast_forward(handoff.handle, timedelta(seconds=40))
    await use(handoff, "finalize")
    await handoff.close()


async def test_a_reload_before_it_is_spent_tries_again(handoffs: Handoffs) -> None:
    """C5, K48: the same tab has a new cookie, and the first one is dead."""
    handoff = await linked(handoffs)
    await use(handoff, "attach")
    await use(handoff, "attach", SEAT_2)
    assert (await refused(handoff, "finalize")).code is ErrorCode.LINK_TAKEN
    await use(handoff, "finalize", SEAT_2)
    await handoff.close()


async def test_a_link_is_entered_in_time_or_not_at_all(skipping: WorkflowEnvironment, timed: Handoffs) -> None:
    """C5: five minutes; who has attached by then may still finalize, and who is in stays."""
    late, in_time = await linked(timed), await linked(timed)
    await skipping.fast_forward(in_time.handle, timedelta(minutes=4, seconds=50))
    await use(in_time, "attach")
    await skipping.fast_forward(in_time.handle, timedelta(seconds=20))
    await use(in_time, "finalize")
    await use(in_time, "take", SEAT, TAB_2)
    await skipping.fast_forward(late.handle, timedelta(minutes=5, seconds=1))
    for step in ("attach", "enter"):
        assert (await refused(late, step)).code is ErrorCode.LINK_EXPIRED
    for handoff in (late, in_time):
        await handoff.close()


async def test_another_tab_of_the_same_browser_takes_the_page_over(handoffs: Handoffs) -> None:
    """C5: one tab at a time."""
    handoff = await linked(handoffs)
    await use(handoff, "enter")
    assert (await refused(handoff, "attach", SEAT, TAB_2)).code is ErrorCode.LINK_TAKEN
    await use(handoff, "take", SEAT, TAB_2)
    assert (await view(handoff)).tab_sha256 == TAB_2
    await handoff.close()


async def test_only_the_same_person_takes_it_over_in_another_browser(handoffs: Handoffs) -> None:
    """K04: a cookie of somebody else is none."""
    handoff = await linked(handoffs)
    await use(handoff, "enter", person="ada@example.org")
    assert (await refused(handoff, "take", SEAT_2, TAB_2)).code is ErrorCode.LINK_TAKEN
    assert (await refused(handoff, "take", SEAT_2, TAB_2, person="eve@example.org")).code is ErrorCode.LINK_TAKEN
    await use(handoff, "take", SEAT_2, TAB_2, person="Ada@example.org")
    assert (await view(handoff)).seat_sha256 == SEAT_2
    await handoff.close()


async def test_a_handoff_for_a_named_person_lets_in_nobody_else(handoffs: Handoffs) -> None:
    """Fail closed: a gateway that cannot tell who somebody is, is refused too."""
    handoff = await linked(handoffs, person="ada@example.org")
    for person in ("", "eve@example.org"):
        assert (await refused(handoff, "enter", person=person)).code is ErrorCode.FORBIDDEN
    await use(handoff, "enter", person="ADA@example.org")
    await handoff.close()


async def test_a_link_that_is_not_known_is_refused_and_tells_nothing(handoffs: Handoffs) -> None:
    handoff = await linked(handoffs)
    assert await opened(handoff, OTHER) is None
    error = await refused(handoff, "attach", sha256=OTHER)
    assert error.code is ErrorCode.LINK_UNKNOWN
    await handoff.close()


async def test_refused_steps_leave_nothing_in_history_and_taken_ones_are_bounded(handoffs: Handoffs) -> None:
    """F3: a tab that goes wild fills no history."""
    handoff = await linked(handoffs)
    for number in range(MAX_STEPS):
        await use(handoff, "attach", f"{number:064x}")
    for _ in range(5):
        assert (await refused(handoff, "attach")).code is ErrorCode.LINK_EXPIRED
    history = await handoff.handle.fetch_history()
    taken = [event for event in history.events if event.HasField("workflow_execution_update_accepted_event_attributes")]
    assert len(taken) == 1 + 1 + MAX_STEPS  # begin and the link itself
    await handoff.close()


async def test_after_the_end_no_link_can_be_entered_and_each_still_tells(handoffs: Handoffs) -> None:
    """C5: revoked with the handoff."""
    handoff = await linked(handoffs)
    await use(handoff, "enter")
    await handoffs.finished(handoff)
    found = await opened(handoff)
    assert found is not None and found.summary.result == "verified" and found.link.spent
    with pytest.raises(Exception, match=r"completed|not found"):
        await use(handoff, "take", SEAT, TAB_2)
