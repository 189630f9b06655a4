"""What a relay notes for the desktop's evidence."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.relay.conftest import HANDOFF, LISTED, Wire, error_of, held
from tests.waiting import until
from user_handoff.desktop.evidence.outside import FILE, OutsideNotes
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.relay import noting

CANARY = "kanarivogel"


class Noted:
    """The notes that wait for the runner."""

    def __init__(self, state: Path) -> None:
        self.file = OutsideNotes(state / "desktop" / FILE, "d_1")

    @property
    def all(self) -> list[Any]:
        return self.file.waiting(100)[0]

    def said(self, *facts: str) -> list[str]:
        """Each event with these facts of it."""
        return [" ".join([note.event, *(str(note.facts.get(each, "-")) for each in facts)]) for note in self.all]


@pytest.fixture
def noted(state: Path) -> Iterator[Noted]:
    noted = Noted(state)
    with contextlib.closing(noted.file):
        yield noted


def test_each_call_that_acts_is_noted_by_the_name_of_its_tool(
    wire: Wire, ledger: Ledger, noted: Noted, state: Path
) -> None:
    """E6, E8, B7: who, what came of it, and none of its arguments."""
    wire.send("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "my agent 2"})
    wire.next()
    wire.called(1, "act", text=CANARY)
    with held(ledger, "b_1"):
        assert error_of(wire.called(2, "act", text=CANARY))[1] == "desktop_held"
    wire.called(3, f"say {CANARY}")
    assert noted.said("who", "action", "code") == [
        "effect_admitted my-agent-2 act -",
        "effect_completed my-agent-2 act -",
        "effect_refused my-agent-2 act desktop_held",
        "effect_admitted my-agent-2 - -",
        "effect_completed my-agent-2 - -",
    ]
    first, second, third, *_ = noted.all
    assert first.facts["via"] == "relay" and first.facts["permit_id"] == 1
    assert first.facts["effect_id"] == second.facts["effect_id"]
    assert (third.about, third.desktop_id) == (HANDOFF, "d_1")
    wire.end()
    noted.file.close()
    files = [file for file in (state / "desktop").rglob("*") if file.is_file()]
    assert not [file for file in files if CANARY.encode() in file.read_bytes()]


async def test_a_call_whose_end_was_not_seen_is_noted_so(wire: Wire, noted: Noted) -> None:
    """E6, E8."""
    wire.tool(1, "act", until="over")
    await until(lambda: wire.journal() == ["act"])
    wire.relay._signal(9)
    wire.end()
    assert noted.said("code") == ["effect_admitted -", "effect_failed outcome_unknown"]


def test_a_client_that_tries_again_and_again_does_not_fill_the_evidence(
    wire: Wire, ledger: Ledger, noted: Noted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E6: the first refusals are records, the others a number."""
    monkeypatch.setattr(noting, "MOST_ALIKE", 3)
    with held(ledger, "b_1"):
        for number in range(10):
            wire.called(number, "act")
    wire.called(11, "act")
    assert noted.said("code", "count") == [
        *["effect_refused desktop_held -"] * 3,
        "effects_refused desktop_held 7",
        "effect_admitted - -",
        "effect_completed - -",
    ]


def test_what_looks_is_not_noted(state: Path, ledger: Ledger, noted: Noted, tmp_path: Path) -> None:
    """E6: it is no effect."""
    with contextlib.closing(Wire(state, tmp_path, tools=LISTED)) as wire:
        wire.called(1, "look")
        with held(ledger, "b_1"):
            wire.called(2, "look")
    assert noted.all == []
