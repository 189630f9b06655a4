"""The kill matrix: what it says of a cell, and one cell on the real parts."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.chaos.cells import Cell, Step, Victim, all_cells, expected, parse_cell
from benchmarks.chaos.kills import table, wanted_cells

ROOT = Path(__file__).resolve().parents[2]
GOOD = Cell(Victim.RUNNER, Step.HELD, expected(Victim.RUNNER, Step.HELD), refused=3, admitted=0, left=(), seconds=1.0)


def test_a_browser_killed_under_a_hold_ends_it_typed_and_leaves_nothing() -> None:
    """A15, F3, F10: the display's keeper is killed, and its browser with it; no window was closed by anybody."""
    command = [sys.executable, "-m", "benchmarks.chaos", "--only", "kills", "--cell", "display:held", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0, seen
    assert (seen["cells"], seen["as_expected"], seen["admitted_while_held"], seen["left_running"]) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    "bad",
    [replace(GOOD, outcome="not over after 75 s"), replace(GOOD, admitted=1), replace(GOOD, left=("chromium",))],
    ids=["outcome", "admitted", "left"],
)
def test_a_cell_that_differs_is_not_as_expected(bad: Cell) -> None:
    assert GOOD.as_expected
    assert not bad.as_expected


def test_the_table_shows_what_should_have_been() -> None:
    text = table([GOOD, replace(GOOD, outcome="expired")])
    assert "| runner | held | verified, same browser | 3 / 0 | nothing | 1.0 |" in text
    assert "**expired**, not: verified, same browser" in text


def test_a_cell_a_row_and_a_column_can_be_named() -> None:
    assert wanted_cells("runner:held") == [(Victim.RUNNER, Step.HELD)]
    assert wanted_cells("runner") == [(Victim.RUNNER, step) for step in Step]
    assert wanted_cells(":held") == [(victim, Step.HELD) for victim in Victim]
    assert wanted_cells(None) == all_cells()
    with pytest.raises(ValueError, match="nobody"):
        wanted_cells("nobody:held")
    with pytest.raises(ValueError, match="never"):
        parse_cell("runner:never")
