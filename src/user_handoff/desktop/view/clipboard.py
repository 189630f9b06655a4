"""The display's clipboard, filled by an explicit act of the person alone, for as long as one paste takes."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.clipboard import Clipboard
from user_handoff.desktop.input.selection import Requests
from user_handoff.desktop.surfaces.x11_windows import X11Windows

T = TypeVar("T")

_POLL = 0.01
_LOOK_SECONDS, _LOOKED_SECONDS = 0.15, 0.03
"""How long a program has to look at a new clipboard of its own accord, and when it is done with that."""

_TAKE_SECONDS = 4.0
"""How long a window has to take what is pasted."""


class ViewClipboard:
    """Offers a text to the window that has the keyboard, and takes it back.

    Attributes:
        pasting: Held from before an offer until the clipboard is empty again: there is one for all viewers.
    """

    def __init__(self, display: Display) -> None:
        """Prepare; nothing is opened before the first text.

        Args:
            display: Whose clipboard.
        """
        self._display = display
        self._windows = X11Windows(display)
        self._clipboard: Clipboard | None = None
        self.pasting = asyncio.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="view-clipboard")

    async def free(self) -> None:
        """Wait until nothing of any viewer is on the clipboard: another's keys would paste it elsewhere."""
        async with self.pasting:
            pass

    async def offer(self, text: str, may: Callable[[], bool]) -> int | None:
        """Offer it, and let programs that read every new clipboard read it: that is not yet the paste.

        Args:
            text: What is to be pasted.
            may: As in `taken`.

        Returns:
            The process that has the keyboard; None where nobody can tell.

        Raises:
            HandoffError: It cannot be offered.
        """
        pid = await self._run(partial(self._offer, text))
        began = time.monotonic()
        while may() and time.monotonic() - began < _LOOK_SECONDS:
            asked = await self._run(partial(self._asked, pid))
            if asked.text and time.monotonic() - asked.any > _LOOKED_SECONDS:
                break
            await asyncio.sleep(_POLL)
        return pid

    async def taken(self, pid: int | None, pressed: float, may: Callable[[], bool]) -> bool:
        """Wait until the process has taken the text.

        Args:
            pid: What `offer` returned.
            pressed: When the keys were pressed, on the monotonic clock.
            may: Whether the viewer may still type: a text does not outlast that.

        Returns:
            False where it took nothing in time.
        """
        asked = Requests()
        while may() and time.monotonic() - pressed < _TAKE_SECONDS:
            asked = await self._run(partial(self._asked, pid))
            if asked.is_taken(pressed, time.monotonic()):
                return True
            await asyncio.sleep(_POLL)
        return asked.text > pressed and may()  # it asks again and again

    async def clear(self) -> None:
        """Leave the clipboard empty; whatever happens to a paste, nothing of it stays."""
        if self._clipboard is not None:
            await self._run(self._clear)

    async def aclose(self) -> None:
        """Close the connections and the threads."""
        await self._run(self._close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _offer(self, text: str) -> int | None:
        if self._clipboard is None:
            self._clipboard = Clipboard(self._display, lambda: True)
        self._clipboard.set(text, private=True)
        focused = self._windows.focused()
        return self._windows.pid_of(focused) if focused else None

    def _asked(self, pid: int | None) -> Requests:
        return Requests() if self._clipboard is None else self._clipboard.requests(pid)

    def _clear(self) -> None:
        if self._clipboard is not None:
            self._clipboard.clear()

    def _close(self) -> None:
        if self._clipboard is not None:
            self._clipboard.close()
            self._clipboard = None
        self._windows.close()
