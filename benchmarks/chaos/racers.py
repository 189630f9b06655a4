"""The two kinds of processes that race: one does effects, the other holds the desktop for a person."""

import asyncio
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.tape import Tape
from user_handoff.contract.errors import Held, Refused
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Scope

_MOST_FAILED = 3


@dataclass(frozen=True)
class Lane:
    """What one process is given.

    Attributes:
        ledger: The class of the ledger.
        path: The ledger's file.
        tape: Where it writes what it does.
        scope: What its effects touch.
        browser_id: The browser of its effects, or of its holds; None for native effects.
        drain_seconds: How long a hold may wait for the effects in flight.
    """

    ledger: type[Ledger]
    path: Path
    tape: Path
    scope: Scope
    browser_id: str | None
    drain_seconds: float


def do_effects(lane: Lane) -> None:
    """Do one effect after the other until told to stop: acquire, recheck, run, release."""
    ledger, tape = lane.ledger(lane.path), Tape(lane.tape)
    me, dice = ProcessIdentity.current(), random.Random(os.getpid())
    while not tape.stopped:
        try:
            permit = ledger.acquire(lane.scope, lane.browser_id, "e", me)
        except Held:
            tape.refuse()
            time.sleep(dice.uniform(0, 0.0005))
            continue
        tape.in_permit = True
        try:
            time.sleep(dice.choice((0, 0, 0.0002, 0.001)))  # what an effect waits for before it is dispatched
            permit.recheck()
            _run(tape, dice.randrange(20_000, 300_000))
        except Held:
            tape.refuse()
        finally:
            tape.in_permit = False
            ledger.release(permit)


def _run(tape: Tape, nanoseconds: int) -> None:
    tape.begin()
    while tape.go_on() < nanoseconds:
        pass


def do_holds(lane: Lane, rounds: int) -> None:
    """Hold a browser so many times: publish, drain, hold for a moment, withdraw."""
    asyncio.run(_hold_all(lane, rounds))


async def _hold_all(lane: Lane, rounds: int) -> None:
    ledger, tape = lane.ledger(lane.path), Tape(lane.tape)
    assert lane.browser_id
    number = 0
    while tape.count < rounds and not tape.stopped:
        number += 1
        holder = f"{lane.browser_id}.{number}"
        await _hold(ledger, tape, holder, lane)
        if tape.failed >= _MOST_FAILED:
            return


async def _hold(ledger: Ledger, tape: Tape, holder: str, lane: Lane) -> None:
    dice, browser_id = random.Random(), lane.browser_id or ""
    ledger.publish(holder, browser_id, "handoff", ProcessIdentity.current(), f"handoff/{browser_id}/s/{holder}")
    try:
        if any(row.scope == "native" or row.browser_id == browser_id for row in ledger.permits()):
            tape.contend()
        await ledger.drain(holder, lane.drain_seconds)
        tape.begin()
        await asyncio.sleep(dice.uniform(0, 0.0006))
        tape.go_on()
    except Refused:
        tape.fail()
    finally:
        ledger.withdraw(holder)
    await asyncio.sleep(dice.uniform(0, 0.002))
