"""How long a desktop keeps what has ended: profiles, downloads, pictures, saved states. What lives is not touched."""

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from user_handoff.contract.errors import ErrorCode, HandoffError, SetupError, make_error
from user_handoff.desktop.host.launch import find_hosts
from user_handoff.desktop.host.spec import END_NAME, RECORD_NAME, HostEnd
from user_handoff.desktop.state import exclusive, private_folder, write_private
from user_handoff.desktop.states.files import half_written, saved_files

log = logging.getLogger(__name__)

RECORD: Final = "retention.json"
"""What a runner leaves in the desktop's folder, so that `handoff status` can tell what holds."""

SWEEP_SECONDS: Final = 60.0
OWN_SECONDS: Final = 3_600.0
VARIABLES: Final = {
    "browsers": "HANDOFF_KEEP_BROWSERS",
    "downloads": "HANDOFF_KEEP_DOWNLOADS",
    "pictures": "HANDOFF_KEEP_PICTURES",
    "states": "HANDOFF_KEEP_STATES",
    "evidence": "HANDOFF_KEEP_EVIDENCE",
}
"""Which environment variable says how long each kind is kept."""

_STARTING_SECONDS: Final = 120.0
"""A folder that changed so recently may be that of a browser that is being started, or is ending."""

_HALF_WRITTEN_SECONDS: Final = 3_600.0
_DAY: Final = 86_400.0
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": _DAY}
_DURATION: Final = re.compile(r"(\d{1,6})([smhd])")
_FOREVER: Final = "forever"
_OF_A_BROWSER: Final = ("profile", "downloads", "artifacts", "host.log")


@dataclass(frozen=True, slots=True)
class Retention:
    """For how long each kind is kept, in seconds; None: for ever.

    Attributes:
        browsers: Profile, log and own downloads of a browser, after its end.
        downloads: What agents have downloaded, after it was written.
        pictures: Pictures of pages and of the desktop, after they were taken.
        states: Saved states, after they were saved last.
        evidence: What happened on the desktop, after it was noted.
    """

    browsers: float | None = 7 * _DAY
    downloads: float | None = 7 * _DAY
    pictures: float | None = _DAY
    states: float | None = 30 * _DAY
    evidence: float | None = 30 * _DAY

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> "Retention":
        """By `VARIABLES`: each is such as ``12h``, ``7d``, ``0s`` or ``forever``.

        Raises:
            Refused: `invalid_request`: one of them is no such time.
        """
        given = {name: environ.get(variable, "").strip() for name, variable in VARIABLES.items()}
        return cls(**{name: _seconds(name, text) for name, text in given.items() if text})

    def to_dict(self) -> dict[str, float | None]:
        """By kind."""
        return asdict(self)


def _seconds(name: str, text: str) -> float | None:
    if text == _FOREVER:
        return None
    match = _DURATION.fullmatch(text)
    if match is None:
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"{VARIABLES[name]} is no time such as 12h or 7d, and not {_FOREVER}.",
            holds="Nothing was started, and nothing was deleted.",
            do_next="Give a whole number and s, m, h or d.",
        )
    return int(match[1]) * _UNITS[match[2]]


