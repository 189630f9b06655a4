"""A command in a process group of its own, which can be known to have ended as a whole."""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Final, NoReturn

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.relay.stdio import cannot_start

_SET_CHILD_SUBREAPER: Final = 36
_PASSED_ON: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Group:
    """A command that was forked, and waits to begin."""

    def __init__(self, command: Sequence[str]) -> None:
        """Fork; nothing of the command has begun."""
        self._program = command[0]
        _adopt_orphans()
        go, self._go = os.pipe()
        self._failed, failed = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._go)
            _become(command, go, failed)
        os.close(go)
        os.close(failed)
        self.identity = ProcessIdentity.of(self.pid)
        self.code: int | None = None

    def begin(self) -> None:
        """Let it begin.

        Raises:
            SetupError: `program_missing`.
        """
        os.write(self._go, b"g")
        said = os.read(self._failed, 16)
        if said:
            raise _failed(self._program, int(said))

    def ended(self) -> bool:
        """True once no process of the group lives; `code` is then the command's own."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-self.pid, os.WNOHANG | os.WUNTRACED)
                if not pid:
                    break
                if os.WIFSTOPPED(status):
                    self.signal(signal.SIGCONT)  # stopped, it would keep everybody waiting
                elif pid == self.pid:
                    code = os.waitstatus_to_exitcode(status)
                    self.code = code if code >= 0 else 128 - code
        return self.code is not None and not self.signal(0)

    def signal(self, number: int) -> bool:
        """Send a signal to all of it; false where nothing of it lives."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    @contextlib.contextmanager
    def in_front(self) -> Iterator[None]:
        """Give it the terminal, and the signals that are meant for this process, for as long as a block runs."""

        def pass_on(number: int, frame: FrameType | None) -> None:
            self.signal(number)

        before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
        terminal = sys.__stdin__ is not None and os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
        output = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else the terminal cannot be taken back
        try:
            if terminal:
                os.tcsetpgrp(0, self.pid)
            yield
        finally:
            if terminal:
                os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, output)
            for number, handler in before.items():
                signal.signal(number, handler)

    def close(self) -> None:
        """End what has not begun, and what is left of it."""
        os.close(self._go)
        os.close(self._failed)
        if self.code is None:
            self.signal(signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)


def _become(command: Sequence[str], go: int, failed: int) -> NoReturn:
    """Wait for the word, and become the command; in the child, where nothing of this program may go on."""
    try:
        os.setpgid(0, 0)
        if os.read(go, 1) != b"g":
            os._exit(1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them, and a command inherits that
        os.execvp(command[0], list(command))  # noqa: S606  (what the caller has asked for)
    except OSError as error:
        os.write(failed, str(error.errno or 0).encode())
    finally:
        os._exit(127)


def _failed(program: str, number: int) -> HandoffError:
    return cannot_start(program, OSError(number, os.strerror(number)))


def _adopt_orphans() -> None:
    """Have what the command leaves behind given to this process, so that its end is seen."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
