"""The table of leases."""

from user_handoff.desktop.reservation.schema import Schema

LEASES = Schema(
    application_id=0x75686C31,
    version=1,
    tables=(
        """CREATE TABLE leases (
    subject TEXT PRIMARY KEY,
    lease_id TEXT NOT NULL,
    holder TEXT NOT NULL,
    about TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('view', 'takeover')),
    version INTEGER NOT NULL,
    boot TEXT NOT NULL,
    ttl REAL NOT NULL,
    expires REAL NOT NULL,
    deadline REAL NOT NULL
) STRICT""",
    ),
)