class Sweeper:
    """Deletes what is kept no longer, at the start and every minute."""

    def __init__(
        self, folder: Path, rules: Retention, held: Callable[[], Iterable[str]], *also: Callable[[], object]
    ) -> None:
        """Use a desktop's folder.

        Args:
            folder: The desktop's.
            rules: How long.
            held: Tells the ids of the browsers that are held. Where that cannot be told nothing is deleted.
            also: What deletes by itself what is its own: at the start and every hour, since that may take a while.
        """
        self._also = also
        self._next_own = 0.0
        self._folder = folder
        self._rules = rules
        self._held = held

    @contextlib.asynccontextmanager
    async def sweeping(self) -> AsyncIterator[None]:
        """Sweep now, and every minute for as long as the block runs."""
        await self._once()
        task = asyncio.create_task(self._again())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _again(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await self._once()

    async def _once(self) -> None:
        try:
            held = frozenset(self._held())
            await asyncio.to_thread(self.sweep, held)
            if time.monotonic() >= self._next_own:
                self._next_own = time.monotonic() + OWN_SECONDS
                for own in self._also:
                    await asyncio.to_thread(own)
        except (OSError, HandoffError) as error:
            log.warning("what is kept no longer could not be deleted: %s", type(error).__name__)

    def sweep(self, held: Collection[str], now: float | None = None) -> dict[str, int]:
        """Delete what is due, and note that.

        Args:
            held: The ids of the browsers that are held.
            now: Seconds since the epoch; None: the clock's.

        Returns:
            How many of each kind were deleted.

        Raises:
            OSError: The folder cannot be written. What cannot be deleted is passed over.
        """
        now = time.time() if now is None else now
        living = find_hosts(self._folder / "browsers")
        needed = {*held, *(host.browser_id for host in living)}
        # what was made while a browser that lives was there may still be asked for by its agent
        since = min((host.started for host in living), default=now)
        deleted = {
            "browsers": self._browsers(needed, now),
            "downloads": _files(_plain(self._folder / "downloads"), self._rules.downloads, now, since),
            "pictures": _files(_plain(self._folder / "pictures"), self._rules.pictures, now, since),
            "states": _files(saved_files(self._folder / "states"), self._rules.states, now, now),
        }
        _files(half_written(self._folder / "states"), _HALF_WRITTEN_SECONDS, now, now)
        if any(deleted.values()):
            log.info("deleted, since kept long enough: %s", ", ".join(f"{n} {k}" for k, n in deleted.items() if n))
        record = {"rules": self._rules.to_dict(), "swept_at": now}
        write_private(private_folder(self._folder) / RECORD, json.dumps(record).encode())
        return deleted

    def _browsers(self, needed: set[str], now: float) -> int:
        keep = self._rules.browsers
        count = 0
        for folder in _folders(self._folder / "browsers"):
            if folder.name in needed or not _left(folder) or now - folder.stat().st_mtime < _STARTING_SECONDS:
                continue
            if _due(_ended(folder), keep, now, now):
                try:
                    count += _emptied(folder)
                except OSError as error:  # of one alone: what else is due goes all the same
                    log.warning("browser %s: could not be deleted: %s", folder.name, type(error).__name__)
        return count


def kept(folder: Path) -> dict[str, Any]:
    """What a desktop's folder keeps now, and for how long, as its runner said last.

    Args:
        folder: The desktop's.

    Returns:
        JSON: for each kind `count`, `keep_seconds` (null: for ever, or no runner has said), and `swept_at`.
    """
    said: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        said = json.loads((folder / RECORD).read_text())
    living = {host.browser_id for host in find_hosts(folder / "browsers")}
    counts = {
        "browsers": sum(1 for each in _folders(folder / "browsers") if each.name not in living and _left(each)),
        "downloads": len(_plain(folder / "downloads")),
        "pictures": len(_plain(folder / "pictures")),
        "states": len(saved_files(folder / "states")),
        "evidence": len(_plain(folder / "evidence" / "pictures")) + len(list((folder / "evidence").glob("*.jsonl"))),
    }
    rules = said.get("rules", {})
    found = {kind: {"count": count, "keep_seconds": rules.get(kind)} for kind, count in counts.items()}
    return {**found, "swept_at": said.get("swept_at")}


def _due(since: float, keep: float | None, now: float, before: float) -> bool:
    return keep is not None and since + keep <= now and since < before


def _files(paths: Iterable[Path], keep: float | None, now: float, before: float) -> int:
    count = 0
    for path in paths:
        try:
            if _due(path.lstat().st_mtime, keep, now, before):
                path.unlink()
                count += 1
        except FileNotFoundError:
            continue
        except OSError as error:  # of one alone: what else is due goes all the same
            log.warning("a file of %s could not be deleted: %s", path.parent.name, type(error).__name__)
    return count


def _plain(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.is_dir()] if folder.is_dir() else []


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.is_symlink()]


def _left(folder: Path) -> list[Path]:
    """What of a browser is still there; its folder and how it ended stay, so that its id is never used again."""
    return [folder / name for name in _OF_A_BROWSER if os.path.lexists(folder / name)]


def _ended(folder: Path) -> float:
    """When a browser ended. One whose host was killed has left nothing: its time begins when that is first seen."""
    with contextlib.suppress(FileNotFoundError):
        return (folder / END_NAME).stat().st_mtime
    HostEnd.CRASHED.write(folder)
    return time.time()


def _emptied(folder: Path) -> int:
    """Delete a profile, unless a host has it open after all."""
    busy = SetupError(ErrorCode.PROFILE_IN_USE, "The profile is in use.")
    try:
        with exclusive(folder / "profile.lock", busy):
            for path in _left(folder):
                # of a link the link: what it leads to is not the desktop's
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            (folder / RECORD_NAME).unlink(missing_ok=True)
    except SetupError:
        return 0
    return 1
