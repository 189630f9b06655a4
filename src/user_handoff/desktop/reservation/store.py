"""The file of the ledger, shared by processes. Whatever is wrong with it closes the gate."""

import contextlib
import logging
import os
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import quote

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.schema import LEDGER, Schema, bring_up_to_date, complaint, make_tables
from user_handoff.desktop.state import private_folder

log = logging.getLogger(__name__)

_SIDE_FILES = ("-wal", "-shm")


def closed(why: str) -> HandoffError:
    """The refusal of everything, since the ledger cannot be trusted."""
    return make_error(
        ErrorCode.RESERVATION_CLOSED,
        f"The reservation ledger cannot be trusted: {why}.",
        holds="Every effect on this desktop is refused.",
        do_next="Stop the runner and end this display, and its browsers with it; the next one has a ledger of its own.",
    )


class Store:
    """A SQLite file (WAL, 0600), opened when first used, and looked at again before each use."""

    schema: ClassVar[Schema] = LEDGER
    busy_seconds: ClassVar[float] = 5.0
    """So long another process's transaction is waited for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._files: tuple[int, ...] = ()
        self._seen_epoch = 0

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    @classmethod
    def repair(cls, path: Path, reason: str, *, live_hosts: Iterable[ProcessIdentity]) -> tuple[Self, Path]:
        """Put an untrusted ledger aside and start an empty one. Every reservation in it ends.

        Args:
            path: The ledger's file.
            reason: Written to the log.
            live_hosts: The processes of the browser hosts that were ever recorded: none may live, for what a person
                holds would be let go.

        Returns:
            The new ledger, and where the old file was put.

        Raises:
            Held: `reservation_closed`: a browser host lives.
        """
        if any(host.alive() for host in live_hosts):
            raise closed("a browser host still lives, so it was not repaired")
        aside = path.with_name(f"{path.name}.broken-{time.time_ns()}")
        for end in ("", *_SIDE_FILES):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{end}").rename(f"{aside}{end}")
        _marker(path).unlink(missing_ok=True)
        log.warning("the reservation ledger was put aside as %s: %s", aside.name, reason)
        ledger = cls(path)
        with ledger._reading():
            return ledger, aside

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that excludes other writers; undone where the block raises."""
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to a file that is still the same and in order; each statement is its own transaction."""
        with self._lock:
            try:
                yield self._checked()
            except (sqlite3.Error, OSError) as error:
                self.close()
                raise closed(str(error)) from error

    def _checked(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._open()
        elif self._stat() != self._files:
            self.close()  # replaced under us: what was admitted before is void, and the new one is looked at anew
            raise closed("its file was replaced or removed")
        return self._connection

    def _open(self) -> sqlite3.Connection:
        if not _marker(self.path).exists():
            _create(self.path, self.schema)
        found = self.path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            raise closed("it is not a file of this user")
        connection = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode=rw",
            uri=True,
            timeout=self.busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            bring_up_to_date(connection)
            why = complaint(connection, self.schema)
            if why:
                raise closed(why)
            self._files = self._stat()
        except BaseException:
            connection.close()
            raise
        return connection

    def _stat(self) -> tuple[int, ...]:
        """Which files these are: one that was replaced would be two ledgers."""
        return tuple(os.lstat(f"{self.path}{end}").st_ino for end in ("", *_SIDE_FILES))

    def _epoch_in(self, connection: sqlite3.Connection) -> int:
        """The epoch; it never goes back, unless an older file was put in place."""
        row = connection.execute("SELECT epoch FROM state").fetchone()
        if row is None or type(row[0]) is not int or row[0] < self._seen_epoch:
            self.close()
            raise closed("its epoch went back")
        self._saw(row[0])
        return self._seen_epoch

    def _saw(self, epoch: int) -> None:
        self._seen_epoch = max(self._seen_epoch, epoch)


def _marker(path: Path) -> Path:
    """Tells a ledger that was never made from one that is missing."""
    return path.with_name(f"{path.name}.made")


def _create(path: Path, schema: Schema) -> None:
    """Make the file whole or not at all; another process may do the same at this moment."""
    private_folder(path.parent)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".ledger-") as folder:
        fresh = Path(folder) / "ledger"
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
            make_tables(connection, schema)
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
    _marker(path).touch(mode=0o600)
