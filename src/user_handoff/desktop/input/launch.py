"""Starting a program on the desktop: only what this runner's own list allows, and never through a shell."""

import logging
import shutil
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.host.chromium import inherited_environment

log = logging.getLogger(__name__)


class Launcher:
    """Starts programs that go on by themselves, in sessions of their own."""

    def __init__(self, display: Display, allowed: Iterable[str]) -> None:
        """Find the programs that are allowed.

        Args:
            display: Where they are shown.
            allowed: Their names or absolute paths; none by default.
        """
        self._display = display
        self._allowed = {path for name in allowed if (path := _find(name))}

    def program(self, argv: tuple[str, ...]) -> str:
        """The path of the program that is asked for.

        Raises:
            Refused: `launch_refused`: it is not on the list, or is not there.
        """
        path = _find(argv[0])
        if path is None or path not in self._allowed:
            raise _refused(argv[0])
        return path

    def start(self, program: str, argv: tuple[str, ...]) -> int:
        """Start it, detached, and return its process id.

        Args:
            program: The path, as `program` returned it.
            argv: Name and arguments, as the program shall see them.

        Raises:
            Refused: `action_failed`: the system did not start it.
        """
        try:
            process = subprocess.Popen(
                argv,
                executable=program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={**inherited_environment(), **self._display.environment()},
            )
        except OSError as error:
            raise make_error(
                ErrorCode.ACTION_FAILED,
                f"{Path(program).name} could not be started: {error.strerror or 'unknown error'}.",
                holds="Nothing was started.",
                do_next="Have the runner's owner see that it can be run.",
            ) from error
        # it outlives this runner; while the runner lives, its end is taken in
        threading.Thread(target=process.wait, name=f"launched-{process.pid}", daemon=True).start()
        log.info("launched %s as process %d", program, process.pid)
        return process.pid


def _find(name: str) -> str | None:
    """An absolute path, or a bare name on PATH; a relative path names nothing certain."""
    if "/" in name and not name.startswith("/"):
        return None
    return shutil.which(name) if name else None


def _refused(name: str) -> HandoffError:
    return make_error(
        ErrorCode.LAUNCH_REFUSED,
        f"The program {Path(name).name[:40]!r} is not one that this desktop may launch.",
        holds="Nothing was started.",
        do_next="Have the runner's owner allow it (handoff runner --allow-launch PROGRAM).",
    )
