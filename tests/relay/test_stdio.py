"""A program, its server, and the gate between them."""

import asyncio
import contextlib
import threading
from pathlib import Path

import pytest

from tests.relay.conftest import BUSY, HANDOFF, LISTED, ME, Wire, error_of, held, make_desk
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.relay import stdio
from user_handoff.relay.tools import ToolList


def test_calls_pass_and_their_permits_end_with_their_answers(wire: Wire, ledger: Ledger) -> None:
    """E8."""
    assert wire.called(1, "act")["result"]["content"][0]["text"] == "act"
    assert ledger.permits() == []
    assert wire.end() == 0


def test_while_held_an_effect_is_answered_busy_and_never_reaches_the_server(wire: Wire, ledger: Ledger) -> None:
    """E8, E7, A10, K01: whatever the tool is called."""
    with held(ledger, "b_2"):
        refused = wire.called(7, "act")
    assert error_of(refused) == (BUSY, "desktop_held")
    data = refused["error"]["data"]
    assert (refused["id"], data["outcome"], data["handoff_id"]) == (7, "not_started", HANDOFF)
    assert data["do_next"]
    assert wire.called(8, "act")["id"] == 8
    assert wire.journal() == ["act"]


async def test_a_begin_waits_for_a_call_in_flight(wire: Wire, ledger: Ledger, tmp_path: Path) -> None:
    """E8, E2, K11."""
    wire.tool(1, "act", until="over")
    await until(lambda: wire.journal() == ["act"])
    assert [row.scope for row in ledger.permits()] == ["native"]
    ledger.publish("h_1", "b_1", "handoff", ME, HANDOFF)
    with pytest.raises(HandoffError) as refused:
        await ledger.drain("h_1", 0.05)
    assert refused.value.code is ErrorCode.DRAIN_TIMEOUT
    (tmp_path / "over").touch()
    await ledger.drain("h_1", 5)
    assert wire.next()["id"] == 1
    ledger.withdraw("h_1")


async def test_no_call_reaches_the_server_while_a_hold_stands(wire: Wire, ledger: Ledger) -> None:
    """E8, A11, E2: a client in a tight loop against one hold after the other."""
    over = threading.Event()

    def hammer() -> int:
        refused, number = 0, 0
        while not over.is_set():
            number += 1
            refused += "error" in wire.called(number, "act")
        return refused

    hammering = asyncio.create_task(asyncio.to_thread(hammer))
    reached = 0
    for _ in range(40):
        before = len(wire.journal())
        await until(lambda before=before: len(wire.journal()) > before)  # type: ignore[misc]
        ledger.publish("h_1", "b_1", "handoff", ME, HANDOFF)
        await ledger.drain("h_1", 5)
        before = len(wire.journal())
        for _ in range(20):
            await asyncio.sleep(0)
            reached += len(wire.journal()) - before
        ledger.withdraw("h_1")
    over.set()
    assert await hammering
    assert reached == 0


async def test_a_call_that_waits_for_its_turn_is_checked_again_before_it_is_written(
    state: Path, ledger: Ledger, tmp_path: Path
) -> None:
    """K07, E8: it was let in, waited while another one was written, and control was taken meanwhile."""
    with contextlib.closing(Wire(state, tmp_path)) as wire:
        wire.tool(1, "act", until="over")
        await until(lambda: wire.journal() == ["act"])
        wire.tool(2, "act", fill="x" * 1_000_000)  # the server does not read it now, and no pipe holds it
        await until(lambda: len(ledger.permits()) == 2)
        wire.tool(3, "act")
        await until(lambda: wire.relay._door.in_flight == 3)
        with held(ledger):
            (tmp_path / "over").touch()
            answers = [wire.next() for _ in range(3)]
        assert {answer["id"] for answer in answers if "result" in answer} == {1, 2}
        assert [error_of(answer) for answer in answers if "error" in answer] == [(BUSY, "desktop_held")]
        assert wire.journal() == ["act", "act"]


def test_reading_is_refused_while_held_since_nothing_is_withheld_in_it(
    state: Path, ledger: Ledger, tmp_path: Path
) -> None:
    """E8, K01: what shows nothing of a page passes."""
    with contextlib.closing(Wire(state, tmp_path, tools=LISTED)) as wire, held(ledger):
        assert error_of(wire.called(1, "look")) == (BUSY, "desktop_held")
        assert wire.called(2, "safe")["result"]
        wire.send("resources/read", 3, uri="page://1")
        assert error_of(wire.next()) == (BUSY, "desktop_held")
        wire.send("tools/list", 4)
        assert wire.next()["result"]["tools"]
        assert wire.journal() == ["safe"]


async def test_what_was_seen_across_a_change_of_control_is_thrown_away(
    state: Path, ledger: Ledger, tmp_path: Path
) -> None:
    """F2, E8: also where control was taken and given back."""
    with contextlib.closing(Wire(state, tmp_path, tools=LISTED)) as wire:
        for number, name in enumerate(("look", "safe")):
            wire.tool(number, name, until=f"over{number}")
            await until(lambda number=number: len(wire.journal()) == number + 1)  # type: ignore[misc]
            assert ledger.permits() == []
            with held(ledger):
                pass
            (tmp_path / f"over{number}").touch()
            answer = wire.next()
            assert error_of(answer) == (BUSY, "observation_discarded")
            assert "result" not in answer


