"""The workflow of a takeover, on a real server: what others read and ask of it."""

from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from tests.waiting import until
from tests.workflows.fake_takeovers import FakeTakeovers
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.takeover import TakeoverEnd, TakeoverState, TakeoverSummary
from user_handoff.worker.server import server_worker


@pytest.fixture
async def desk(client: Client) -> AsyncIterator[FakeTakeovers]:
    async with server_worker(client), FakeTakeovers().serving(client) as desk:
        yield desk


@pytest.fixture
def takeovers(client: Client) -> TakeoverClient:
    return TakeoverClient(client)


async def until_in(takeovers: TakeoverClient, takeover_id: str, state: TakeoverState) -> TakeoverSummary:
    return await until(lambda: takeovers.takeover(takeover_id), 20, wanted=lambda now: now.state is state, what=state)


async def test_it_is_held_given_back_and_ends_with_the_agents_look(
    desk: FakeTakeovers, takeovers: TakeoverClient
) -> None:
    """B8, E5, E9: a durable start and end, and what anybody may read in between."""
    request = desk.request(why="the wrong account", role="desk")
    begun = await takeovers.take_over(request)
    assert begun.takeover_id == request.takeover_id
    held = await takeovers.takeover(request.takeover_id)
    assert (held.state, held.by, held.why, held.cause) == (TakeoverState.HELD, "ada", "the wrong account", "person")
    given = await takeovers.give_back(request.takeover_id, "signed in")
    assert (given.state, given.how, given.note, given.seconds) == (
        TakeoverState.RECOVERING,
        TakeoverEnd.RETURNED,
        "signed in",
        12.5,
    )
    await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.RETURNED)
    ended = await until_in(takeovers, request.takeover_id, TakeoverState.ENDED)
    assert ended.how is TakeoverEnd.RETURNED
    assert await takeovers.give_back(request.takeover_id) == ended


async def test_what_is_said_after_the_end_changes_no_word_of_it(desk: FakeTakeovers, takeovers: TakeoverClient) -> None:
    """A17, E6: the summary tells what the agent is told; a second return or a late one adds nothing."""
    given, over = desk.request(), desk.request()
    for request in (given, over):
        await takeovers.take_over(request)
    await takeovers.give_back(given.takeover_id, "signed in")
    await desk.move(over.takeover_id, TakeoverState.RECOVERING, TakeoverEnd.TIMEOUT)
    await until_in(takeovers, over.takeover_id, TakeoverState.RECOVERING)
    for request, note in ((given, "signed in"), (over, "")):
        assert (await takeovers.give_back(request.takeover_id, "and paid")).note == note
        assert (await takeovers.cancel(request.takeover_id)).note == note
        await desk.move(request.takeover_id, TakeoverState.ENDED)


async def test_a_lost_receipt_is_asked_for_again(desk: FakeTakeovers, takeovers: TakeoverClient) -> None:
    """E1: the same request is the same takeover."""
    request = desk.request()
    assert await takeovers.take_over(request) == await takeovers.take_over(request)
    assert desk.calls.count("desktop_begin_takeover") == 1


async def test_asked_for_again_after_its_end_it_has_the_receipt_of_then(
    desk: FakeTakeovers, takeovers: TakeoverClient
) -> None:
    """E1: and one that was refused is refused again; neither begins anew."""
    request, refused = desk.request(), desk.request()
    begun = await takeovers.take_over(request)
    await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.TIMEOUT)
    desk.refuse = ErrorCode.HANDOFF_ACTIVE
    for again in range(2):
        with pytest.raises(HandoffError) as told:
            await takeovers.take_over(refused)
        assert told.value.code is ErrorCode.HANDOFF_ACTIVE, again
    assert await takeovers.take_over(request) == begun == await takeovers.begun(request.takeover_id)
    assert desk.calls.count("desktop_begin_takeover") == 2


async def test_a_refusal_is_typed_and_ends_it(desk: FakeTakeovers, takeovers: TakeoverClient) -> None:
    """B8: nothing is held, and the code says why."""
    desk.refuse = ErrorCode.HANDOFF_ACTIVE
    request = desk.request()
    with pytest.raises(HandoffError) as refused:
        await takeovers.take_over(request)
    assert refused.value.code is ErrorCode.HANDOFF_ACTIVE
    summary = await takeovers.takeover(request.takeover_id)
    assert (summary.state, summary.code) == (TakeoverState.REFUSED, ErrorCode.HANDOFF_ACTIVE)


@pytest.mark.parametrize("how", [TakeoverEnd.TIMEOUT, TakeoverEnd.RECOVERED, TakeoverEnd.CLOSED, TakeoverEnd.REVOKED])
async def test_the_desktop_ends_it_and_the_workflow_says_how(
    desk: FakeTakeovers, takeovers: TakeoverClient, how: TakeoverEnd
) -> None:
    """E4: kept apart."""
    request = desk.request()
    await takeovers.take_over(request)
    await desk.move(request.takeover_id, TakeoverState.ENDED, how)
    assert (await until_in(takeovers, request.takeover_id, TakeoverState.ENDED)).how is how


async def test_to_cancel_the_workflow_is_to_give_the_browser_back(
    desk: FakeTakeovers, takeovers: TakeoverClient, client: Client
) -> None:
    """E5: and never to forget it."""
    request = desk.request()
    await takeovers.take_over(request)
    await client.get_workflow_handle(request.takeover_id).cancel()
    assert (await until_in(takeovers, request.takeover_id, TakeoverState.RECOVERING)).how is TakeoverEnd.CANCELLED
    assert desk.calls[-2:].count("desktop_return_takeover cancelled") == 1


async def test_no_heartbeat_is_in_its_history(desk: FakeTakeovers, takeovers: TakeoverClient, client: Client) -> None:
    """E1: what is renewed is renewed at the desktop; a takeover has a few events, however long it lasts."""
    request = desk.request()
    await takeovers.take_over(request)
    await takeovers.give_back(request.takeover_id)
    await desk.move(request.takeover_id, TakeoverState.ENDED, TakeoverEnd.RETURNED)
    await until_in(takeovers, request.takeover_id, TakeoverState.ENDED)
    history = await client.get_workflow_handle(request.takeover_id).fetch_history()
    assert len(history.events) < 60


async def test_those_that_go_on_are_listed(desk: FakeTakeovers, takeovers: TakeoverClient) -> None:
    """E9: read only."""
    request = desk.request()
    await takeovers.take_over(request)
    found = await until(lambda: takeovers.takeovers(browser_id=request.browser_id))
    assert [summary.takeover_id for summary in found] == [request.takeover_id]


async def test_what_nobody_began_is_unknown(takeovers: TakeoverClient, desk: FakeTakeovers) -> None:
    """E9."""
    for takeover_id in ("takeover/b/t", "handoff/b/s/m"):
        with pytest.raises(HandoffError) as refused:
            await takeovers.give_back(takeover_id)
        assert refused.value.code is ErrorCode.UNKNOWN_TAKEOVER
