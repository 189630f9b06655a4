"""What the reservation costs an effect: a permit is acquired, checked again, and released."""

import tempfile
from pathlib import Path

from benchmarks.numbers import Times
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

COUNT = 5_000


def measure(count: int = COUNT) -> dict[str, float]:
    """Microseconds of each step and of the whole, by one process that is alone on the ledger."""
    acquire, recheck, release, whole = Times(), Times(), Times(), Times()
    me = ProcessIdentity.current()
    with tempfile.TemporaryDirectory(prefix="permit-") as folder:
        ledger = Ledger(Path(folder) / "ledger" / "ledger.db")
        for _ in range(count):
            with whole.one():
                with acquire.one():
                    permit = ledger.acquire("page", "b1", "e1", me)
                with recheck.one():
                    permit.recheck()
                with release.one():
                    ledger.release(permit)
        ledger.close()
    named = {"acquire": acquire, "recheck": recheck, "release": release, "permit": whole}
    return {
        f"{name}_us_p{percent}": times.microseconds(percent) for name, times in named.items() for percent in (50, 99)
    } | {"count": count}