def test_what_a_server_has_kept_is_not_shown_once_a_person_had_control(
    state: Path, ledger: Ledger, tmp_path: Path
) -> None:
    """E8: requests and messages of a page hold what was typed."""
    with contextlib.closing(Wire(state, tmp_path, tools=LISTED)) as wire:
        assert wire.called(1, "past")["result"]
        with held(ledger):
            pass
        assert error_of(wire.called(2, "past")) == (BUSY, "observation_discarded")
        assert wire.called(3, "look")["result"]
        assert wire.journal() == ["past", "look"]


def test_after_a_hold_nothing_is_done_before_a_look(state: Path, ledger: Ledger, tmp_path: Path) -> None:
    """E8: as everywhere."""
    with contextlib.closing(Wire(state, tmp_path, tools=LISTED)) as wire:
        assert wire.called(1, "act")["result"]
        with held(ledger):
            pass
        assert error_of(wire.called(2, "act")) == (BUSY, "snapshot_required")
        assert wire.called(3, "safe")["result"]
        assert error_of(wire.called(4, "act")) == (BUSY, "snapshot_required")
        assert wire.called(5, "look")["result"]
        assert wire.called(6, "act")["result"]
        assert wire.journal() == ["act", "safe", "look", "act"]
        assert ledger.permits() == []


def test_a_relay_of_one_browser_is_stopped_by_its_holds_alone(state: Path, ledger: Ledger, tmp_path: Path) -> None:
    """E8, E7: but for tools that the list says are native."""
    tools = ToolList(version=1, native=frozenset({"launch"}))
    with contextlib.closing(Wire(state, tmp_path, "b_1", tools)) as wire:
        with held(ledger, "b_2"):
            assert wire.called(1, "act")["result"]
            assert error_of(wire.called(2, "launch")) == (BUSY, "desktop_held")
        with held(ledger, "b_1"):
            assert error_of(wire.called(3, "act")) == (BUSY, "browser_held")


async def test_a_cancelled_call_keeps_its_permit_until_the_server_has_answered(
    wire: Wire, ledger: Ledger, tmp_path: Path
) -> None:
    """E8, E2."""
    wire.tool(1, "act", until="over")
    await until(lambda: wire.journal() == ["act"])
    wire.send("notifications/cancelled", requestId=1)
    wire.send("ping", 2)
    await until(lambda: wire.relay._door.in_flight == 2)
    assert len(ledger.permits()) == 1
    (tmp_path / "over").touch()
    assert wire.next()["id"] == 2
    assert ledger.permits() == []
    assert "notifications/cancelled" not in wire.journal("seen")


def test_an_effect_that_goes_on_after_its_answer_keeps_its_permit(wire: Wire, ledger: Ledger) -> None:
    """E2, E8."""
    assert wire.called(1, "goes_on")["result"]["taskId"] == "t1"
    assert len(ledger.permits()) == 1
    wire.send("tools/call", 2, name="act", task={"ttl": 1})
    assert error_of(wire.next()) == (-32600, "invalid_request")
    assert wire.end() == 0
    assert ledger.permits() == []


async def test_a_server_that_may_be_cut_off_ends_for_a_person(
    state: Path, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F1: the outcome of what it was asked for is unknown."""
    monkeypatch.setattr(stdio, "_CUT_AFTER_SECONDS", 0.2)
    with contextlib.closing(Wire(state, tmp_path, cut_off=True)) as wire:
        wire.tool(1, "act", until="never")
        await until(lambda: wire.journal() == ["act"])
        with held(ledger):
            await ledger.drain("h_1", 5)
            assert error_of(wire.next())[1] == "outcome_unknown"
        assert wire.end() == 128 + 15


def test_a_ledger_that_is_damaged_closes_the_gate(wire: Wire, ledger: Ledger) -> None:
    """E2, E8."""
    assert wire.called(1, "act")["result"]
    ledger.path.unlink()
    assert error_of(wire.called(2, "act")) == (BUSY, "reservation_closed")
    assert wire.journal() == ["act"]


def test_a_desktop_that_is_started_anew_has_its_own_gate(wire: Wire, state: Path, ledger: Ledger) -> None:
    """E8."""
    other = make_desk(state, desktop="d_2")
    with held(other):
        assert error_of(wire.called(1, "act")) == (BUSY, "desktop_held")
    other.close()
    make_desk(state, client="c_2", desktop="d_3").close()
    assert error_of(wire.called(2, "act")) == (-32600, "invalid_request")


def test_a_relay_of_an_unknown_browser_does_not_start(state: Path, ledger: Ledger, tmp_path: Path) -> None:
    """E8: nothing would ever stand against a wrong id."""
    ended = state / "desktop" / "browsers" / "b_2"
    ended.mkdir()
    for browser_id, code in (
        ("b_none", "unknown_browser"),
        ("../browsers/b_1", "unknown_browser"),
        ("", "unknown_browser"),
        ("b_2", "browser_gone"),
    ):
        with pytest.raises(HandoffError) as refused:
            Wire(state, tmp_path, browser_id)
        assert refused.value.code == code


def test_where_no_runner_was_no_relay_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E8."""
    monkeypatch.setattr(stdio, "_start", lambda command: pytest.fail("the server was started"))
    with pytest.raises(HandoffError) as refused:
        Wire(tmp_path, tmp_path)
    assert refused.value.code is ErrorCode.RUNNER_UNAVAILABLE
