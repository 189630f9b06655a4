"""What a person types through the view in a takeover: while the lease stands, and not a moment longer."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from websockets.exceptions import ConnectionClosed

from tests.desktop.hands import HTML
from tests.desktop.support import Agent
from tests.desktop.takeover.support import Taker
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import SHIFT, A, B, viewing
from tests.waiting import until
from user_handoff.contract import takeover as t
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import BeginReceipt
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.handoff.records import Phase


@pytest.fixture
async def stand(editor: Agent, taker: Taker) -> AsyncIterator[Stand]:
    """The browser of a takeover, with a text field in front."""
    page = editor.desktop.browsers.get(editor.browser_id).page(None).page
    await page.set_content(HTML)
    await page.evaluate("t.focus()")
    await taker.take()
    begin = taker.record().begin
    assert isinstance(begin, BeginReceipt)
    yield Stand(editor, page, begin)


async def test_input_is_dead_at_the_end_of_the_takeovers_lease(stand: Stand, taker: Taker) -> None:
    """E3, E4, K10: the stream is open, keys go on coming, and what is held down is released; the view stays."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.hold_down(SHIFT)
        taker.shorten(0.7)
        standing = stand.view.control.standing
        assert standing is not None and standing.cause == "takeover"
        while time.monotonic() < standing.ends:  # the end of the lease itself is what is tested
            await viewer.press(A)
            await asyncio.sleep(0.005)
        passed = stand.view._viewings[0].hands.passed
        for _ in range(20):
            await viewer.press(B)
        assert stand.view._viewings[0].hands.passed - passed <= 1
        await viewer.heard("control", who="nobody", why="over")
        assert time.monotonic() - standing.ends < 3
        assert not stand.mask()
        record = await taker.until(Phase.RECOVERING)
        assert record.taken is not None and record.taken.how is t.TakeoverEnd.TIMEOUT
        assert "b" not in (await stand.text()).lower()


async def test_a_sign_of_the_page_renews_the_takeover(stand: Stand, taker: Taker) -> None:
    """E1, E4: and one that comes late renews nothing."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        taker.shorten(1)
        first = stand.view.control.standing
        assert first is not None
        while time.monotonic() < first.ends + 0.5:  # past what would have been its end
            await viewer.tell(t="renew")
            await asyncio.sleep(0.1)
        assert taker.record().phase is Phase.HELD
        await taker.until(Phase.RECOVERING)
        with contextlib.suppress(ConnectionClosed):  # the view may be over by now
            await viewer.tell(t="renew")
        await until(lambda: not taker.lease_remains())


async def test_given_back_the_view_is_read_only_and_then_ends(stand: Stand, taker: Taker) -> None:
    """E5, E3: not one key arrives after it."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.press(A)
        await stand.until("a")
        await taker.give_back()
        with_control = stand.view.control.lease
        assert with_control is None
        await viewer.heard("end", why="over")
    assert await stand.text() == "a"


@pytest.fixture
async def elsewhere(desktop: Desktop) -> AsyncIterator[BeginReceipt]:
    """A handoff of another browser."""
    other = await Agent.open(desktop)
    yield await other.begin()
    await other.close()


async def test_another_request_is_not_shown_while_somebody_took_over(elsewhere: BeginReceipt, stand: Stand) -> None:
    """E1, K82: one person acts on a desktop."""
    with pytest.raises(HandoffError) as refused:
        async with viewing(stand.view, elsewhere.handoff_id):
            pass
    assert refused.value.code is ErrorCode.DESKTOP_HELD
