"""Tables, those of the ledger among them, and the check that a file has exactly them."""

import sqlite3
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file of ours is made of.

    Attributes:
        application_id: Marks it as such a file.
        version: Of its tables.
        tables: The statements that make them.
        epoch: True where a table `state` keeps an epoch.
    """

    application_id: int
    version: int
    tables: tuple[str, ...]
    epoch: bool = False


_REQUESTS = """CREATE TABLE requests (
    effect_id TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL
) STRICT"""
"""What was asked for under the id of an effect, as a digest. The first version of a ledger has it not."""

_TABLES = (
    """CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL CHECK (epoch > 0)
) STRICT""",
    """CREATE TABLE holders (
    holder_id TEXT PRIMARY KEY,
    browser_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('handoff', 'takeover')),
    handoff_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    epoch INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE permits (
    permit_id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL CHECK (scope IN ('page', 'native')),
    browser_id TEXT CHECK (browser_id IS NOT NULL OR scope = 'native'),
    effect_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    epoch INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE effects (
    effect_id TEXT PRIMARY KEY,
    browser_id TEXT,
    action TEXT NOT NULL,
    receipt TEXT,
    began REAL NOT NULL
) STRICT""",
    """CREATE TABLE completed (
    browser_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    PRIMARY KEY (browser_id, session_id, message_id)
) STRICT""",
    """CREATE TABLE holds (
    handoff_id TEXT PRIMARY KEY,
    record TEXT NOT NULL
) STRICT""",
)

LEDGER = Schema(application_id=0x75686F31, version=2, tables=(*_TABLES, _REQUESTS), epoch=True)


def make_tables(connection: sqlite3.Connection, schema: Schema) -> None:
    """Make an empty file. Its epochs start at the clock, so that they stay above those of one it replaces."""
    connection.execute(f"PRAGMA application_id = {schema.application_id}")
    connection.execute(f"PRAGMA user_version = {schema.version}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema.tables:
        connection.execute(statement)
    if schema.epoch:
        connection.execute("INSERT INTO state VALUES (1, ?)", (int(time.time() * 1000),))
    connection.execute("COMMIT")


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Give a ledger of the first version what this one has beside it. Its processes may go on with it.

    Of effects that were done before, no request is known: they are done, whatever is asked for under their ids.
    """

    def is_old() -> bool:
        found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        return found == [LEDGER.application_id, 1]

    if not is_old():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if is_old():  # another process may have done it by now
            connection.execute(_REQUESTS)
            connection.execute(f"PRAGMA user_version = {LEDGER.version}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def complaint(connection: sqlite3.Connection, schema: Schema) -> str | None:
    """Why this database cannot be trusted; None where it can."""

    def value(statement: str) -> object:
        row = connection.execute(statement).fetchone()
        return row[0] if row else None

    if value("PRAGMA application_id") != schema.application_id:
        return "it is not a ledger"
    if value("PRAGMA user_version") != schema.version:
        return "it was written by another version"
    if value("PRAGMA journal_mode") != "wal":
        return "its journal mode was changed"
    found = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
    if found != set(schema.tables):
        return "its tables are not those of a ledger"
    if value("PRAGMA quick_check(1)") != "ok":
        return "its contents are damaged"
    if schema.epoch and value("SELECT count(*) FROM state") != 1:
        return "it has no epoch"
    return None
