"""The files of saved states: private, whole, bound to their owner and name, and read only while all of that holds."""

import base64
import binascii
import hashlib
import json
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from user_handoff.codec.sealing import Unsealable
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.states import VERSION, SavedState
from user_handoff.desktop.state import private_folder, write_private
from user_handoff.desktop.states.sealing import Sealer

MAX_BYTES: Final = 50_000_000
"""A larger state is neither written nor read."""

_FORMAT: Final = "user-handoff/saved-state"
_SUFFIX: Final = ".state"


@dataclass(frozen=True)
class Kept:
    """A saved state as it was read.

    Attributes:
        manifest: What may be said of it.
        content: Cookies and storage, as Playwright takes them: never to be shown.
    """

    manifest: SavedState
    content: dict[str, Any]


class StateFiles:
    """One file for each saved state, in a folder for each owner."""

    def __init__(self, folder: Path, sealer: Sealer, keep_seconds: float | None = None) -> None:
        """Use a folder.

        Args:
            folder: Made when missing (0700).
            sealer: Encrypts.
            keep_seconds: A state that was saved longer ago is as good as deleted; None: none is too old.
        """
        self._folder = private_folder(folder)
        self._sealer = sealer
        self._keep = keep_seconds

    @property
    def encrypts(self) -> bool:
        """Whether what is written from now on is encrypted."""
        return self._sealer.key_id is not None

    def write(self, owner: str, manifest: SavedState, content: dict[str, Any]) -> None:
        """Write a state in the place of the one of the same name, whole or not at all, and private at every moment.

        Raises:
            Refused: `state_unreadable`: it is too large to be kept.
            SetupError: `state_unwritable`.
        """
        plain = json.dumps(content, separators=(",", ":")).encode()
        header = {
            "format": _FORMAT,
            "version": VERSION,
            "owner": owner,
            "key_id": self._sealer.key_id,
            "manifest": manifest.model_dump(mode="json"),
        }
        body = self._sealer.seal(plain, _bound(header)) if self.encrypts else plain
        whole = {**header, "sha256": _digest(header, body), "body": base64.b64encode(body).decode()}
        written = json.dumps(whole).encode()
        if len(written) > MAX_BYTES:
            raise unreadable(f"is larger than the {MAX_BYTES // 1_000_000} MB that are kept of one", manifest.state_id)
        write_private(self._path(owner, manifest.state_id), written)

    def read(self, owner: str, state_id: str) -> Kept:
        """Read a state.

        Raises:
            Gone: `unknown_state`.
            Refused: `state_unreadable`, `not_owner` or `codec_key_unknown`: it is not used.
        """
        found = _parsed(_private_bytes(self._path(owner, state_id), state_id), state_id)
        if found.get("format") != _FORMAT or found.get("version") != VERSION:
            raise unreadable(f"is of another version than {VERSION}, or no saved state at all", state_id)
        try:
            header = {name: found[name] for name in ("format", "version", "owner", "key_id", "manifest")}
            body = base64.b64decode(found["body"], validate=True)
            manifest = SavedState.model_validate(found["manifest"])
            digest = str(found["sha256"])
        except (KeyError, TypeError, binascii.Error, ValidationError):
            raise _damaged(state_id) from None
        if digest != _digest(header, body) or manifest.state_id != state_id:
            raise _damaged(state_id)
        if header["owner"] != owner:
            raise make_error(
                ErrorCode.NOT_OWNER,
                "The saved state belongs to another principal.",
                holds="Nothing was opened.",
                do_next="Use one that you saved.",
                state_id=state_id,
            )
        if self._keep is not None and time.time() - manifest.saved_at.timestamp() > self._keep:
            raise _unknown(state_id)
        return Kept(manifest, _parsed(self._opened(header, body, state_id), state_id))

    def _opened(self, header: dict[str, Any], body: bytes, state_id: str) -> bytes:
        if header["key_id"] is None:
            return body
        try:
            return self._sealer.unseal(str(header["key_id"]), body, _bound(header))
        except Unsealable:
            raise unreadable("does not open with the key that it names", state_id) from None

    def _path(self, owner: str, state_id: str) -> Path:
        return private_folder(self._folder / owner_folder(owner)) / f"{state_id}{_SUFFIX}"


def owner_folder(owner: str) -> str:
    """The folder of an owner: names of one are no names of another."""
    return hashlib.sha256(owner.encode()).hexdigest()[:32]


def saved_files(folder: Path) -> list[Path]:
    """Every saved state in a folder of states, whoever owns it."""
    return [path for path in _files(folder) if path.name.endswith(_SUFFIX) and not path.name.startswith(".")]


def half_written(folder: Path) -> list[Path]:
    """What a write that was cut off has left in a folder of states."""
    return [path for path in _files(folder) if path.name.startswith(".")]


def _files(folder: Path) -> list[Path]:
    """The files of every owner; what a link leads to is none of them, since it is not the desktop's to delete."""
    owners = (
        [] if not folder.is_dir() else [each for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
    )
    return sorted(path for owner in owners for path in owner.iterdir() if path.is_symlink() or path.is_file())


def unreadable(why: str, state_id: str) -> HandoffError:
    """The refusal of a state that cannot be used."""
    return make_error(
        ErrorCode.STATE_UNREADABLE,
        f"The saved state {why}.",
        holds="It was not used.",
        do_next="Sign in anew and save it again.",
        state_id=state_id,
    )


def _damaged(state_id: str) -> HandoffError:
    return unreadable("is damaged or cut off", state_id)


def _unknown(state_id: str) -> HandoffError:
    return make_error(
        ErrorCode.UNKNOWN_STATE,
        "There is no saved state of that name, or it has been deleted by now.",
        holds="Nothing was opened.",
        do_next="Open a browser without it, have a person sign in, and save it again.",
        state_id=state_id,
    )


def _private_bytes(path: Path, state_id: str) -> bytes:
    """The content of a file that is a file, this user's, private, and not too large: all of the file that is read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise _unknown(state_id) from None
    except OSError as error:
        raise unreadable(f"cannot be opened ({error.strerror})", state_id) from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise unreadable("is no file of this user", state_id)
        if stat.S_IMODE(found.st_mode) & 0o077:
            raise unreadable("can be read or written by others", state_id)
        if found.st_size > MAX_BYTES:
            raise unreadable("is too large", state_id)
        return file.read()


def _parsed(content: bytes, state_id: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise _damaged(state_id) from None
    if not isinstance(found, dict):
        raise _damaged(state_id)
    return found


def _bound(header: dict[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def _digest(header: dict[str, Any], body: bytes) -> str:
    return hashlib.sha256(_bound(header) + b"\0" + body).hexdigest()
