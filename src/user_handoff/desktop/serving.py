"""Which desktop a state folder is about, written down by its runner for programs that share its gate."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import ID_PATTERN
from user_handoff.desktop.reservation.store import closed
from user_handoff.desktop.state import write_private

FILE = "serving.json"


@dataclass(frozen=True, slots=True)
class Serving:
    """The desktop that was served last; what a person holds of it stands, also while no runner lives.

    Attributes:
        client_id: The machine's name.
        desktop_id: This life of its display: the ledger is named after it.
    """

    client_id: str
    desktop_id: str

    def ledger(self, folder: Path) -> Path:
        """Its ledger, in the desktop's folder."""
        return folder / f"{self.desktop_id}.ledger.db"


def write_serving(folder: Path, serving: Serving) -> None:
    """Write it down, whole or not at all."""
    content = {"client_id": serving.client_id, "desktop_id": serving.desktop_id}
    write_private(folder / FILE, json.dumps(content).encode())


def read_serving(folder: Path) -> Serving:
    """What was written down.

    Raises:
        Refused: `runner_unavailable`: no runner has served a desktop from this folder.
        Held: `reservation_closed`: it cannot be understood.
    """
    try:
        content = json.loads((folder / FILE).read_bytes())
        found = Serving(content["client_id"], content["desktop_id"])
        if not all(re.match(ID_PATTERN, text) for text in (found.client_id, found.desktop_id)):
            raise ValueError("not ids")
    except FileNotFoundError:
        raise _never_served(folder) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise closed("which desktop it is of cannot be understood") from None
    return found


def _never_served(folder: Path) -> HandoffError:
    return make_error(
        ErrorCode.RUNNER_UNAVAILABLE,
        f"No runner has served a desktop from the state folder {folder.parent}.",
        holds="Nothing was started.",
        do_next="Start `handoff up` or `handoff runner` first, or name its state folder with --state.",
    )
