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
from user_handoff.desktop.view.curtain import Curtain, Found
from user_handoff.desktop.view.glance import Glance, Seen

log = logging.getLogger(__name__)

_CALL_SECONDS = 5.0
_WAIT_SECONDS = 2.0
"""How long input waits for the browser that is shown to be in front again."""

_POLL = 0.005
_ASK_AGAIN_SECONDS = 0.1
"""How long it is given to come, before it is asked again: what took its place may have taken it a second time."""

_SETTLED_SECONDS = 0.04
"""How long after a change the thread looks again: a click is on its way to its picture meanwhile."""


May = Callable[[], bool]


def _always() -> bool:
    return True


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
        self._calling = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pid: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._glance: Glance | None = None
        self._known: tuple[Seen, Found] | None = None
        """What the thread found when it last looked, and what a glance had seen right before."""
        self._keeping_up: asyncio.Task[None] | None = None

    async def show(self, pid: int) -> None:
        """Show the windows of this process, and hide all others.

        Raises:
            HandoffError: The display is gone. Nothing may be shown then.
        """
        if pid != self._pid or self._thread is None or not self._thread.is_alive():
            self._close_glance()
            self._pid = None
            await asyncio.to_thread(self._show, pid, asyncio.get_running_loop())
            if self._glance is not None:
                await self._glance.attach()
                self._keeping_up = asyncio.create_task(self._keep_up(self._glance))
            self._pid = pid

    async def leave(self) -> None:
        """Take the curtain away."""
        self._pid = None
        self._close_glance()
        await asyncio.to_thread(self._stop)

    async def has_keyboard(self, may: May = _always) -> bool:
        """True where the keyboard is with what is shown. Where it is not, it is asked back, for a moment.

        Args:
            may: Whether it may be asked back.
        """
        return await self._soon(lambda found: found.focused, _WAIT_SECONDS, may)

    async def is_clear(self, seconds: float = _WAIT_SECONDS, may: May = _always) -> bool:
        """True where nothing is before what is shown, so that a click lands on what was seen; waits for a moment.

        Args:
            seconds: For how long it waits.
            may: Whether what is shown may be brought to the front for that.
        """
        return await self._soon(lambda found: found.clear, seconds, may)

    async def _soon(self, is_so: Callable[[Found], bool], seconds: float, may: May) -> bool:
        """Look at this moment; where it is not so, bring the browser to the front, and wait for that."""
        deadline, asked = time.monotonic() + seconds, 0.0
        if is_so(await self._at_this_moment(deadline)):
            return True
        while (now := time.monotonic()) < deadline:
            if now - asked > _ASK_AGAIN_SECONDS:
                if not may():
                    return False
                self._call(lambda curtain: curtain.raise_shown())
                asked = now
            await asyncio.sleep(_POLL)
            if is_so(await self._look(deadline - now)):
                return True
        return False

    async def _at_this_moment(self, deadline: float) -> Found:
        """What holds now. Where a glance sees what the last one saw, the thread need not look again."""
        glance = self._glance
        seen = await glance.now(deadline - time.monotonic()) if glance is not None else None
        if seen is not None and self._known is not None and self._known[0] == seen:
            return self._known[1]
        self._known = None
        found = await self._look(deadline - time.monotonic())
        if glance is self._glance and seen is not None and seen.focus == found.focus:
            self._known = seen, found
        return found

    async def _keep_up(self, glance: Glance) -> None:
        """Look soon after every change, so that a press need not; each click is one, though nothing moves."""
        while True:
            await glance.changed.wait()
            await asyncio.sleep(_SETTLED_SECONDS)
            glance.changed.clear()
            await self._at_this_moment(time.monotonic() + _WAIT_SECONDS)

    async def _look(self, seconds: float) -> Found:
        """Have the thread look, for so long at most: without an answer nothing is known, and nothing may be pressed."""
        loop = asyncio.get_running_loop()
        looked: asyncio.Future[Found] = loop.create_future()

        def answer(found: Found) -> None:
            if not looked.done():
                looked.set_result(found)

        def look(curtain: Curtain) -> None:
            loop.call_soon_threadsafe(answer, curtain.look())

        self._call(look)
        await asyncio.wait((looked,), timeout=seconds)
        return looked.result() if looked.done() else Found()

    def _close_glance(self) -> None:
        self._known = None
        if self._keeping_up is not None:
            self._keeping_up.cancel()
            self._keeping_up = None
        if self._glance is not None:
            self._glance.close()
            self._glance = None

    def _show(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._stop()
        self._loop = loop
        self._glance = Glance(self._display)
        curtain = Curtain(self._display, pid)  # what goes wrong here is told to who asked
        self._work = queue.SimpleQueue()
        reader, self._wake = os.pipe()  # from now on it can be called: each byte goes with one piece of this work
        self._thread = threading.Thread(target=self._run, args=(curtain, reader), name="stage", daemon=True)
        ready = threading.Event()
        self._call(lambda _: ready.set())
        self._thread.start()
        ready.wait(_CALL_SECONDS)

    def _stop(self) -> None:
        with self._calling:
            thread, wake = self._thread, self._wake
            self._thread = self._wake = None
            if wake is not None:
                self._put(wake, None)
        if wake is not None:
            if thread is not None:
                thread.join(_CALL_SECONDS)
            os.close(wake)

    def _call(self, what: Callable[[Curtain], None]) -> None:
        with self._calling:
            if self._wake is not None:
                self._put(self._wake, what)

    def _put(self, wake: int, what: Callable[[Curtain], None] | None) -> None:
        self._work.put(what)
        with contextlib.suppress(BrokenPipeError):  # the thread has ended by itself: nobody answers
            os.write(wake, b".")

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
            curtain.close()
            os.close(reader)

    def _step(self, curtain: Curtain, reader: int) -> bool:
        curtain.take_in()
        if reader in select.select([reader, curtain.fileno()], [], [])[0]:
            os.read(reader, 1)
            work = self._work.get()
            if work is None:
                return False
            work(curtain)
        return True
