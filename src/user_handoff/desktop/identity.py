"""The identity of a process: its pid alone may have been given to another."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

_TOLERANCE_SECONDS = 0.005
"""Two readings of one process's start time differ by less than this."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process, named so that a reused pid is not mistaken for it.

    Attributes:
        pid: The process id.
        started: Its start time in seconds, on a clock that nobody can set: on Linux since the machine's boot,
            elsewhere as the system tells it.
    """

    pid: int
    started: float

    @classmethod
    def current(cls) -> "ProcessIdentity":
        """This process."""
        return cls.of(os.getpid())

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity":
        """The process that has this pid now.

        Raises:
            psutil.NoSuchProcess: There is none.
        """
        return cls(pid, _started(pid))

    def alive(self) -> bool:
        """True while exactly this process runs; a zombie does not."""
        try:
            if psutil.Process(self.pid).status() == psutil.STATUS_ZOMBIE:
                return False
            return abs(_started(self.pid) - self.started) < _TOLERANCE_SECONDS
        except psutil.NoSuchProcess:
            return False


def _started(pid: int) -> float:
    if not sys.platform.startswith("linux"):
        return float(psutil.Process(pid).create_time())
    # psutil adds the boot time, which moves whenever the wall clock is set; the kernel's own count does not (proc(5)).
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        raise psutil.NoSuchProcess(pid) from None
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")
