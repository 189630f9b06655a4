"""When people can no longer do anything through the live view."""

import asyncio
import contextlib
import time

import pytest
from websockets.exceptions import ConnectionClosed

from tests.desktop.support import Agent
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import SHIFT, A, B, viewing
from tests.desktop.view.stopping import standing_still
from tests.waiting import until
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.view.rfb import pointer


async def test_a_lost_viewer_loses_control_and_the_hold_stays(stand: Stand) -> None:
    """K02: cut in the middle of a word, with a key and a button down."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        x, y = await stand.where(100, 260)
        await viewer.raw(pointer(1, x, y).data)
        await viewer.hold_down(SHIFT)
        await viewer.press(A)
        await viewer.until_passed()
        viewer.socket.transport.abort()
        await until(lambda: stand.view.control.lease is None)
    await until(lambda: not stand.mask())
    assert stand.hold().phase is Phase.HELD


async def test_a_page_of_which_nothing_is_heard_loses_control_and_what_it_did_does_not_come_late(stand: Stand) -> None:
    """K02: a cable that is pulled says nothing, and all that was sent meanwhile comes when it is in again."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.tell(t="ping", n=1)
        x, y = await stand.where(100, 260)
        await viewer.raw(pointer(1, x, y).data)
        await viewer.hold_down(SHIFT)
        await viewer.until_passed()
        await until(lambda: stand.view.control.lease is None, 6)
        await viewer.heard("control", who="nobody", why="silent")
        await until(lambda: not stand.mask())
        await viewer.press(A)
        await viewer.until_passed()
        await viewer.take()
        await viewer.press(B)
        await stand.until("b")
    assert stand.hold().phase is Phase.HELD


async def test_a_page_that_is_heard_keeps_control(stand: Stand) -> None:
    """E3: whether it types or not."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        began = time.monotonic()
        number = 1
        while time.monotonic() < began + 4:  # longer than anybody may be silent
            await viewer.tell(t="ping", n=number)
            await viewer.heard("pong", n=number)
            number += 1
            await asyncio.sleep(0.4)
        assert viewer.last("control")["who"] == "you"


async def test_at_the_end_of_the_lease_input_is_dead_and_nothing_stays_pressed(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K03, K10: the page is silent, and the stream stays open; keys go on coming."""
    monkeypatch.setattr(stand.view.control, "_ttl", 0.6)
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.hold_down(SHIFT)
        lease = stand.view.control.lease
        assert lease is not None
        while time.monotonic() < lease.ends:  # the end of the lease itself is what is tested
            await viewer.press(A)
            await asyncio.sleep(0.005)
        await viewer.heard("control", who="nobody", why="silent")
        assert time.monotonic() - lease.ends < 3
        arrived = await stand.text()
        assert not stand.mask()
        for _ in range(20):
            await viewer.press(B)
        await viewer.until_passed()
        assert (await stand.text()).strip("Aa") == "" and len(await stand.text()) - len(arrived) <= 2
        await viewer.tell(t="renew")
        await viewer.press(B)
        await viewer.until_passed()
        assert "b" not in (await stand.text()).lower()


async def test_a_sign_of_life_renews_it(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """E3."""
    monkeypatch.setattr(stand.view.control, "_ttl", 1.0)
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        began = time.monotonic()
        while time.monotonic() - began < 2.2:  # more than two leases
            await viewer.tell(t="renew")
            await asyncio.sleep(0.1)
        await viewer.press(A)
        await stand.until("a")


async def test_the_deadline_of_the_hold_ends_it(editor: Agent, stand: Stand) -> None:
    """K10: whatever was renewed."""
    await stand.finish()
    receipt = await editor.begin(timeout_seconds=3)
    async with viewing(stand.view, receipt.handoff_id) as viewer:
        await stand.enter(viewer)
        ends = time.monotonic() + (await viewer.heard("control", who="you"))["seconds"]

        async def closed() -> str | None:
            with contextlib.suppress(ConnectionClosed):
                await viewer.tell(t="renew")
            return viewer.closed

        assert await until(closed) == "expired"
        assert time.monotonic() - ends < 3
    assert stand.hold(receipt.handoff_id).phase is Phase.EXPIRED
    await editor.finish(receipt)
    await editor.look()


async def test_after_done_not_one_key_arrives(stand: Stand) -> None:
    """E3: they stream in all the while; the page is as it was at the moment of the receipt."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)

        async def stream() -> None:
            while True:
                await viewer.press(A)

        typing = asyncio.create_task(stream())
        await stand.page.wait_for_function("t.value.length > 5")
        await stand.agent.finish(stand.receipt)
        passed = stand.view.control.may_type(stand.view._viewings[0]) if stand.view._viewings else False
        assert not passed
        await until(lambda: viewer.closed == "over")
        typing.cancel()
        await asyncio.wait([typing])
    before = await stand.text()
    await stand.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert await stand.text() == before
    await stand.agent.look()


async def test_what_is_in_flight_when_the_lease_ends_does_not_arrive(stand: Stand, desktop: Desktop) -> None:
    """E3: the display stands still while keys come, and goes on after the end of the lease."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        with standing_still(desktop):
            for _ in range(200):
                await viewer.press(A)
            await viewer.tell(t="ping", n=1)
            await viewer.heard("pong", n=1)
            await viewer.tell(t="control", want=False)
            await viewer.heard("control", who="nobody")
        await viewer.until_passed()
        assert len(await stand.text()) <= 1


async def test_what_was_done_under_one_lease_does_not_arrive_under_the_next(stand: Stand, desktop: Desktop) -> None:
    """E3: control is passed on and comes back while the display stands still: keys and texts of before are over."""
    async with viewing(stand.view, stand.handoff_id) as one, viewing(stand.view, stand.handoff_id) as two:
        await stand.enter(one)
        with standing_still(desktop):
            for _ in range(20):
                await one.press(A)
            await one.tell(t="text", n=7, text="a secret")
            await one.tell(t="ping", n=1)
            await one.heard("pong", n=1)
            await two.take(instead_of=(await two.heard("control", who="other"))["lease"])
            await one.take(instead_of=(await one.heard("control", who="other"))["lease"])
            assert await one.heard("typed", n=7) == {"t": "typed", "n": 7, "ok": False}
        await one.press(B)
        await one.until_passed()
        await stand.page.wait_for_function("t.value.includes('b')")
        assert (await stand.text()).removeprefix("a") == "b"  # one key at most was on its way
