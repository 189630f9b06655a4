"""Everything that a host has only for agents, and how its doors are opened and closed."""

import time
from pathlib import Path
from typing import Any

from user_handoff.desktop.host.agent_server import AgentServer
from user_handoff.desktop.host.doors import Door, Doors
from user_handoff.desktop.host.looks import Looks
from user_handoff.desktop.host.taint import Taint
from user_handoff.desktop.host.targets import Targets
from user_handoff.desktop.state import private_folder

Params = dict[str, Any]


class Entrance:
    """The doors of a browser, as the runner asks for them."""

    def __init__(
        self, doors: Doors, server: AgentServer, targets: Targets, looks: Looks, taint: Taint, uploads: Path
    ) -> None:
        self.looks = looks
        self.taint = taint
        self._doors = doors
        self._server = server
        self._targets = targets
        self._uploads = uploads

    async def open(self, params: Params) -> object:
        """Open a door: the first one starts everything that agents need."""
        private_folder(self._uploads)
        await self._targets.start()
        tcp = bool(params["tcp"])
        await self._server.listen(tcp=tcp)
        grant_id = params.get("grant_id")
        self._doors.open(
            str(params["door_id"]),
            str(params["sha256"]),
            str(params["name"]),
            tcp,
            float(params["expires_in_seconds"]),
            None if grant_id is None else str(grant_id),
        )
        return {
            "socket": str(self._server.path),
            "port": self._server.port if tcp else None,
            "uploads": str(self._uploads),
        }

    async def close(self, params: Params) -> object:
        """Close a door; False where there is none."""
        return self._doors.close(str(params["door_id"]), str(params.get("why", "closed")))

    async def keep(self, params: Params) -> object:
        """The grant of a door stands; False where there is no such door."""
        return self._doors.keep(str(params["door_id"]))

    async def list(self, params: Params) -> object:
        """The doors that are open."""
        return [self._view(door) for door in self._doors.all()]

    def _view(self, door: Door) -> object:
        return {
            "door_id": door.door_id,
            "name": door.name,
            "tcp": door.tcp,
            "grant_id": door.grant_id,
            "seconds_left": max(0.0, door.ends - time.monotonic()),
            "connected": len(self._doors.clients(door.door_id)),
        }
