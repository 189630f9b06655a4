"""What is written down of a virtual display, so that the next runner finds it."""

import json
from dataclasses import dataclass
from pathlib import Path

from user_handoff.desktop.display.display import Display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import write_private

RECORD = "display.json"
COOKIE = "Xauthority"
LOG = "keeper.log"
WANTED = "wanted"
"""Touched by whoever needs the display; its keeper watches the time stamp."""


@dataclass(frozen=True, slots=True)
class Record:
    """A virtual display that was started.

    Attributes:
        name: Such as ``:7``.
        keeper: The process that keeps it.
        server: Its X server, a child of the keeper.
        rfb_socket: Where it serves its picture.
    """

    name: str
    keeper: ProcessIdentity
    server: ProcessIdentity
    rfb_socket: Path

    def display(self, folder: Path) -> Display:
        """The display, with its cookie file in this folder."""
        return Display(self.name, folder / COOKIE, virtual=True, keeper=self.keeper, rfb_socket=self.rfb_socket)


def write_record(folder: Path, record: Record) -> None:
    """Write the record, whole or not at all."""
    content = {
        "name": record.name,
        "keeper": [record.keeper.pid, record.keeper.started],
        "server": [record.server.pid, record.server.started],
        "rfb_socket": str(record.rfb_socket),
    }
    write_private(folder / RECORD, json.dumps(content).encode())


def read_record(folder: Path) -> Record | None:
    """The record in this folder; None where there is none that can be read."""
    try:
        content = json.loads((folder / RECORD).read_bytes())
        return Record(
            name=str(content["name"]),
            keeper=_identity(content["keeper"]),
            server=_identity(content["server"]),
            rfb_socket=Path(content["rfb_socket"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _identity(pair: list[float]) -> ProcessIdentity:
    pid, started = pair
    return ProcessIdentity(int(pid), float(started))
