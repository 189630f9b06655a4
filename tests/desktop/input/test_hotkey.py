"""A key combination that is grabbed on a display."""

import asyncio
import contextlib
import os
import select
from collections.abc import Iterator

import pytest

from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.input.hotkey import Hotkey

KEYS = "Ctrl+Alt+Space"


@pytest.fixture
def hotkey(desktop: Desktop) -> Iterator[Hotkey]:
    with contextlib.closing(Hotkey(desktop.display, KEYS)) as hotkey:
        yield hotkey


async def person(desktop: Desktop, *words: str) -> None:
    """Somebody at the keyboard."""
    env = {"PATH": os.environ["PATH"]} | desktop.display.environment()
    hands = await asyncio.create_subprocess_exec("xdotool", *words, env=env)
    assert await hands.wait() == 0


def came(hotkey: Hotkey) -> bool:
    return bool(select.select([hotkey], [], [], 0)[0]) and hotkey.pressed()


@pytest.mark.parametrize("lock", [None, "Caps_Lock", "Num_Lock"])
async def test_a_press_counts_whatever_locks_are_on(desktop: Desktop, hotkey: Hotkey, lock: str | None) -> None:
    locked = [] if lock is None else ["key", lock]
    await person(desktop, *locked, "key", "ctrl+alt+space", *locked)
    await until(lambda: came(hotkey))


async def test_a_key_that_is_kept_down_is_pressed_once(desktop: Desktop, hotkey: Hotkey) -> None:
    seen: list[bool] = []
    judge = hotkey._is_press
    hotkey._is_press = lambda event: seen.append(judge(event)) or seen[-1]  # type: ignore[method-assign, func-returns-value]
    await person(desktop, "keydown", "ctrl", "keydown", "alt", "keydown", "space")
    try:
        await until(lambda: came(hotkey))
        before = len(seen)
        repeated = False
        while len(seen) < before + 8:  # the server repeats it
            repeated |= came(hotkey)
            await asyncio.sleep(0.005)
    finally:
        await person(desktop, "keyup", "space", "keyup", "alt", "keyup", "ctrl")
    assert not repeated
    await person(desktop, "key", "ctrl+alt+space")
    await until(lambda: came(hotkey))


async def test_other_keys_and_other_modifiers_are_none_of_its_business(desktop: Desktop, hotkey: Hotkey) -> None:
    await person(desktop, "key", "alt+space", "key", "ctrl+alt+shift+space", "key", "ctrl+alt+x", "key", "space")
    hotkey._x.sync()
    assert not hotkey.pressed()
    await person(desktop, "keydown", "ctrl", "keydown", "alt", "keydown", "space")
    await until(lambda: came(hotkey))
    await person(desktop, "key", "x", "keyup", "space", "keyup", "alt", "keyup", "ctrl")
    hotkey._x.sync()
    assert not hotkey.pressed(), "while it is down every key comes here"


async def test_what_was_pressed_before_is_forgotten(desktop: Desktop, hotkey: Hotkey) -> None:
    await person(desktop, "key", "ctrl+alt+space")
    hotkey.forget()
    assert not hotkey.pressed()


async def test_keys_that_somebody_else_has_are_refused_and_free_again_once_they_let_go(desktop: Desktop) -> None:
    with contextlib.closing(Hotkey(desktop.display, KEYS)):
        with pytest.raises(HandoffError) as refused:
            Hotkey(desktop.display, KEYS)
        assert refused.value.code is ErrorCode.ALREADY_RUNNING
        Hotkey(desktop.display, "Ctrl+Alt+F9").close()
    Hotkey(desktop.display, KEYS).close()


@pytest.mark.parametrize("keys", ["", "Space", "Shift+a", "Ctrl+", "Ctrl+Alt", "Hyper+Space", "Ctrl+nokey", "Ctrl+a+b"])
async def test_what_is_no_combination_is_refused(desktop: Desktop, keys: str) -> None:
    with pytest.raises(HandoffError) as refused:
        Hotkey(desktop.display, keys)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("keys", ["super+F9", " ctrl + shift + a ", "Control+Alt+Escape", "Ctrl+."])
async def test_names_are_read_whatever_their_case(desktop: Desktop, keys: str) -> None:
    Hotkey(desktop.display, keys).close()


async def test_a_keyboard_whose_keys_have_moved_is_grabbed_anew(desktop: Desktop, hotkey: Hotkey) -> None:
    """A layout that is switched moves keys to other codes."""
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        (space,) = {code for code, _ in hotkey._grabbed}
        free = next(code for code in range(255, 8, -1) if not any(x.get_keyboard_mapping(code, 1)[0]))
        symbols = x.get_keyboard_mapping(space, 1)[0]
        x.change_keyboard_mapping(free, [symbols])
        x.change_keyboard_mapping(space, [[0] * len(symbols)])
        x.sync()
        try:
            await until(lambda: bool(came(hotkey)) or {code for code, _ in hotkey._grabbed} == {free})
            await person(desktop, "key", "ctrl+alt+space")
            await until(lambda: came(hotkey))
        finally:
            x.change_keyboard_mapping(space, [symbols])
            x.change_keyboard_mapping(free, [[0] * len(symbols)])
            x.sync()
