"""The live view at the desktop: who is let in, what they can do, and when they no longer can."""

import asyncio
import os
import secrets
import signal
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.desktop.support import Agent
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import ask, knock, viewing
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.view.rfb import key, pointer
from user_handoff.desktop.view.view import View

A, B, SHIFT = ord("a"), ord("b"), 0xFFE1


async def refusal(call: Any) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        await call
    return refused.value.code


async def status_of(view: View, ticket: str) -> int:
    """What somebody with this ticket is answered."""
    with pytest.raises(InvalidStatus) as refused:
        async with knock(view, ticket):
            pass
    return int(refused.value.response.status_code)


# --- who is let in ---


async def test_a_real_display_is_not_shown(stand: Stand, desktop: Desktop, tmp_path: Path) -> None:
    leases = Leases(tmp_path / "leases.db")
    view = View(replace(desktop.display, rfb_socket=None), desktop.holds, leases, desktop.browsers.pid_of)
    await view.open(tmp_path)
    assert view.address is None
    assert await refusal(view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.VIEW_UNAVAILABLE
    await view.aclose()
    leases.close()


async def test_a_ticket_lets_one_connection_in_once(stand: Stand) -> None:
    """K04: and nothing else lets anybody in."""
    ticket = secrets.token_urlsafe(24)
    assert await status_of(stand.view, ticket) == 401
    asked = ask(stand.handoff_id, ticket)
    await stand.view.admit(asked)
    assert await status_of(stand.view, asked.viewer_id) == 401
    assert await status_of(stand.view, asked.ticket_sha256) == 401
    async with knock(stand.view, ticket):
        assert await status_of(stand.view, ticket) == 401


async def test_a_viewers_id_is_not_used_twice(stand: Stand) -> None:
    """K04."""
    asked = ask(stand.handoff_id, "one")
    await stand.view.admit(asked)
    again = ask(stand.handoff_id, "two", viewer_id=asked.viewer_id)
    assert await refusal(stand.view.admit(again)) is ErrorCode.FORBIDDEN
    assert await status_of(stand.view, "two") == 401


async def test_a_ticket_that_is_not_used_in_time_lets_nobody_in(stand: Stand) -> None:
    await stand.view.admit(ask(stand.handoff_id, "late", expires_in_seconds=0.05))
    await asyncio.sleep(0.06)
    assert await status_of(stand.view, "late") == 401


async def test_nobody_is_let_in_to_what_is_not_held(stand: Stand) -> None:
    other = f"{stand.handoff_id}x"
    assert await refusal(stand.view.admit(ask(other, "t"))) is ErrorCode.NOT_HELD
    wrong = ask(stand.handoff_id, "t", browser_id="b_other")
    assert await refusal(stand.view.admit(wrong)) is ErrorCode.NOT_HELD
    await stand.view.admit(ask(stand.handoff_id, "early"))
    await stand.finish()
    assert await refusal(stand.view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.NOT_HELD
    async with knock(stand.view, "early") as socket:
        await socket.wait_closed()
        assert socket.close_reason == ErrorCode.NOT_HELD


def test_the_socket_is_for_this_user_alone(stand: Stand) -> None:
    path = Path((stand.view.address or "").removeprefix("unix:"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


# --- what they can do ---


async def test_with_control_keys_arrive_and_without_none(stand: Stand) -> None:
    """E3, K51."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        await viewer.press(A)
        await viewer.click(*await stand.where(100, 260))
        await viewer.until_passed()
        assert await stand.text() == ""
        assert await stand.page.evaluate("log.filter(([kind]) => kind !== 'mousemove')") == []
        said = await viewer.take()
        assert 29 < said["seconds"] <= 30
        await stand.enter(viewer)
        await viewer.press(B)
        await stand.until("b")


async def test_who_may_only_look_gets_no_control(stand: Stand) -> None:
    """K51."""
    async with viewing(stand.view, stand.handoff_id, "watch") as viewer:
        await viewer.tell(t="control", want=True)
        assert await viewer.heard("refused") == {"t": "refused", "code": "forbidden"}
        await viewer.press(A)
        await viewer.until_passed()
        assert await stand.text() == ""


@pytest.mark.parametrize("text", ["P_a+s@s#{|}", "a.b-c", "äß漢", "€ 100 für Ümit 👩🏽‍🚀 ok?", "one\ntwo\tx"])
async def test_exactly_the_text_arrives(stand: Stand, text: str) -> None:
    """K50."""
    await stand.page.evaluate(
        "t.addEventListener('keydown', e => e.key === 'Tab' && (e.preventDefault(), t.value += '\\t'))"
    )
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.tell(t="text", n=7, text=text)
        assert (await viewer.heard("typed", n=7))["ok"]
        await stand.until(text)


async def test_characters_that_the_keyboard_lacks_arrive_as_keys_too(stand: Stand) -> None:
    """K50: from a viewer that knows nothing of texts."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        for one in "aäb漢c":
            await viewer.press(ord(one) if ord(one) < 0x100 else 0x01000000 + ord(one))
        await stand.until("aäb漢c")


async def test_nothing_of_a_paste_stays_on_the_clipboard(stand: Stand) -> None:
    """F4."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.tell(t="text", n=1, text="geheim-ü")
        await viewer.heard("typed", n=1, ok=True)
        native = stand.agent.desktop._computer._native
        text, _ = await asyncio.to_thread(native._clipboard.read)
        assert text == ""


async def test_the_picture_tells_nobodys_name(stand: Stand) -> None:
    """X servers name the machine and its user."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        assert viewer.name == b"handoff"


# --- when it ends ---


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
        await until(lambda: stand.view.control.lease is None, 1)
    await until(lambda: not _mask(stand), 1)
    assert _hold(stand).phase is Phase.HELD


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
        while time.monotonic() < lease.ends:
            await viewer.press(A)
            await asyncio.sleep(0.005)
        await viewer.heard("control", who="nobody", why="silent")
        arrived = await stand.text()
        assert time.monotonic() - lease.ends < 0.25
        assert not _mask(stand)
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
    monkeypatch.setattr(stand.view.control, "_ttl", 0.5)
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        began = time.monotonic()
        while time.monotonic() - began < 1.2:
            await viewer.tell(t="renew")
            await asyncio.sleep(0.1)
        await viewer.press(A)
        await stand.until("a")


async def test_the_deadline_of_the_hold_ends_it(editor: Agent, stand: Stand) -> None:
    """K10: whatever was renewed."""
    await stand.finish()
    receipt = await editor.begin(timeout_seconds=1.5)
    async with viewing(stand.view, receipt.handoff_id) as viewer:
        await stand.enter(viewer)
        ends = time.monotonic() + (await viewer.heard("control", who="you"))["seconds"]
        while viewer.closed is None:
            with_socket_open = asyncio.create_task(viewer.tell(t="renew"))
            await asyncio.wait([with_socket_open])
            with_socket_open.exception()
            await asyncio.sleep(0.01)
        assert viewer.closed == "expired"
        assert time.monotonic() - ends < 0.5
    assert _hold(stand, receipt.handoff_id).phase is Phase.EXPIRED
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
        record = read_record(_folder(desktop))
        assert record is not None
        os.kill(record.server.pid, signal.SIGSTOP)
        try:
            for _ in range(200):
                await viewer.press(A)
            await viewer.tell(t="ping", n=1)
            await viewer.heard("pong", n=1)
            await viewer.tell(t="control", want=False)
            await viewer.heard("control", who="nobody")
        finally:
            os.kill(record.server.pid, signal.SIGCONT)
        await viewer.until_passed()
        assert len(await stand.text()) <= 1


# --- several ---


async def test_a_second_viewer_sees_and_acts_only_after_taking_control(stand: Stand) -> None:
    """E3, K80: the first is told."""
    one_view, other_view = viewing(stand.view, stand.handoff_id), viewing(stand.view, stand.handoff_id)
    async with one_view as one, other_view as other:
        await stand.enter(one)
        await one.hold_down(SHIFT)
        lease = (await other.heard("control", who="other"))["lease"]
        await until(lambda: other.picture > 1000)
        await other.press(B)
        await other.tell(t="control", want=True)
        assert (await other.heard("refused"))["code"] == "lease_taken"
        await other.until_passed()
        assert await stand.text() == ""
        await other.take(instead_of=lease)
        assert (await one.heard("control", who="other"))["why"] == "taken"
        await until(lambda: not _mask(stand))
        await one.press(A)
        await one.until_passed()
        await other.press(B)
        await stand.until("b")


async def test_another_hold_is_shown_only_while_nobody_acts(stand: Stand, desktop: Desktop) -> None:
    """What one person does is not shown to another."""
    other = await Agent.open(desktop)
    receipt = await other.begin()
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        asked = stand.view.admit(ask(receipt.handoff_id, "t"))
        assert await refusal(asked) is ErrorCode.DESKTOP_HELD
        await viewer.tell(t="control", want=False)
        await viewer.heard("control", who="nobody")
        async with viewing(stand.view, receipt.handoff_id) as second:
            await until(lambda: viewer.closed == "other")
            await second.take()
    await other.close()


async def test_no_more_than_four_look_at_once(stand: Stand) -> None:
    views = [viewing(stand.view, stand.handoff_id) for _ in range(4)]
    for each in views:
        await each.__aenter__()
    assert await refusal(stand.view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.VIEW_UNAVAILABLE
    for each in reversed(views):
        await each.__aexit__(None, None, None)


# --- what is not let through ---


@pytest.mark.parametrize("said", [b"\xff\x00\x00\x01" + bytes(8), b"\x07", '{"t": "shell"}', "[]", "{", '{"t": 1}'])
async def test_what_is_not_let_through_ends_the_connection(stand: Stand, said: bytes | str) -> None:
    """E3: and control with it."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.socket.send(said)
        await until(lambda: viewer.closed == "violation")
        await until(lambda: stand.view.control.lease is None)


async def test_random_bytes_never_reach_the_server(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """E3: a server that notes what it is sent gets whole messages of four kinds, and nothing else."""
    got = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"RFB 003.008\n")
        await reader.readexactly(12)
        writer.write(b"\x01\x01")
        await reader.readexactly(1)
        writer.write(bytes(4))
        await reader.readexactly(1)
        writer.write(b"\x05\x00\x03\x20" + bytes(16) + bytes(4))
        while data := await reader.read(4096):
            got.extend(data)
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "rfb")
    monkeypatch.setattr(stand.view, "_display", replace(desktop.display, rfb_socket=tmp_path / "rfb"))
    for _ in range(20):
        async with viewing(stand.view, stand.handoff_id) as viewer:
            await viewer.take()
            await viewer.raw(key(A, down=True).data + secrets.token_bytes(secrets.randbelow(60)))
            await viewer.raw(secrets.token_bytes(200))
            await until(lambda: viewer.closed is not None or viewer.picture > 0, 1)
    server.close()
    while got:
        length = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10}.get(got[0])
        if got[0] == 2:
            length = 4 + 4 * int.from_bytes(got[2:4])
        assert length is not None and len(got) >= length, got[:20]
        del got[:length]


def _hold(stand: Stand, handoff_id: str = "") -> Any:
    record = stand.agent.desktop.holds.record(handoff_id or stand.handoff_id)
    assert record is not None
    return record


def _mask(stand: Stand) -> int:
    """Which keys and buttons are down, as the X server says; without locks."""
    with stand.agent.desktop.holds._surfaces._windows.connected() as x:  # type: ignore[attr-defined]
        return int(x.screen().root.query_pointer().mask) & ~0x12


def _folder(desktop: Desktop) -> Path:
    assert desktop.display.xauthority is not None
    return desktop.display.xauthority.parent
