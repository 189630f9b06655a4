"""A process that does effects as fast as it can: each one goes into a file for as long as it lasts.

Usage: racer.py LEDGER FOLDER SCOPE. Prints a line when it has begun, and how many were refused when stdin closes.
"""

import os
import select
import sys
from pathlib import Path

from user_handoff.contract.errors import Held
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

ledger, folder, scope = Ledger(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3]
me = ProcessIdentity.current()
running = folder / str(os.getpid())
refused = done = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    try:
        permit = ledger.acquire(scope, "b1" if scope == "page" else None, "e", me)  # type: ignore[arg-type]
    except Held:
        refused += 1
        continue
    try:
        permit.recheck()
        running.touch()  # the effect: from its dispatch to its end
        running.unlink()
        done += 1
    except Held:
        refused += 1
    finally:
        ledger.release(permit)
    if done == 1:
        print("begun", flush=True)
print(refused, flush=True)
