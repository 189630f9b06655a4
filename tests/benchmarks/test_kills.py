"""The kill matrix: what it says of a cell. `./run chaos --only kills` plays them."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.chaos.cells import Cell, Step, Victim, all_cells, expected, parse_cell
from benchmarks.chaos.kills import table, wanted_cells

ROOT = Path(__file__).resolve().parents[2]
GOOD = Cell(Victim.RUNNER, Step.HELD, expected(Victim.RUNNER, Step.HELD), refused=3, admitted=0, left=(), seconds=1.0)


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
