"""The state folder: private files that outlive a process. Secrets are in none of them."""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_state_path

from user_handoff.contract.errors import ErrorCode, SetupError

STATE_VARIABLE = "HANDOFF_STATE"
"""The environment variable that names another state folder."""

DESKTOP = "desktop"
"""The folder of the desktop within the state folder."""


def default_state_folder() -> Path:
    """The folder named by HANDOFF_STATE, else the user's own state folder."""
    named = os.environ.get(STATE_VARIABLE)
    return Path(named) if named else user_state_path("user-handoff")


def private_folder(path: Path) -> Path:
    """Make a folder that only this user can enter (0700), and return it.

    Raises:
        SetupError: `state_unwritable`: it cannot be made, is not a folder, or belongs to another user.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise PermissionError(f"{path} is not a folder of this user")
        if stat.S_IMODE(found.st_mode) != 0o700:
            path.chmod(0o700)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise SetupError(
            ErrorCode.STATE_UNWRITABLE,
            f"The state folder {path} cannot be used: {error.strerror or error}.",
            holds="Nothing was started.",
            do_next=f"Make it writable for this user alone, or name another with --state or {STATE_VARIABLE}.",
        ) from error
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only this user can read (0600), whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


@contextlib.contextmanager
def exclusive(path: Path, error: SetupError) -> Iterator[None]:
    """Hold an advisory lock on a file for as long as the block runs; the kernel drops it when the process dies.

    Args:
        path: The lock file; made when missing, never removed.
        error: Raised where another process holds the lock.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise error from None
        yield
    finally:
        os.close(handle)


def runtime_folder(desktop_id: str) -> Path:
    """A private folder for Unix sockets: their paths must stay under 104 characters, which a state folder may not."""
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    if 0 < len(session) <= 40 and Path(session).is_dir():
        root = Path(session) / "user-handoff"
    else:
        root = Path("/tmp") / f"user-handoff-{os.getuid()}"  # noqa: S108  (0700 and owner are checked)
    private_folder(root)
    return private_folder(root / desktop_id)
