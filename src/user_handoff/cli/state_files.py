"""What running parts leave in the state folder for others to read: who they are, and whether they are ready."""

import base64
import contextlib
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import DESKTOP as DESKTOP
from user_handoff.desktop.state import exclusive, private_folder, write_private

SECRET_VARIABLE = "HANDOFF_WEBHOOK_SECRET"  # noqa: S105  (a name)
"""The environment variable that holds the secret with which webhooks are signed."""

CODEC_ORIGINS_VARIABLE = "HANDOFF_CODEC_UI_ORIGINS"
"""The origins of the Temporal web UI that may ask the gateway to decode payloads, separated by commas."""

CODEC_TOKEN_VARIABLE = "HANDOFF_CODEC_TOKEN"  # noqa: S105  (a name)
"""What else they must show, as a bearer token."""


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none that can be read."""
    with contextlib.suppress(OSError, ValueError):
        value = json.loads(path.read_text())
        return value if isinstance(value, dict) else None
    return None


class Part:
    """A running part (``server``, ``runner`` ...) and its status file ``parts/NAME.json`` in the state folder."""

    def __init__(self, state: Path, name: str) -> None:
        self.name = name
        self.path = state / "parts" / f"{name}.json"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Be the only part of this name on the state folder; what ends the block with an error is written down.

        Raises:
            SetupError: `already_running` or `state_unwritable`.
        """
        private_folder(self.path.parent.parent)
        private_folder(self.path.parent)
        with exclusive(self.path.with_suffix(".lock"), self._taken()):
            self._write(status="starting")
            try:
                yield
            except HandoffError as error:
                self._write(status="failed", error=error.to_dict())
                raise
            except BaseException as error:
                self._write(status="failed", error=None, kind=type(error).__name__)
                raise
            self.path.unlink(missing_ok=True)

    def ready(self, **facts: Any) -> None:
        """Say that the part serves now."""
        self._write(status="ready", **facts)

    def status(self) -> dict[str, Any]:
        """What the part last wrote; ``{"status": "absent"}`` where its process is gone or never was."""
        found = read_json(self.path) or {"status": "absent"}
        if found["status"] in ("starting", "ready") and not _alive(found):
            return {"status": "absent"}
        return found

    def _taken(self) -> SetupError:
        pid = (read_json(self.path) or {}).get("pid", "unknown")
        return SetupError(
            ErrorCode.ALREADY_RUNNING,
            f"`handoff {self.name}` runs already on the state folder {self.path.parent.parent}, as process {pid}.",
            holds="The running one was left alone; nothing was started.",
            do_next="Use it, end it, or name another state folder with --state.",
            pid=pid,
        )

    def _write(self, **facts: Any) -> None:
        me = ProcessIdentity.current()
        content = {"pid": me.pid, "started": me.started, **facts}
        write_private(self.path, json.dumps(content, indent=2).encode())


def _alive(found: dict[str, Any]) -> bool:
    try:
        return ProcessIdentity(int(found["pid"]), float(found["started"])).alive()
    except (KeyError, TypeError, ValueError):
        return False


def webhook_secret(state: Path) -> str:
    """The secret that signs webhooks: from the environment, else from a 0600 file that is made at first use."""
    named = os.environ.get(SECRET_VARIABLE)
    return named or kept_secret(state, "webhook", lambda: f"whsec_{base64.b64encode(secrets.token_bytes(24)).decode()}")


def kept_secret(state: Path, name: str, make: Callable[[], str]) -> str:
    """A secret that is made once and kept in a 0600 file of the state folder."""
    path = private_folder(state) / f"{name}.secret"
    with exclusive(state / f"{name}.lock", _busy(state, name)):
        if not path.exists():
            write_private(path, f"{make()}\n".encode())
        return path.read_text().strip()


def codec_origins() -> tuple[str, ...]:
    """Who may ask the gateway to decode payloads; empty: nobody."""
    return tuple(o.strip() for o in os.environ.get(CODEC_ORIGINS_VARIABLE, "").split(",") if o.strip())


def _busy(state: Path, name: str) -> SetupError:
    return SetupError(
        ErrorCode.ALREADY_RUNNING,
        f"Another process is making the {name} secret in {state}.",
        holds="Nothing was started.",
        do_next="Start it again.",
    )
