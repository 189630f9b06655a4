"""A process that ends a server with everything that it has started, should the relay itself be killed."""

import contextlib
import os
import signal


class Guard:
    """Waits for the end of this process; the kernel alone would end the server itself, and not what it has started."""

    def __init__(self, group: int) -> None:
        """Fork it.

        Args:
            group: The process group of the server.
        """
        waiting, self._here = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _guard(waiting, group)
        os.close(waiting)

    def close(self) -> None:
        """End it: the server has ended."""
        os.close(self._here)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _guard(waiting: int, group: int) -> None:
    """In the child, where nothing of this program may go on, and no other end of its may be kept open."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.dup2(waiting, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))
        os.read(0, 1)
        os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)
