"""A connected CDP client, and the bounded queue of what it has yet to read."""

import asyncio
import collections
import logging
from collections import defaultdict

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed

from user_handoff.desktop.host.gestures import Gestures
from user_handoff.desktop.host.policy import Role
from user_handoff.desktop.host.wire import Command

logger = logging.getLogger(__name__)

QUEUE_BYTES = 32 << 20
"""A client that lets more than this wait is cut off."""

_LITTLE = 64 << 10
"""As long as no more waits to be sent, a message is sent at once."""


class CdpClient:
    """One client and what the host knows of its sessions.

    Attributes:
        name: For the log.
        role: What it may do.
        root: Its own browser-level session.
        sessions: Every session of its own, the root included.
        settings: By session and name, the command that holds a setting on.
        postponed: Settings that came in a hold and are sent at the release.
        gestures: By session, what is pressed.
        paused: Sessions of new targets that wait for the client to let them run.
    """

    def __init__(self, connection: ServerConnection, name: str, role: Role, root: str) -> None:
        self.name = name
        self.role = role
        self.root = root
        self.sessions: set[str] = set()
        self.settings: dict[tuple[str, str], Command] = {}
        self.postponed: list[tuple[str, Command]] = []
        self.gestures: defaultdict[str, Gestures] = defaultdict(Gestures)
        self.paused: set[str] = set()
        self._connection = connection
        self._queue: collections.deque[bytes] = collections.deque()
        self._queued = 0
        self._more = asyncio.Event()
        self._cut = False
        self._ending = False

    def put(self, message: bytes) -> None:
        """Send a message, at once where nothing waits.

        A client that does not read is cut off, so that it cannot fill the host's memory.
        """
        if self._cut:
            return
        if not self._queued and self._connection.transport.get_write_buffer_size() < _LITTLE:
            broadcast((self._connection,), message, text=True)
            return
        if self._queue and self._queued + len(message) > QUEUE_BYTES:
            logger.warning("client %s does not read: cut off", self.name)
            self.cut()
            return
        self._queue.append(message)
        self._queued += len(message)
        self._more.set()

    @property
    def is_cut(self) -> bool:
        """True once the connection is broken: what it had sent before counts no more."""
        return self._cut

    def cut(self) -> None:
        """Break the connection."""
        self._cut = True
        self._queue.clear()
        self._connection.transport.abort()

    def end(self) -> None:
        """Say good-bye, once everything that is queued was read."""
        self._ending = True
        self._more.set()

    async def write(self) -> None:
        """Send what is queued until the connection ends or the task is cancelled."""
        try:
            while True:
                while self._queue:
                    message = self._queue.popleft()
                    await self._connection.send(message, text=True)
                    self._queued -= len(message)
                if self._ending:
                    await self._connection.close()
                    return
                self._more.clear()
                await self._more.wait()
        except ConnectionClosed:
            return

    def forget(self, session: str) -> None:
        """Forget a session that has ended."""
        self.sessions.discard(session)
        self.gestures.pop(session, None)
        self.paused.discard(session)
        self.postponed = [entry for entry in self.postponed if entry[0] != session]
        for key in [key for key in self.settings if key[0] == session]:
            del self.settings[key]
