"""Pasting a text, so that exactly it arrives and nothing of it stays on the clipboard."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from user_handoff.contract.errors import ErrorCode, HandoffError, Refused, make_error
from user_handoff.desktop.input.clipboard import Clipboard
from user_handoff.desktop.input.keyboard import Keyboard
from user_handoff.desktop.input.parting import broken_off
from user_handoff.desktop.input.windows import DisplayWindows

T = TypeVar("T")

Check = Callable[[], None]


class ToEnd(Protocol):
    """Runs something in the input's thread, to its end."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """Run it."""


_PASTE_POLL = 0.01
_LOOK_SECONDS, _LOOKED_SECONDS = 0.15, 0.03
"""How long a program has to look at a new clipboard of its own accord, and when it is done with that."""

_PASTE_SECONDS = 5.0
"""How long a window has to take what is pasted."""


class Paster:
    """Pastes into the window that has the keyboard."""

    def __init__(self, clipboard: Clipboard, keyboard: Keyboard, windows: DisplayWindows) -> None:
        self._clipboard = clipboard
        self._keyboard = keyboard
        self._windows = windows

    async def paste(self, text: str, dispatch: ToEnd, to_end: ToEnd, recheck: Check) -> None:
        """Offer it, press Ctrl+V, wait until the window has taken it, and put back what was there.

        Args:
            text: The text.
            dispatch: Runs something in the input's thread, checked right before.
            to_end: Runs something there.
            recheck: Raises once a person has the desktop.

        Raises:
            OutcomeUnknown: It was pressed, and the window took nothing, or a person took control.
        """
        before, private = await to_end(self._saved)
        late = False
        try:
            offered = await dispatch(partial(self._offer, text))
            pid = await to_end(self._focused_pid)
            await self._until_looked_at(to_end, recheck, pid, offered)
            late = True
            try:
                pressed = await dispatch(self._press_paste)
            except HandoffError:
                late = False  # refused: it was not pressed
                raise
            try:
                await self._until_taken(to_end, recheck, pid, pressed)
            except HandoffError as error:
                raise broken_off("Something was pasted", error, typed=0) from error
            late = False
        finally:
            # a window that is late must not find what was there before: that may be anything
            back = (
                self._clipboard.clear if late or not before else partial(self._clipboard.set, before, private=private)
            )
            await to_end(back)

    def _saved(self) -> tuple[str, bool]:
        try:
            return self._clipboard.read()
        except Refused:
            return "", False

    def _offer(self, text: str) -> float:
        now = time.monotonic()
        self._clipboard.set(text)
        return now

    def _press_paste(self) -> float:
        now = time.monotonic()
        self._keyboard.press(("ctrl", "v"))
        return now

    def _focused_pid(self) -> int | None:
        focused = self._windows.focused()
        return self._windows.pid_of(focused) if focused else None

    async def _until_looked_at(self, to_end: ToEnd, recheck: Check, pid: int | None, offered: float) -> None:
        """Let a program that reads every new clipboard, as Chromium does, read it: that is not yet the paste."""
        while (now := time.monotonic()) - offered < _LOOK_SECONDS:
            asked = await to_end(partial(self._clipboard.requests, pid))
            if asked.text and now - asked.any > _LOOKED_SECONDS:
                return
            await asyncio.sleep(_PASTE_POLL)
            recheck()

    async def _until_taken(self, to_end: ToEnd, recheck: Check, pid: int | None, pressed: float) -> None:
        while (now := time.monotonic()) - pressed < _PASTE_SECONDS:
            asked = await to_end(partial(self._clipboard.requests, pid))
            if asked.is_taken(pressed, now):
                return
            await asyncio.sleep(_PASTE_POLL)
            recheck()
        if asked.text > pressed:
            return  # it asks again and again
        raise make_error(ErrorCode.ACTION_FAILED, "The window that has the keyboard took nothing of it.")
