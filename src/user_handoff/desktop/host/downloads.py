"""Downloads belong to the host: it names their folder once, and links each finished file to where its client looks."""

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.wire import Command, Incoming

logger = logging.getLogger(__name__)

_GUID = re.compile(r"[0-9a-zA-Z-]{1,64}\Z")


class Downloads:
    """The downloads of one browser."""

    def __init__(self, router: Router, folder: Path, artifacts: Path, private: Callable[[], bool]) -> None:
        """Take the parts.

        Args:
            router: Tells of downloads.
            folder: Where they are kept.
            artifacts: Where the runner looks for them.
            private: Tells whether a person has the browser: what they download is not shown to agents, also later.
        """
        self._router = router
        self._private = private
        self._persons: set[str] = set()
        self._folder = folder
        self._artifacts = artifacts
        self._asked: dict[CdpClient, Path] = {}
        router.hooks["Browser.downloadWillBegin"].append(self._on_event)
        router.hooks["Browser.downloadProgress"].append(self._on_event)

    async def start(self) -> None:
        """Take the downloads over.

        Raises:
            CdpError, BrowserEnded: The browser did not agree.
        """
        behavior = {"behavior": "allowAndName", "downloadPath": str(self._folder), "eventsEnabled": True}
        await self._router.call("Browser.setDownloadBehavior", behavior)

    def take(self, client: CdpClient, command: Command) -> bool:
        """True for a command that would take the downloads away: only the folder that it names is noted."""
        if command.method not in ("Browser.setDownloadBehavior", "Page.setDownloadBehavior"):
            return False
        path = command.params.get("downloadPath")
        if isinstance(path, str) and path:
            self._asked[client] = Path(path)
        return True

    def forget(self, client: CdpClient) -> None:
        """A client has gone."""
        self._asked.pop(client, None)

    def _on_event(self, event: Incoming, client: CdpClient | None) -> None:
        if event.session is not None:
            return
        params = event.parsed()["params"]
        if self._private() and event.method == "Browser.downloadWillBegin":
            self._persons.add(str(params.get("guid")))
        hidden = self._private() or str(params.get("guid")) in self._persons
        for each in self._router.clients:
            if isinstance(each, AgentClient) and (hidden or each not in self._asked):
                continue
            if params.get("state") == "completed":
                folder = self._asked.get(each, self._artifacts)
                self._link(str(params.get("guid")), folder, of_agent=isinstance(each, AgentClient))
            each.put(event.raw)

    def _link(self, guid: str, folder: Path, *, of_agent: bool) -> None:
        if not _GUID.match(guid):
            return
        try:
            with _opened(folder) as (handle, real):
                if of_agent and not _may_be_given_files(real):
                    logger.warning("a finished download was not linked: the folder is none for agents' files")
                    return
                with contextlib.suppress(FileExistsError):
                    os.link(self._folder / guid, guid, dst_dir_fd=handle)
        except (OSError, ValueError) as error:  # also a name that no file can have
            logger.warning("a finished download could not be linked: %s", type(error).__name__)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[tuple[int, Path]]:
    """A folder, and where it really is: no link can put another one in its place meanwhile."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield handle, Path(f"/proc/self/fd/{handle}").readlink()
    finally:
        os.close(handle)


def _may_be_given_files(folder: Path) -> bool:
    """True below the folder for temporary files or the user's own, where no program runs or reads what it finds."""
    if folder.is_relative_to(Path(tempfile.gettempdir()).resolve()):
        return True
    home = Path.home().resolve()
    return folder.is_relative_to(home) and not any(part.startswith(".") for part in folder.relative_to(home).parts)
