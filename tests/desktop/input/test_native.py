"""Native input arrives exactly, and never while a person has the desktop."""

import asyncio
import io
import string
from collections.abc import Awaitable, Callable

import pytest
from PIL import Image

from tests.desktop.surfaces.programs import Program
from tests.waiting import until_blocking
from user_handoff.contract.errors import ErrorCode, Held, OutcomeUnknown, Refused, SetupError
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.binding import bind
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.input.native import NativeInput
from user_handoff.desktop.reservation.ledger import Ledger

ME = ProcessIdentity.current()
PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " \n\t"

EFFECTS: dict[str, Callable[[NativeInput], Awaitable[object]]] = {
    "move": lambda native: native.move(100, 100),
    "click": lambda native: native.click(100, 100),
    "type": lambda native: native.type("secret plan"),
    "press": lambda native: native.press("enter"),
    "scroll": lambda native: native.scroll(100, 100, 3, 0),
    "drag": lambda native: native.drag((100, 100), (150, 150)),
    "set clipboard": lambda native: native.set_clipboard("secret plan"),
    "get clipboard": lambda native: native.get_clipboard(),
    "launch": lambda native: native.launch(("xterm",)),
}


def hold(ledger: Ledger) -> None:
    ledger.publish("h1", "b1", "handoff", ME, "handoff/b1/s/m")


def arrives(target: Program, text: str) -> None:
    until_blocking(lambda: len(target.typed()) >= len(text))
    assert target.typed() == text


async def test_every_printable_character_arrives(native: NativeInput, target: Program) -> None:
    """K50: exactly what was asked for, in that order."""
    await native.type(PRINTABLE)
    arrives(target, PRINTABLE)


@pytest.mark.parametrize("text", ["\x00", "a\ud800", "ok\x1b[2J"])
async def test_a_text_with_a_control_character_is_refused_whole(
    native: NativeInput, target: Program, text: str
) -> None:
    """K50: nothing is typed, rather than something else."""
    with pytest.raises(Refused) as error:
        await native.type(text)
    assert error.value.code is ErrorCode.INVALID_REQUEST
    assert text not in str(error.value)
    await native.type(".")
    arrives(target, ".")


async def test_chords_and_named_keys_arrive(native: NativeInput, target: Program) -> None:
    await native.press("ctrl", "a")
    await native.press("Enter")
    await native.press("P")
    arrives(target, "^a\nP")


@pytest.mark.parametrize("keys", [("nosuch",), (), ("ctrl", "ä"), ("ctrl", "")])
async def test_an_unknown_key_is_refused_and_nothing_is_pressed(
    native: NativeInput, target: Program, keys: tuple[str, ...]
) -> None:
    with pytest.raises(Refused) as error:
        await native.press(*keys)
    assert error.value.code is ErrorCode.INVALID_REQUEST
    await native.type(".")
    arrives(target, ".")


async def test_a_key_that_is_held_down_stops_the_typing(native: NativeInput, target: Program, desktop: Desktop) -> None:
    """Other characters would come out."""
    with native._keyboard._down([native._keyboard._keymap().shift]):
        native._keyboard._x().sync()
        with pytest.raises(Refused) as error:
            await native.type("abc")
    native._keyboard._x().sync()
    assert error.value.code is ErrorCode.ACTION_FAILED
    await native.type(".")
    arrives(target, ".")


async def test_the_pointer_moves_and_clicks_where_it_is_told(native: NativeInput, target: Program) -> None:
    await native.move(333, 222)
    assert await native.pointer() == (333, 222)
    await native.click(120, 130)
    arrives(target, "[120,130]")


@pytest.mark.parametrize(("x", "y"), [(-1, 5), (5, -1), (99_999, 5), (5, 99_999)])
async def test_a_place_off_the_screen_is_refused(native: NativeInput, x: int, y: int) -> None:
    before = await native.pointer()
    with pytest.raises(Refused) as error:
        await native.click(x, y)
    assert error.value.code is ErrorCode.INVALID_REQUEST
    assert await native.pointer() == before


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
async def test_every_native_effect_is_refused_while_a_browser_is_held(
    native: NativeInput, ledger: Ledger, target: Program, effect: Callable[[NativeInput], Awaitable[object]]
) -> None:
    """A10, K01: observations go on."""
    hold(ledger)
    before = await native.pointer()
    with pytest.raises(Held) as error:
        await effect(native)
    assert error.value.code is ErrorCode.DESKTOP_HELD
    assert error.value.details["handoff_id"] == "handoff/b1/s/m"
    assert await native.pointer() == before
    assert target.typed() == ""
    assert await native.screenshot()


async def test_a_hold_in_the_middle_of_a_long_text_stops_it_and_says_how_far_it_came(
    native: NativeInput, ledger: Ledger, target: Program
) -> None:
    """K07, A17, F1: checked again between chunks; a part was typed, so the outcome is not `not started`."""
    chunks = 0

    def third() -> None:
        nonlocal chunks
        chunks += 1
        if chunks == 2:
            hold(ledger)

    with pytest.raises(OutcomeUnknown) as error:
        await native.type("a" * 100, check=third)
    typed = error.value.details["typed"]
    assert error.value.details["handoff_id"] == "handoff/b1/s/m"
    assert 0 < typed < 100
    arrives(target, "a" * typed)
    await ledger.drain("h1", 0.5)


async def test_a_cancelled_effect_ends_before_its_permit_does(
    native: NativeInput, ledger: Ledger, target: Program
) -> None:
    """A11: what drain waits for is over when it says so."""
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def check() -> None:
        loop.call_soon_threadsafe(begun.set)

    task = asyncio.create_task(native.type("a" * 500, check=check))
    await begun.wait()
    task.cancel()
    hold(ledger)
    await ledger.drain("h1", 5)
    typed = target.typed()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert target.typed() == typed
    assert len(typed) < 500


async def test_a_picture_of_the_desktop_is_taken(native: NativeInput, desktop: Desktop) -> None:
    picture = Image.open(io.BytesIO(await native.screenshot()))
    assert picture.size == (1280, 800)


async def test_one_process_drives_one_display(native: NativeInput, desktop: Desktop) -> None:
    await native.screenshot()
    bind(desktop.display)
    with pytest.raises(SetupError) as error:
        bind(Display(":987", None, virtual=False, keeper=None))
    assert error.value.code is ErrorCode.ALREADY_RUNNING
