"""The relay between a program and the server that it would have started itself, by standard input and output."""

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError
from user_handoff.desktop.desk import Desk
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.relay.calls import Batch
from user_handoff.relay.door import Door, Pass, Settled
from user_handoff.relay.guard import Guard
from user_handoff.relay.messages import (
    MOST_IN_BATCH,
    PARSE,
    encode,
    garbled,
    id_in_part,
    invalid,
    parse,
    refusal,
    too_large,
)
from user_handoff.relay.pipes import PART_BYTES, Line, Outlet, TooLong, lines
from user_handoff.relay.tools import Judge

log = logging.getLogger(__name__)

_GRACE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.05
_CUT_AFTER_SECONDS: Final = 2.0
_KILL_AFTER_SECONDS: Final = 1.5
_SET_PDEATHSIG: Final = 1
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StdioRelay:
    """One program, one server, and the gate between them. Three threads: each reads or writes one end."""

    def __init__(
        self,
        desk: Desk,
        judge: Judge,
        browser_id: str | None,
        command: Sequence[str],
        ends: tuple[int, int] = (0, 1),
        *,
        cut_off: bool = False,
    ) -> None:
        """Start the server.

        Args:
            desk: The desktop.
            judge: Knows the server's tools.
            browser_id: The one browser that the server drives; None: it may do anything on the desktop.
            command: Starts the server.
            ends: Where the client is read, and where it is written to.
            cut_off: End the server where a call of it keeps a person waiting.

        Raises:
            HandoffError: There is no such desktop or browser, its gate is closed, or the command cannot be started.
        """
        desk.epoch()
        if browser_id is not None:
            desk.require_browser(browser_id)
        self._client = ends[0]
        self._out = Outlet(ends[1])
        self._queue: Line[Pass] = Line()
        self._over = threading.Event()
        self._listening = self._thread(self._up)
        self._cut_off = cut_off
        self._server = _start(command)
        self._guard = Guard(self._server.pid)
        self._door = Door(desk, judge, browser_id, ProcessIdentity.of(self._server.pid))

    def run(self) -> int:
        """Relay until the server ends; returns its exit code. A signal ends the server with the relay."""
        assert self._server.stdout is not None
        down = threading.Thread(target=self._down, args=(self._server.stdout.fileno(),), daemon=True)
        for thread in (down, self._listening, self._thread(self._feed)):
            thread.start()
        if self._cut_off:
            self._thread(self._cut).start()
        killing = threading.Timer(_GRACE_SECONDS, lambda: self._signal(signal.SIGKILL))
        killing.daemon = True

        def end(number: int, frame: FrameType | None) -> None:
            self._signal(signal.SIGTERM)
            if not killing.is_alive():
                killing.start()

        mine = threading.current_thread() is threading.main_thread()  # no other thread is told of signals
        before = {number: signal.signal(number, end) for number in _SIGNALS if mine}
        try:
            code = self._server.wait()
        finally:
            self._over.set()
            killing.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)
        self._signal(signal.SIGKILL)  # what it has left of its group would act without a permit
        self._guard.close()
        self._queue.close()
        down.join(_GRACE_SECONDS)
        if not down.is_alive():
            self._server.stdout.close()
        for settled in self._door.lost():
            self._deliver(settled)
        return code if code >= 0 else 128 - code

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=work, daemon=True)

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._server.pid, number)
        except ProcessLookupError:
            return

    def _cut(self) -> None:
        """End the server for a person who waits for a call of it."""
        waited = 0.0
        while not self._over.wait(_LOOK_SECONDS):
            waited = waited + _LOOK_SECONDS if self._door.kept_waiting() else 0.0
            if waited >= _CUT_AFTER_SECONDS:
                log.warning("the server is ended: a person waits for a call of it")
                self._signal(signal.SIGTERM)
                if not self._over.wait(_KILL_AFTER_SECONDS):
                    self._signal(signal.SIGKILL)

    def _up(self) -> None:
        """From the client: answered at once, or on the way to the server."""
        for line in lines(self._client):
            if isinstance(line, TooLong):
                self._answer(refusal(id_in_part(line.head, line.tail), too_large("It was not passed on.")))
                continue
            try:
                message = parse(line)
            except HandoffError as error:
                self._answer(refusal(None, error, PARSE))
                continue
            if isinstance(message, list):
                self._batch(message, len(line))
            else:
                self._consider(message, len(line))
        self._queue.close()

    def _batch(self, messages: list[Any], size: int) -> None:
        if not 0 < len(messages) <= MOST_IN_BATCH:
            self._answer(refusal(None, invalid(f"A batch has 1 to {MOST_IN_BATCH} messages.")))
            return
        batch = Batch()
        found = [self._door.consider(message, batch) for message in messages]  # all, before any of it is answered
        for each in found:
            if isinstance(each, Pass):
                self._queue.put(each, size // len(found))
            elif each is not None:
                batch.add(each)
        self._deliver(Settled(None, batch))

    def _consider(self, message: Any, size: int) -> None:
        found = self._door.consider(message)
        if isinstance(found, Pass):
            self._queue.put(found, size)
        elif found is not None:
            self._answer(found)

    def _feed(self) -> None:
        """To the server: a call is admitted once everything before it was written."""
        assert self._server.stdin is not None
        outlet = Outlet(os.dup(self._server.stdin.fileno()))
        self._server.stdin.close()
        for each in self._queue:
            frame = encode(each.message)
            refused = None if each.call is None else self._door.admit(each.call)
            if refused is not None:
                self._deliver(refused)
            elif not outlet.write(frame):
                break  # it has ended, or will: what is in flight is answered then
        self._queue.close()
        outlet.close()

    def _down(self, handle: int) -> None:
        """From the server."""
        for line in lines(handle):
            if isinstance(line, TooLong):
                self._deliver(self._door.unread(id_in_part(line.head, line.tail), too_large))
                continue
            try:
                message = parse(line)
            except HandoffError:
                self._deliver(self._door.unread(id_in_part(line[:PART_BYTES], line[-PART_BYTES:]), garbled))
                continue
            for each in message if isinstance(message, list) else [message]:
                settled = self._door.arrive(each)
                raw = line if settled.answer is message and settled.batch is None else None
                self._deliver(settled, raw)

    def _deliver(self, settled: Settled, raw: bytes | None = None) -> None:
        """Give the client what it gets: as it came where it may, in one array where it belongs to a batch."""
        if settled.batch is not None:
            answers = settled.batch.settle(settled.answer)
            if answers is not None:
                self._answer(answers)
        elif settled.answer is not None:
            self._answer(settled.answer, raw)

    def _answer(self, message: Any, raw: bytes | None = None) -> None:
        if not self._out.write(encode(message) if raw is None else raw + b"\n"):
            self._queue.close()  # nobody reads: the server is told that nothing more comes


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
            preexec_fn=_dies_with(os.getpid()),
        )
    except OSError as error:
        raise cannot_start(command[0], error) from None


def cannot_start(program: str, error: OSError) -> SetupError:
    """A command that cannot be started."""
    return SetupError(
        ErrorCode.PROGRAM_MISSING,
        f"{program} cannot be started: {error.strerror or type(error).__name__}.",
        holds="Nothing was started.",
        do_next="Correct the command behind the --.",
    )


def _dies_with(parent: int) -> Callable[[], None] | None:
    """The kernel ends the server with the relay, however that ends: nothing acts without its gate."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)

    def apply() -> None:
        libc.prctl(_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return apply
