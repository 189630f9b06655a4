"""The one way to an effect."""

import asyncio
from pathlib import Path

import pytest

from user_handoff.contract.errors import Held
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.ledger import Ledger

ME = ProcessIdentity.current()


async def test_the_permit_is_there_while_the_effect_runs_and_gone_afterwards(ledger: Ledger) -> None:
    async with Gate(ledger).effect("page", "b1", "e1") as permit:
        permit.recheck()
        assert [(row.effect_id, row.owner) for row in ledger.permits()] == [("e1", ME)]
    assert ledger.permits() == []


async def test_an_effect_that_fails_leaves_no_permit(ledger: Ledger) -> None:
    with pytest.raises(RuntimeError):
        async with Gate(ledger).effect("native", None, "e1"):
            raise RuntimeError
    assert ledger.permits() == []


async def test_a_cancelled_effect_leaves_no_permit(ledger: Ledger) -> None:
    entered = asyncio.Event()

    async def effect() -> None:
        async with Gate(ledger).effect("page", "b1", "e1"):
            entered.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(effect())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ledger.permits() == []


async def test_a_hold_between_admission_and_dispatch_stops_the_effect(ledger: Ledger) -> None:
    """K07, F1: a person can pre-empt an agent that waits for something."""
    sent = False
    with pytest.raises(Held):
        async with Gate(ledger).effect("page", "b1", "e1") as permit:
            ledger.publish("h1", "b1", "takeover", ME, "handoff/b1/s/m")
            permit.recheck()
            sent = True
    assert not sent
    await ledger.drain("h1", 0.5)


def missing(path: Path) -> None:
    path.unlink()


async def test_a_receipt_is_not_lost_where_the_permit_cannot_be_released(ledger: Ledger, path: Path) -> None:
    """The effect was done; what is left keeps a drain from ending."""
    async with Gate(ledger).effect("page", "b1", "e1"):
        missing(path)
