"""What a viewer is shown: the windows of one browser before a curtain, and never another's."""

import asyncio
import contextlib
import logging
import os
import queue
import select
import threading
import time
from collections.abc import Callable

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.view.curtain import Curtain

log = logging.getLogger(__name__)

_CALL_SECONDS = 5.0
_WAIT_SECONDS = 2.0
"""How long input waits for the browser that is shown to be in front again."""

_POLL = 0.005


class Stage:
    """A thread that watches the windows of a display, and keeps the curtain right behind those of one process."""

    def __init__(self, display: Display, lost: Callable[[], None]) -> None:
        """Prepare; the thread is started when something is shown.

        Args:
            display: The display.
            lost: Called in the event loop when the curtain is gone by itself: nobody may look any more.
        """
        self._lost = lost
        self._display = display
        self._work: queue.SimpleQueue[Callable[[Curtain], None] | None] = queue.SimpleQueue()
        self._wake: int | None = None
        self._thread: threading.Thread | None = None
        self._pid: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._focused = self._clear = False

    async def show(self, pid: int) -> None:
        """Show the windows of this process, and hide all others.

        Raises:
            HandoffError: The display is gone. Nothing may be shown then.
        """
        if pid != self._pid or self._thread is None or not self._thread.is_alive():
            await asyncio.to_thread(self._show, pid, asyncio.get_running_loop())
            self._pid = pid

    async def leave(self) -> None:
        """Take the curtain away."""
        self._pid = None
        await asyncio.to_thread(self._stop)

    async def has_keyboard(self) -> bool:
        """True where the keyboard is with what is shown. Where it is not, it is asked back, for a moment."""
        return await self._soon(lambda: self._focused)

    async def is_clear(self, seconds: float = _WAIT_SECONDS) -> bool:
        """True where nothing is before what is shown, so that a click lands on what was seen; waits for a moment."""
        return await self._soon(lambda: self._clear, seconds)

    async def _soon(self, is_so: Callable[[], bool], seconds: float = _WAIT_SECONDS) -> bool:
        """Look at this moment; where it is not so, bring the browser to the front, and wait for that."""
        deadline = time.monotonic() + seconds
        await self._look(seconds)
        if is_so():
            return True
        self._call(lambda curtain: curtain.raise_shown())
        while not is_so() and (left := deadline - time.monotonic()) > 0:
            await asyncio.sleep(_POLL)
            await self._look(left)
        return is_so()

    async def _look(self, seconds: float) -> None:
        """Have the thread look, for so long at most: without an answer nothing is known, and nothing may be pressed."""
        loop = asyncio.get_running_loop()
        looked = loop.create_future()

        def answer() -> None:
            if not looked.done():
                looked.set_result(None)

        def look(curtain: Curtain) -> None:
            curtain.look()
            self._focused, self._clear = curtain.focused, curtain.clear
            loop.call_soon_threadsafe(answer)

        self._focused = self._clear = False
        self._call(look)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):  # `wait_for` could swallow the end of the view
                await looked

    def _show(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._stop()
        self._loop = loop
        reader, self._wake = os.pipe()
        curtain = Curtain(self._display, pid)  # what goes wrong here is told to who asked
        self._work = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(curtain, reader), name="stage", daemon=True)
        ready = threading.Event()
        self._call(lambda _: ready.set())
        self._thread.start()
        ready.wait(_CALL_SECONDS)

    def _stop(self) -> None:
        thread, wake = self._thread, self._wake
        self._thread = self._wake = None
        self._focused = self._clear = False
        if wake is not None:
            self._work.put(None)
            os.write(wake, b".")
            if thread is not None:
                thread.join(_CALL_SECONDS)
            os.close(wake)

    def _call(self, what: Callable[[Curtain], None]) -> None:
        if self._wake is not None:
            self._work.put(what)
            os.write(self._wake, b".")

    def _run(self, curtain: Curtain, reader: int) -> None:
        try:
            curtain.draw()
            while self._step(curtain, reader):
                pass
        except Exception as error:
            # The error itself may quote what is on the screen.
            log.error("the curtain is gone (%s): every view ends", type(error).__name__)
            if self._loop is not None:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._lost)
        finally:
            self._focused = self._clear = False
            curtain.close()
            os.close(reader)

    def _step(self, curtain: Curtain, reader: int) -> bool:
        curtain.take_in()
        self._focused, self._clear = curtain.focused, curtain.clear
        if reader in select.select([reader, curtain.fileno()], [], [])[0]:
            os.read(reader, 1)
            work = self._work.get()
            if work is None:
                return False
            work(curtain)
        return True
