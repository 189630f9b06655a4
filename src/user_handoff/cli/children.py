"""Child processes that never outlive this one, and that end in order."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LOG_BYTES = 5_000_000
"""A log longer than this is put aside (one older file is kept) when its process starts again."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def _tether(parent: int) -> Callable[[], None]:
    """What a child runs before its program: the kernel kills it when this process dies, however that happens."""

    def tether() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before the line above
                os._exit(1)

    return tether


def open_log(path: Path) -> int:
    """Open a private log file for appending and return its descriptor."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".1.log"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


async def spawn(
    command: Sequence[str], log: Path, env: Mapping[str, str] | None = None, *, fds: Sequence[int] = ()
) -> asyncio.subprocess.Process:
    """Start a child in a session of its own, so that a Ctrl-C reaches only its parent, which ends all in order.

    Args:
        command: Program and arguments.
        log: Where its output goes.
        env: Its whole environment; this process's own when None.
        fds: The descriptors of this process that it has, too.
    """
    output = open_log(log)
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            pass_fds=fds,
            start_new_session=True,
            umask=0o077,
            preexec_fn=_tether(os.getpid()),
        )
    finally:
        os.close(output)


async def end(process: asyncio.subprocess.Process, grace: float = 15) -> bool:
    """Ask a child to end, and kill it when it does not.

    Args:
        process: The child.
        grace: Seconds it has.

    Returns:
        True where it ended by itself.
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    try:
        await asyncio.wait_for(process.wait(), grace)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return False
    return True


def last_lines(log: Path, offset: int = 0, count: int = 5) -> str:
    """The last lines that were written to a log after an offset."""
    with contextlib.suppress(OSError), log.open("rb") as file:
        file.seek(max(offset, log.stat().st_size - 10_000))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-count:])
    return ""
