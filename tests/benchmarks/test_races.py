"""The race between effects and holds, and that it can be lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.chaos.races import race
from tests.benchmarks.broken import LooksThenAdmits, NeverSweeps, NeverWaits
from user_handoff.desktop.reservation.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]


def test_no_effect_runs_under_a_hold_while_processes_are_killed() -> None:
    """A11, E2, F1, K07: the last line of `./run chaos --only races --json` is one object with the figures."""
    command = [sys.executable, "-m", "benchmarks.chaos", "--only", "races", "--count", "80", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0, seen
    assert (seen["rounds"], seen["admitted_under_hold"], seen["permits_left"]) == (80, 0, 0)
    assert seen["contended"]
    assert seen["effects"]
    assert seen["refused"]
    assert seen["killed"]


@pytest.mark.parametrize("broken", [LooksThenAdmits, NeverWaits])
def test_the_race_sees_a_ledger_that_lets_effects_through(broken: type[Ledger]) -> None:
    assert any(race(80, broken).admitted_under_hold for _ in range(10))


def test_the_race_sees_permits_of_the_dead_that_keep_holds_from_being_reached() -> None:
    seen = race(40, NeverSweeps, drain_seconds=0.2)
    assert seen.drains_failed
    assert seen.rounds < 40
