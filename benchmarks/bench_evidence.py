"""What evidence costs an effect: the ledger's part of one with every record kept, and without, in turns."""

import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.numbers import Times
from user_handoff.desktop.evidence.effects import EffectNotes
from user_handoff.desktop.evidence.noting import Unnoted
from user_handoff.desktop.evidence.store import Evidence
from user_handoff.desktop.evidence.verify import Verifier
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

COUNT = 3_000
LIMITS: Final = {"added_us_p50": 200.0, "cpu_added_us": 500.0, "lost": 0.0}

_BLOCK = 25
_SECONDS = 30.0


def measure(count: int = COUNT) -> dict[str, float]:
    """Microseconds of an effect's journey through the ledger; both ways are taken in turns, on one ledger.

    `cpu_added_us` is what an effect costs the processor more, the thread that writes included.
    """
    cpu = {True: 0.0, False: 0.0}
    kept, unkept, note = Times(), Times(), Times()
    me = ProcessIdentity.current()
    with tempfile.TemporaryDirectory(prefix="evidence-") as folder:
        ledger = Ledger(Path(folder) / "ledger" / "ledger.db")
        evidence = Evidence(Path(folder) / "evidence", "d_1")
        for _ in range(count // _BLOCK):
            for times, notes in ((kept, EffectNotes(evidence)), (unkept, EffectNotes(Unnoted()))):
                began = time.process_time()
                for _ in range(_BLOCK):
                    with times.one():
                        _effect(ledger, notes, "e_1f0c2a3b4d5e6f70", me)
                evidence.wait_written(_SECONDS)
                cpu[times is kept] += time.process_time() - began
            for _ in range(_BLOCK):
                with note.one():
                    evidence.note("lease_taken", browser_id="b_1", about="handoff/b_1/s_1/m_1", viewer_id="v_1")
            evidence.wait_written(_SECONDS)
        lost = evidence.lost + (0 if evidence.wait_written(_SECONDS) else 1)
        evidence.close()
        verdict = Verifier(Path(folder) / "evidence").verify()
        ledger.close()
    count = len(kept.seconds)
    if not verdict.good or verdict.records != 3 * count:
        raise RuntimeError(f"{verdict.records} records of {3 * count}: {verdict.problem}")
    named = {"effect_kept": kept, "effect_unkept": unkept, "note": note}
    found = {
        f"{name}_us_p{percent}": times.microseconds(percent) for name, times in named.items() for percent in (50, 99)
    }
    added = round(found["effect_kept_us_p50"] - found["effect_unkept_us_p50"], 1)
    cpu_added = round((cpu[True] - cpu[False]) / count * 1e6, 1)
    return found | {
        "added_us_p50": added,
        "cpu_added_us": cpu_added,
        "lost": lost + verdict.lost,
        "records": verdict.records,
        "count": count,
    }


def _effect(ledger: Ledger, notes: EffectNotes, effect_id: str, me: ProcessIdentity) -> None:
    with notes.one(effect_id, "Click", "b_1"):
        permit = ledger.acquire("page", "b_1", effect_id, me)
        permit.recheck()
        notes.admitted(effect_id, "Click", "b_1")
        ledger.release(permit)
