"""The kill matrix: each process is killed at each step of a handoff, on the real parts."""

import asyncio
import dataclasses
import json
import logging
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.chaos.cells import Cell, Step, Victim, all_cells, expected, parse_cell
from benchmarks.chaos.driver import Drive
from benchmarks.chaos.parts import Parts, running_parts

log = logging.getLogger(__name__)


def main(cell: str | None, *, as_json: bool) -> bool:
    """Run the matrix, or one cell, and print it.

    Args:
        cell: Such as ``runner:held``; ``runner`` or ``:held`` alone name a row or a column; None: all.
        as_json: End with one JSON object on a line of its own.

    Returns:
        True where every cell was as it must be.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        cells = asyncio.run(_run_all(Path(folder), wanted_cells(cell)))
        left = _still_running(folder)
    print(table(cells))
    for name in left:
        print(f"still running: {name}")
    if as_json:
        rows = [dataclasses.asdict(cell) | {"as_expected": cell.as_expected} for cell in cells]
        summary = {
            "cells": len(cells),
            "as_expected": sum(cell.as_expected for cell in cells),
            "admitted_while_held": sum(cell.admitted for cell in cells),
            "left_running": len(left) + sum(len(cell.left) for cell in cells),
            "seconds": round(time.monotonic() - began, 1),
            "rows": rows,
        }
        print(json.dumps(summary), flush=True)
    return bool(cells) and not left and all(cell.as_expected for cell in cells)


def table(cells: list[Cell]) -> str:
    """The cells as a table in Markdown."""
    lines = [
        "| killed | while | what became of it | refused / admitted while reserved | left | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for cell in cells:
        outcome = cell.outcome
        if outcome != (right := expected(cell.victim, cell.step)):
            outcome = f"**{outcome}**, not: {right}"
        left = ", ".join(cell.left) or "nothing"
        lines.append(
            f"| {cell.victim} | {cell.step} | {outcome} | {cell.refused} / {cell.admitted} | {left} | {cell.seconds} |"
        )
    return "\n".join(lines)


def wanted_cells(cell: str | None) -> list[tuple[Victim, Step]]:
    """The cells that a name stands for: see `main`.

    Raises:
        ValueError: There are none.
    """
    if cell is None:
        return all_cells()
    victim, _, step = cell.partition(":")
    if victim and step:
        return [parse_cell(cell)]
    return [(Victim(victim), each) for each in Step] if victim else [(each, Step(step)) for each in Victim]


async def _run_all(folder: Path, wanted: list[tuple[Victim, Step]]) -> list[Cell]:
    async with running_parts(folder) as parts:
        return [await _run(parts, victim, step) for victim, step in wanted]


async def _run(parts: Parts, victim: Victim, step: Step) -> Cell:
    drive = Drive(parts, victim, step)
    broken = False
    try:
        cell = await drive.run()
    except Exception as error:
        broken = True
        log.debug("%s:%s", victim, step, exc_info=True)
        cell = Cell(victim, step, f"the cell failed: {type(error).__name__}: {error}"[:200], 0, 0, (), 0.0)
    await parts.mend(runner=broken or victim is Victim.DISPLAY)
    print(f"{'ok ' if cell.as_expected else 'NOT'} {victim}:{step}: {cell.outcome} ({cell.seconds} s)", file=sys.stderr)
    return cell


def _still_running(folder: str) -> list[str]:
    """Processes of this stack that outlived it."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if folder in line:
            found.append(f"{process.pid} {line[:100]}")
    return found
