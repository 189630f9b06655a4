"""What a browser host is told, and what it leaves behind to be found by."""

import dataclasses
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import write_private

RECORD_NAME = "host.json"
LOG_NAME = "host.log"
END_NAME = "ended"


class HostEnd(StrEnum):
    """Why a host ended; left in the browser's folder, since whoever wants to know may start later."""

    CLOSED = "closed"
    """Its runner asked."""
    LIFETIME = "lifetime"
    SHUTDOWN = "shutdown"
    """A signal asked."""
    WINDOW_CLOSED = "window_closed"
    """The browser ended by itself, in order: somebody closed its last window."""
    CRASHED = "crashed"

    def write(self, folder: Path) -> None:
        """Leave it in the browser's folder."""
        write_private(folder / END_NAME, self.encode())

    @classmethod
    def read(cls, folder: Path) -> "HostEnd":
        """What was left; a host that could leave nothing was killed."""
        try:
            return cls((folder / END_NAME).read_text())
        except (OSError, ValueError):
            return cls.CRASHED


@dataclass(frozen=True)
class HostSpec:
    """How to start one browser.

    Attributes:
        browser_id: The browser's id.
        folder: The browser's own folder, 0700: profile/, downloads/, artifacts/, host.json, host.log.
        socket: The Unix socket to listen on, in a 0700 folder; a path of at most 100 bytes.
        display: The X display, such as ``:7``.
        xauthority: The file with the display's cookie; None leaves the environment's.
        executable: The Chromium to run.
        sandbox: False switches Chromium's sandbox off: for root only.
        window_class: The X class of every window of this browser; no page can change it.
        width: The first window's width, pixels.
        height: The first window's height, pixels.
        visible: False starts it without a window.
        persistent: False removes the profile when the browser ends.
        lifetime_seconds: When the host closes the browser, by its own monotonic clock.
        ledger: The desktop's ledger: it says whether a window may be brought to the front; None: nothing stands against
            that.
    """

    browser_id: str
    folder: Path
    socket: Path
    display: str
    xauthority: Path | None
    executable: Path
    sandbox: bool
    window_class: str
    lifetime_seconds: float
    width: int = 1200
    height: int = 760
    visible: bool = True
    persistent: bool = True
    ledger: Path | None = None

    @property
    def doors(self) -> Path:
        """The Unix socket for agents: another one, so that it alone can be given to them."""
        return self.socket.with_suffix(".door")

    @property
    def uploads(self) -> Path:
        """The one folder of which agents may give files to a page."""
        return self.folder / "uploads"

    @property
    def profile(self) -> Path:
        """Chromium's user data folder; it stays when the browser ends."""
        return self.folder / "profile"

    @property
    def downloads(self) -> Path:
        """Where Chromium puts what is downloaded, each file under its GUID."""
        return self.folder / "downloads"

    @property
    def artifacts(self) -> Path:
        """Where finished downloads are linked for the runner's Playwright (its `artifacts_dir`)."""
        return artifacts_folder(self.folder)

    def to_json(self) -> str:
        """The form in which the spec travels through the host's standard input."""
        return json.dumps({k: str(v) if isinstance(v, Path) else v for k, v in dataclasses.asdict(self).items()})

    @classmethod
    def from_json(cls, text: str) -> "HostSpec":
        """Read a spec back.

        Raises:
            TypeError, ValueError: It is not a spec.
        """
        data: dict[str, Any] = json.loads(text)
        for name in ("folder", "socket", "executable", "xauthority", "ledger"):
            data[name] = None if data[name] is None else Path(data[name])
        return cls(**data)


@dataclass(frozen=True)
class HostRecord:
    """A browser host that was started. It holds no secret.

    Attributes:
        browser_id: The browser's id.
        host: The host process.
        browser: Chromium's main process.
        socket: Where the host listens.
        started: When the browser was ready, seconds since the epoch.
    """

    browser_id: str
    host: ProcessIdentity
    browser: ProcessIdentity
    socket: Path
    started: float

    def alive(self) -> bool:
        """True while exactly this host and exactly this browser run."""
        return self.host.alive() and self.browser.alive()

    def to_dict(self) -> dict[str, Any]:
        """The form in which a record is written and sent."""
        return {**dataclasses.asdict(self), "socket": str(self.socket)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "HostRecord":
        """Read a record back.

        Raises:
            KeyError, TypeError, ValueError: It is not a record.
        """
        return cls(
            browser_id=str(data["browser_id"]),
            host=ProcessIdentity(**data["host"]),
            browser=ProcessIdentity(**data["browser"]),
            socket=Path(data["socket"]),
            started=float(data["started"]),
        )

    def write(self, folder: Path) -> None:
        """Write the record into the browser's folder, 0600 and whole."""
        write_private(folder / RECORD_NAME, json.dumps(self.to_dict()).encode())

    @classmethod
    def read(cls, folder: Path) -> "HostRecord":
        """Read the record of a browser's folder.

        Raises:
            OSError, KeyError, TypeError, ValueError: There is none, or it is damaged.
        """
        return cls.from_dict(json.loads((folder / RECORD_NAME).read_bytes()))


def artifacts_folder(folder: Path) -> Path:
    """The folder to name as `artifacts_dir` in `connect_over_cdp`, so that `download.save_as` finds the files."""
    return folder / "artifacts"
