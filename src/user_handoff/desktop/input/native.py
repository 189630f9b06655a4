"""Native input: every effect passes the desktop's gate, and is checked again right before it is sent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from user_handoff.contract.computer import Button
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.clipboard import Clipboard
from user_handoff.desktop.input.grab import grab
from user_handoff.desktop.input.keyboard import Keyboard
from user_handoff.desktop.input.launch import Launcher
from user_handoff.desktop.input.parting import broken_off
from user_handoff.desktop.input.paste import Paster
from user_handoff.desktop.input.plan import Keys, Paste
from user_handoff.desktop.input.pointer import Pointer
from user_handoff.desktop.input.windows import DisplayWindows
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.rows import Permit

T = TypeVar("T")

Check = Callable[[], None]
"""Run right before a dispatch; raises to refuse it."""

_CHUNK = 10
"""Characters sent at once: what a person waits for at most, when they take control."""

_NOTCHES = 5
_DRAG_STEP, _DRAG_PAUSE = 25, 0.008
"""Pixels and seconds between two places of a drag: programs take a faster one for a jump."""


class NativeInput:
    """Pointer, keyboard and clipboard of one display, and the programs that may be launched on it.

    Every effect raises `Held` (`desktop_held`, `reservation_closed`) where a person has the desktop, and `SetupError`
    where the display is gone; then nothing was done. A long one that is refused on its way raises `OutcomeUnknown`. Its
    `effect_id` is minted where none is given. `check` is run before the first dispatch, and before each that types.
    """

    def __init__(self, display: Display, gate: Gate, windows: DisplayWindows, launch: Iterable[str] = ()) -> None:
        """Prepare; the display is used at the first effect, its clipboard is watched from now on.

        Args:
            display: The display.
            gate: What admits effects.
            windows: Its windows.
            launch: The programs that may be launched, by name or absolute path.
        """
        self._display = display
        self._gate = gate
        self._pointer = Pointer(display)
        self._keyboard = Keyboard(display)
        self._launcher = Launcher(display, launch)
        self._clipboard = Clipboard(display, self._held)
        self._paster = Paster(self._clipboard, self._keyboard, windows)
        # one thread: the libraries are not made for several, and the event loop must not wait for an X server
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="native-input")

    def close(self) -> None:
        """Close the connections and the threads."""
        self._thread.submit(self._keyboard.close)
        self._thread.shutdown()
        self._clipboard.close()

    # --- pointer ---

    async def move(self, x: int, y: int, *, effect_id: str | None = None, check: Check | None = None) -> None:
        """Move the pointer to a place on the screen, in pixels.

        Raises:
            Refused: `invalid_request`: the place is not on the screen.
        """
        async with self._at(x, y, effect_id) as permit:
            await self._dispatch(permit, check, partial(self._pointer.move, x, y))

    async def click(
        self,
        x: int,
        y: int,
        button: Button = "left",
        count: int = 1,
        *,
        effect_id: str | None = None,
        check: Check | None = None,
    ) -> None:
        """Move the pointer there and click so many times.

        Raises:
            Refused: `invalid_request`: the place is not on the screen.
        """
        async with self._at(x, y, effect_id) as permit:
            await self._dispatch(permit, check, partial(self._pointer.click, x, y, button, count))

    async def scroll(
        self, x: int, y: int, down: int, right: int, *, effect_id: str | None = None, check: Check | None = None
    ) -> None:
        """Turn the wheel at a place, a few notches at a time.

        Raises:
            Refused: `invalid_request`: the place is not on the screen.
        """
        async with self._at(x, y, effect_id) as permit:
            turned = 0
            for part in _notches(down, right):
                try:
                    await self._dispatch(permit, None if turned else check, partial(self._pointer.scroll, x, y, *part))
                except HandoffError as error:
                    if not turned:
                        raise
                    raise broken_off(f"The wheel was turned by {turned} notches", error, turned=turned) from error
                turned += sum(map(abs, part))

    async def drag(
        self,
        start: tuple[int, int],
        end: tuple[int, int],
        button: Button = "left",
        *,
        effect_id: str | None = None,
        check: Check | None = None,
    ) -> None:
        """Press a button at one place, move, and release it at another; whatever happens, it is released.

        Raises:
            Refused: `invalid_request`: a place is not on the screen.
        """
        async with self._at(*start, effect_id) as permit:
            await self._to_end(partial(self._pointer.require, *end))
            await self._dispatch(permit, check, partial(self._pointer.press, *start, button))
            try:
                for place in _path(start, end):
                    await asyncio.sleep(_DRAG_PAUSE)
                    await self._dispatch(permit, None, partial(self._pointer.move, *place))
            except HandoffError as error:
                raise broken_off("The button was released before the end of the drag", error) from error
            finally:
                await self._to_end(partial(self._pointer.release, button))

    # --- keyboard ---

    async def press(self, *keys: str, effect_id: str | None = None, check: Check | None = None) -> None:
        """Press keys together, such as ``ctrl`` and ``a``: single characters, or names such as ``enter`` or ``f5``.

        Raises:
            Refused: `invalid_request`: a key is not there. `action_failed`: Caps Lock is on, or a key is held down.
        """
        async with self._admitted(effect_id) as permit:
            await self._dispatch(permit, check, partial(self._keyboard.press, keys))

    async def type(self, text: str, *, effect_id: str | None = None, check: Check | None = None) -> None:
        """Type a text, in chunks: a person who takes control waits for one of them alone.

        What is on no key is pasted (Ctrl+V); afterwards the clipboard holds again what text it held, or nothing.

        Raises:
            Refused: `invalid_request`: it has control characters. `action_failed`: Caps Lock is on, or a key is held
                down: nothing was typed.
            OutcomeUnknown: It was refused after a part had been typed, `details["typed"]` characters at least; or no
                window took what was pasted.
        """
        async with self._admitted(effect_id) as permit:
            parts = await self._to_end(partial(self._keyboard.plan, text, _CHUNK))
            typed = 0
            for part in parts:
                try:
                    await self._send(part, permit, check)
                except HandoffError as error:
                    if not typed:
                        raise
                    what = f"{typed} of {len(text)} characters were typed"
                    raise broken_off(what, error, typed=typed) from error
                typed += part.count

    async def _send(self, part: Keys | Paste, permit: Permit, check: Check | None) -> None:
        if isinstance(part, Keys):
            await self._dispatch(permit, check, partial(self._keyboard.type, part.strokes))
        else:
            await self._paster.paste(part.text, partial(self._dispatch, permit, check), self._to_end, permit.recheck)

    # --- clipboard ---

    async def set_clipboard(self, text: str, *, effect_id: str | None = None, check: Check | None = None) -> None:
        """Put a text on the clipboard; empty: clear it."""
        async with self._admitted(effect_id) as permit:
            await self._dispatch(permit, check, partial(self._clipboard.set, text) if text else self._clipboard.clear)

    async def get_clipboard(self, *, effect_id: str | None = None, check: Check | None = None) -> str:
        """The clipboard's text.

        Raises:
            Refused: `clipboard_withheld`: it came there while a person had the desktop, or before this runner watched.
        """
        async with self._admitted(effect_id) as permit:
            text, private = await self._dispatch(permit, check, self._clipboard.read)
            if private:
                raise make_error(
                    ErrorCode.CLIPBOARD_WITHHELD,
                    "What is on the clipboard may be a person's.",
                    holds="It was not read out.",
                    do_next="Set or clear the clipboard, or copy anew.",
                )
            return text

    # --- programs ---

    async def launch(self, argv: tuple[str, ...], *, effect_id: str | None = None, check: Check | None = None) -> int:
        """Start a program, and return its process id.

        Raises:
            Refused: `launch_refused`: it is not among those that may be launched.
        """
        async with self._admitted(effect_id) as permit:
            program = self._launcher.program(argv)
            return await self._dispatch(permit, check, partial(self._launcher.start, program, argv))

    # --- observing ---

    async def pointer(self) -> tuple[int, int]:
        """Where the pointer is. This is an observation, and never refused."""
        return await self._to_end(self._pointer.place)

    async def screenshot(self) -> bytes:
        """A picture of the whole desktop (PNG), in which nothing is masked: see to it that nobody is held."""
        return await self._to_end(partial(grab, self._display))

    # --- inside ---

    def _held(self) -> bool:
        try:
            return bool(self._gate.ledger.holders())
        except HandoffError:
            return True

    @contextlib.asynccontextmanager
    async def _admitted(self, effect_id: str | None) -> AsyncIterator[Permit]:
        async with self._gate.effect("native", None, effect_id or new_id("e")) as permit:
            yield permit

    @contextlib.asynccontextmanager
    async def _at(self, x: int, y: int, effect_id: str | None) -> AsyncIterator[Permit]:
        async with self._admitted(effect_id) as permit:
            await self._to_end(partial(self._pointer.require, x, y))
            yield permit

    async def _dispatch(self, permit: Permit, check: Check | None, action: Callable[[], T]) -> T:
        def checked() -> T:
            permit.recheck()
            if check is not None:
                check()
            return action()

        return await self._to_end(checked)

    async def _to_end(self, work: Callable[[], T]) -> T:
        """Run it in the thread. A cancelled caller waits for it too: a permit must not end before its effect."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, _typed, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not future.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([future])
            if not future.cancelled():
                future.exception()  # seen
            raise


def _notches(down: int, right: int) -> Iterator[tuple[int, int]]:
    for at in range(0, max(abs(down), abs(right), 1), _NOTCHES):
        yield _part(down, at), _part(right, at)


def _part(of: int, at: int) -> int:
    left = max(0, min(_NOTCHES, abs(of) - at))
    return left if of > 0 else -left


def _path(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The places of a drag after its first; a few at its end, since some programs need one more move to see it."""
    (x, y), (to_x, to_y) = start, end
    steps = max(4, max(abs(to_x - x), abs(to_y - y)) // _DRAG_STEP)
    for step in range(1, steps + 1):
        yield x + (to_x - x) * step // steps, y + (to_y - y) * step // steps
    yield end


def _typed(work: Callable[[], T]) -> T:
    from Xlib import error

    try:
        return work()
    except (error.ConnectionClosedError, BrokenPipeError, ConnectionResetError) as problem:
        raise make_error(
            ErrorCode.NO_DISPLAY,
            "The X display is gone.",
            holds="Nothing on it can be seen or done.",
            do_next="Start the runner again; it starts a display of its own with --virtual.",
        ) from problem
