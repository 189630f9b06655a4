"""The live view at the desktop: what people can do, several of them, and what is not let through."""

import asyncio
import secrets
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.desktop.support import Agent, code_of
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import SHIFT, A, B, ask, viewing
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.view.keys import CONTROL
from user_handoff.desktop.view.rfb import key

# --- what they can do ---


async def test_with_control_keys_arrive_and_without_none(stand: Stand) -> None:
    """E3, K51: before control and after it, with the keyboard in the field; what comes last has overtaken nothing."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await until(lambda: viewer.picture > 1000)
        await viewer.press(A)
        await viewer.click(*await stand.where(100, 260))
        await viewer.until_passed()
        said = await viewer.take()
        assert 29 < said["seconds"] <= 30
        await stand.enter(viewer)
        await viewer.tell(t="control", want=False)
        await viewer.heard("control", who="nobody")
        await viewer.press(A)
        await viewer.click(*await stand.where(100, 260))
        await viewer.until_passed()
        await viewer.take()
        await viewer.press(B)
        await stand.until("b")
        assert await stand.page.evaluate("log.filter(([kind]) => kind !== 'mousemove')") == []


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
        await until(lambda: not stand.mask())
        await one.press(A)
        await one.until_passed()
        await other.press(B)
        await stand.until("b")


async def test_what_one_was_about_to_paste_is_not_pasted_by_the_next(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E3: control is passed on while a text is on the clipboard, and whoever has it now pastes at once."""
    one_view, other_view = viewing(stand.view, stand.handoff_id), viewing(stand.view, stand.handoff_id)
    async with one_view as one, other_view as other:
        await stand.enter(one)
        for name in ("_LOOK_SECONDS", "_LOOKED_SECONDS"):
            monkeypatch.setattr(f"user_handoff.desktop.view.clipboard.{name}", 60)
        set_clipboard, offered = stand.view._clipboard._offer, threading.Event()

        def offer(text: str) -> int | None:
            pid = set_clipboard(text)
            offered.set()
            return pid

        monkeypatch.setattr(stand.view._clipboard, "_offer", offer)
        await one.tell(t="text", n=1, text="geheim-ü")
        await until(offered.is_set)
        typed = await stand.text()
        await other.take(instead_of=(await other.heard("control", who="other"))["lease"])
        for down in (True, False):
            for keysym in (CONTROL, ord("v")):
                await other.raw(key(keysym, down=down).data)
        await one.heard("typed", n=1, ok=False)
        await other.press(B)
        await stand.until(f"{typed}b")


async def test_another_hold_is_shown_only_while_nobody_acts(stand: Stand, desktop: Desktop) -> None:
    """What one person does is not shown to another."""
    other = await Agent.open(desktop)
    receipt = await other.begin()
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        asked = stand.view.admit(ask(receipt.handoff_id, "t"))
        assert await code_of(asked) is ErrorCode.DESKTOP_HELD
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
    assert await code_of(stand.view.admit(ask(stand.handoff_id, "t"))) is ErrorCode.VIEW_UNAVAILABLE
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
            await until(lambda: viewer.closed is not None or viewer.picture > 0)
    server.close()
    while got:
        length = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10}.get(got[0])
        if got[0] == 2:
            length = 4 + 4 * int.from_bytes(got[2:4])
        assert length is not None and len(got) >= length, got[:20]
        del got[:length]
