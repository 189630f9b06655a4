"""The watchdogs of a desktop's takeovers: started, missed, and heard."""

import asyncio
import logging
import subprocess
from pathlib import Path

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import private_folder
from user_handoff.desktop.takeover.watchdog import Watched, met, start_watchdog

log = logging.getLogger(__name__)


class Watching:
    """One watchdog a lease."""

    def __init__(self, folder: Path, leases: Path, display: Display) -> None:
        """Prepare.

        Args:
            folder: Where watchdogs leave word.
            leases: The file of leases.
            display: Where something may be pressed.
        """
        self._folder = private_folder(folder)
        self._leases = leases
        self._display = display if display.virtual else None
        self._me = ProcessIdentity.current()
        self._known: dict[str, asyncio.Task[ProcessIdentity | None]] = {}
        self._starting: set[asyncio.Task[ProcessIdentity | None]] = set()

    def start(self, subject: str, lease_id: str, until: float) -> None:
        """Start the watchdog of a lease.

        Raises:
            OSError: It cannot be started.
        """
        starter = start_watchdog(
            Watched(self._leases, subject, lease_id, until, self._me, self._record(lease_id), self._display)
        )
        task = self._known[lease_id] = asyncio.create_task(_met(starter))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def see_to(self, subject: str, lease_id: str, until: float) -> None:
        """Start another one where there is none, since it was killed or an earlier runner's is not known here."""
        known = self._known.get(lease_id)
        if known is not None and not known.done():
            return
        watchdog = None if known is None else known.result()
        if watchdog is not None and watchdog.alive():
            return
        if known is not None:
            log.warning("the watchdog of lease %s is gone: another is started", lease_id)
        try:
            self.start(subject, lease_id, until)
        except OSError as error:
            log.error("a watchdog could not be started: %s", type(error).__name__)

    def was_ended(self, lease_id: str) -> bool:
        """True where a watchdog ended this lease."""
        return self._record(lease_id).exists()

    def forget(self, lease_id: str) -> None:
        """The lease is over: its watchdog sees that and ends."""
        self._known.pop(lease_id, None)
        self._record(lease_id).unlink(missing_ok=True)

    async def aclose(self) -> None:
        """Wait for those that were just started; they go on without this process."""
        await asyncio.gather(*self._starting, return_exceptions=True)

    def _record(self, lease_id: str) -> Path:
        return self._folder / f"{lease_id}.json"


async def _met(starter: "subprocess.Popen[bytes]") -> ProcessIdentity | None:
    return await asyncio.to_thread(met, starter)
