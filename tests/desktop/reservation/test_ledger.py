"""Holders and permits."""

import asyncio
import subprocess
import sys

import pytest

from user_handoff.contract.errors import ErrorCode, Held, Refused
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Kind, Permit

ME = ProcessIdentity.current()

BOTH_SCOPES = pytest.mark.parametrize(("scope", "browser"), [("page", "b1"), ("native", None)])


def publish(ledger: Ledger, browser: str, holder: str = "h1", kind: Kind = "handoff") -> int:
    return ledger.publish(holder, browser, kind, ME, f"handoff/{browser}/s/m")


def page(ledger: Ledger, browser: str = "b1") -> Permit:
    return ledger.acquire("page", browser, "e1", ME)


def dead_process() -> ProcessIdentity:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = ProcessIdentity.of(process.pid)
    process.kill()
    process.communicate()
    return identity


def test_a_page_effect_on_a_held_browser_is_refused_and_names_the_handoff(ledger: Ledger) -> None:
    """A9, K01."""
    publish(ledger, "b1")
    with pytest.raises(Held) as error:
        page(ledger, "b1")
    assert error.value.code is ErrorCode.BROWSER_HELD
    assert error.value.details["handoff_id"] == "handoff/b1/s/m"
    assert ledger.permits() == []


def test_a_page_effect_on_another_browser_is_admitted(ledger: Ledger) -> None:
    publish(ledger, "b1")
    page(ledger, "b2").recheck()


def test_every_native_effect_is_refused_while_any_browser_is_held(ledger: Ledger) -> None:
    """A10: native input is shared by the whole desktop, also where it is aimed at another browser."""
    publish(ledger, "b1")
    for browser in (None, "b2"):
        with pytest.raises(Held) as error:
            ledger.acquire("native", browser, "e1", ME)
        assert error.value.code is ErrorCode.DESKTOP_HELD
        assert error.value.details["handoff_id"] == "handoff/b1/s/m"


def test_the_desktop_is_free_only_when_the_last_holder_ends(ledger: Ledger) -> None:
    """K82: several holds on one desktop."""
    publish(ledger, "b1", "h1")
    publish(ledger, "b2", "h2")
    ledger.withdraw("h1")
    page(ledger, "b1")
    with pytest.raises(Held):
        ledger.acquire("native", None, "e1", ME)
    ledger.withdraw("h2")
    ledger.acquire("native", None, "e1", ME)


@BOTH_SCOPES
def test_an_effect_that_was_admitted_before_the_hold_is_refused_at_its_recheck(
    ledger: Ledger, scope: str, browser: str | None
) -> None:
    """K07: it passed its check, waited, the takeover started, the wait ended."""
    permit = ledger.acquire(scope, browser, "e1", ME)  # type: ignore[arg-type]
    permit.recheck()
    publish(ledger, "b1", kind="takeover")
    with pytest.raises(Held):
        permit.recheck()


def test_a_hold_of_another_browser_leaves_an_admitted_page_effect_alone(ledger: Ledger) -> None:
    permit = page(ledger, "b2")
    publish(ledger, "b1")
    permit.recheck()


def test_a_permit_that_is_no_longer_in_the_ledger_is_worth_nothing(ledger: Ledger) -> None:
    permit = page(ledger)
    ledger.release(permit)
    with pytest.raises(Held) as error:
        permit.recheck()
    assert error.value.code is ErrorCode.RESERVATION_CLOSED


def test_every_change_of_control_raises_the_epoch(ledger: Ledger) -> None:
    """F1."""
    before = ledger.epoch()
    published = publish(ledger, "b1")
    ledger.withdraw("h1")
    assert before < published < ledger.epoch()


def test_publishing_and_withdrawing_again_change_nothing(ledger: Ledger) -> None:
    assert publish(ledger, "b1") == publish(ledger, "b1") == ledger.epoch()
    ledger.withdraw("h1")
    epoch = ledger.epoch()
    ledger.withdraw("h1")
    assert ledger.epoch() == epoch


def test_a_second_handoff_on_a_held_browser_is_refused(ledger: Ledger) -> None:
    """K13: the first is untouched."""
    publish(ledger, "b1", "h1")
    with pytest.raises(Refused) as error:
        publish(ledger, "b1", "h2")
    assert error.value.code is ErrorCode.HANDOFF_ACTIVE
    assert [row.holder_id for row in ledger.holders()] == ["h1"]


def test_a_person_may_take_over_a_browser_that_is_handed_over(ledger: Ledger) -> None:
    publish(ledger, "b1", "h1", "handoff")
    publish(ledger, "b1", "h2", "takeover")
    ledger.withdraw("h1")
    with pytest.raises(Held):
        page(ledger, "b1")


async def test_a_drain_ends_when_the_effects_in_flight_have(ledger: Ledger) -> None:
    """A11, K11: held is said only after they ended."""
    permits = [page(ledger, "b1"), ledger.acquire("native", None, "e2", ME)]
    page(ledger, "b2")  # of another browser: nobody waits for it
    publish(ledger, "b1")
    drained = asyncio.create_task(ledger.drain("h1", 5))
    for permit in permits:
        await asyncio.sleep(0)
        assert not drained.done()
        ledger.release(permit)
    await drained
    assert [row.browser_id for row in ledger.permits()] == ["b2"]


@BOTH_SCOPES
async def test_a_drain_that_runs_out_of_time_says_which_effects_are_left(
    ledger: Ledger, scope: str, browser: str | None
) -> None:
    """A11: begin fails; its caller withdraws, and nothing is left behind."""
    ledger.acquire(scope, browser, "e1", ME)  # type: ignore[arg-type]
    publish(ledger, "b1")
    with pytest.raises(Refused) as error:
        await ledger.drain("h1", 0.05)
    assert error.value.code is ErrorCode.DRAIN_TIMEOUT
    assert error.value.details["effect_ids"] == ["e1"]
    ledger.withdraw("h1")
    page(ledger, "b1")


async def test_a_drain_does_not_wait_for_a_dead_process(ledger: Ledger) -> None:
    """E2: a permit ends with its process, which is its pid and its start time."""
    ledger.acquire("page", "b1", "e1", dead_process())
    ledger.acquire("page", "b1", "e2", ProcessIdentity(ME.pid, ME.started - 100))
    publish(ledger, "b1")
    await ledger.drain("h1", 0.5)
    assert ledger.permits() == []


async def test_a_drain_of_a_withdrawn_holder_is_refused(ledger: Ledger) -> None:
    page(ledger, "b1")
    publish(ledger, "b1")
    drained = asyncio.create_task(ledger.drain("h1", 5))
    await asyncio.sleep(0)
    ledger.withdraw("h1")
    with pytest.raises(Refused) as error:
        await drained
    assert error.value.code is ErrorCode.NOT_HELD


def test_a_holder_outlives_the_process_that_published_it(ledger: Ledger) -> None:
    """F3: the browser stays paused when its runner dies."""
    ledger.publish("h1", "b1", "handoff", dead_process(), "handoff/b1/s/m")
    ledger.sweep()
    with pytest.raises(Held):
        page(ledger, "b1")


def test_sweeping_removes_permits_of_dead_processes_alone(ledger: Ledger) -> None:
    ledger.acquire("page", "b1", "dead", dead_process())
    page(ledger, "b1")
    assert ledger.sweep() == 1
    assert [row.effect_id for row in ledger.permits()] == ["e1"]


def test_a_page_effect_needs_its_browser(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="browser"):
        ledger.acquire("page", None, "e1", ME)
