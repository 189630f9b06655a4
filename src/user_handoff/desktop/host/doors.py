"""Doors for agents: each a token of which only the hash is known here, a time, and who came by it."""

import asyncio
import hashlib
import logging
import re
import time
from dataclasses import dataclass, field

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.use import DoorUse

logger = logging.getLogger(__name__)

MAX_DOORS = 32
"""Doors of one browser that are open at once."""

UNCHECKED_SECONDS = 15.0
"""A door of a grant that nobody has seen to stand for so long is closed: its runner is gone, or cannot ask."""

_TOKEN = re.compile(r"/(?:agent/)?([A-Za-z0-9_-]{32,128})(/.*)?\Z")


@dataclass
class Door:
    """One door.

    Attributes:
        door_id: Its id.
        name: Who it is for, as it was said.
        sha256: The hash of its token.
        tcp: True where it opens on the loopback port too.
        ends: When it closes, by the monotonic clock.
        grant_id: The grant by which its program gets in; None: it needs none.
    """

    door_id: str
    name: str
    sha256: str
    tcp: bool
    ends: float
    grant_id: str | None = None
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)
    unchecked: asyncio.TimerHandle | None = field(default=None, repr=False)


class Doors:
    """The open doors of one browser. They live as long as its host."""

    def __init__(self, router: Router, used: DoorUse) -> None:
        self._router = router
        self._used = used
        self._doors: dict[str, Door] = {}

    def open(
        self, door_id: str, sha256: str, name: str, tcp: bool, seconds: float, grant_id: str | None = None
    ) -> Door:
        """Open a door; again under the same id and hash it is the same one. One of a grant is to be kept by `keep`.

        Raises:
            HandoffError: `invalid_request`: its id is taken, or there are too many.
        """
        known = self._doors.get(door_id)
        if known is not None and known.sha256 == sha256:
            return known
        if known is not None or len(self._doors) >= MAX_DOORS or not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"The door's id is taken, its hash is none, or {MAX_DOORS} doors are open.",
                holds="No door was opened.",
                do_next="Close one, or mint another id.",
            )
        door = Door(door_id, name, sha256, tcp, time.monotonic() + seconds, grant_id)
        door.timer = asyncio.get_running_loop().call_later(seconds, self.close, door_id, "expired")
        self._doors[door_id] = door
        self._used.opened(door_id, name)
        self.keep(door_id)
        logger.info("door %s opened for %.0f s", door_id, seconds)
        return door

    def keep(self, door_id: str) -> bool:
        """The grant of a door was seen to stand: it may stay open for a while; False where there is no such door."""
        door = self._doors.get(door_id)
        if door is None:
            return False
        if door.unchecked is not None:
            door.unchecked.cancel()
        if door.grant_id is not None:
            loop = asyncio.get_running_loop()
            door.unchecked = loop.call_later(UNCHECKED_SECONDS, self.close, door_id, "grant_unchecked")
        return True

    def close(self, door_id: str, why: str = "closed") -> bool:
        """Close a door, and cut off who came by it; False where there is none."""
        door = self._doors.pop(door_id, None)
        if door is None:
            return False
        for timer in (door.timer, door.unchecked):
            if timer is not None:
                timer.cancel()
        for client in self.clients(door_id):
            client.cut()
        self._used.closed(door_id, why)
        logger.info("door %s closed: %s", door_id, why)
        return True

    def close_all(self, why: str) -> None:
        """Close every door."""
        for door_id in list(self._doors):
            self.close(door_id, why)

    def all(self) -> list[Door]:
        """The doors that are open."""
        return list(self._doors.values())

    def clients(self, door_id: str) -> list[AgentClient]:
        """Who is connected by a door."""
        return [each for each in self._router.clients if isinstance(each, AgentClient) and each.door == door_id]

    def enter(self, path: str, *, tcp: bool) -> tuple[Door, str] | None:
        """The door of a request's path, and the path behind it; None where no door opens."""
        found = _TOKEN.match(path)
        if found is None:
            return None
        digest = hashlib.sha256(found[1].encode()).hexdigest()
        for door in self._doors.values():
            if door.sha256 == digest and (door.tcp or not tcp) and door.ends > time.monotonic():
                return door, (found[2] or "").rstrip("/")
        return None
