"""The kill matrix of a takeover: each process is killed at each step, on the real parts, while somebody types."""

import asyncio
import contextlib
import dataclasses
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from benchmarks.chaos.parts import Parts, running_parts
from benchmarks.chaos.taking import LEASE_SECONDS, Taking, taking
from user_handoff.contract.browser import BrowserInfo, BrowserRequest, Snapshot, SnapshotRequest
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.names import Activities
from user_handoff.contract.takeover import TakeoverState, TakeoverSummary
from user_handoff.desktop.display.virtual import stop_virtual
from user_handoff.desktop.view.settings import LEASE_VARIABLE


class Step(StrEnum):
    """Where a takeover stands when something is killed."""

    BEGIN = "begin"
    HELD = "held"
    RENEW = "renew"
    RETURN = "return"
    RECOVERING = "recovering"


class Victim(StrEnum):
    """What is killed. `server` runs the workflows and the gateway; `all` is all but the browser and the watchdog."""

    CLI = "cli"
    RUNNER = "runner"
    SERVER = "server"
    TEMPORAL = "temporal"
    WATCHDOG = "watchdog"
    HOST = "host"
    ALL = "all"


@dataclass
class Cell:
    """What came of one kill.

    Attributes:
        outcome: How the takeover ended, or why it did not begin.
        late: How long after the end of the lease a key still arrived, in seconds; below 0: before it.
        admitted: Effects that were let through between the takeover and the agent's look.
        left_pressed: Keys and buttons that were still down two seconds after the end of the lease.
    """

    victim: Victim
    step: Step
    outcome: str
    late: float | None
    refused: int
    admitted: int
    left_pressed: int
    seconds: float

    @property
    def as_expected(self) -> bool:
        """True where every guarantee held, and the takeover ended in a way that this kill may end it."""
        on_time = self.late is None or self.late <= 1.0
        return (
            on_time and not self.admitted and not self.left_pressed and self.outcome in allowed(self.victim, self.step)
        )


def allowed(victim: Victim, step: Step) -> tuple[str, ...]:
    """The ends that are right."""
    if victim is Victim.HOST:
        back = ("returned",) if step in (Step.RETURN, Step.RECOVERING) else ()
        return ("revoked", "closed", "refused browser_gone", "refused runner_lost", *back)
    if step is Step.BEGIN:
        # whoever waited for it is gone or was not answered: it ends by its lease, or never began
        return ("returned", "timeout", "recovered", "cancelled", "never began", "refused runner_lost")
    if step in (Step.RETURN, Step.RECOVERING):
        return ("returned",)
    return {
        Victim.CLI: ("timeout",),
        Victim.ALL: ("recovered",),
        Victim.RUNNER: ("returned",),
    }.get(victim, ("returned",))


def main(cell: str | None, *, as_json: bool) -> bool:
    """Run the matrix, one row, one column or one cell; print it. True where every cell was as it must be."""
    victim, _, step = (cell or "").partition(":")
    wanted = [
        (each, at)
        for each in Victim
        for at in Step
        if victim in ("", each) and step in ("", at) and not (each is Victim.WATCHDOG and at is Step.BEGIN)
    ]
    os.environ[LEASE_VARIABLE] = str(LEASE_SECONDS)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="takeovers-") as folder:
        cells = asyncio.run(_run_all(Path(folder), wanted))
    print(table(cells))
    if as_json:
        rows = [dataclasses.asdict(each) | {"as_expected": each.as_expected} for each in cells]
        good = sum(each.as_expected for each in cells)
        seconds = round(time.monotonic() - began, 1)
        print(json.dumps({"cells": len(cells), "as_expected": good, "seconds": seconds, "rows": rows}), flush=True)
    return bool(cells) and all(each.as_expected for each in cells)


def table(cells: list[Cell]) -> str:
    """The cells as a table in Markdown."""
    lines = [
        "| killed | while | what became of it | last key after lease | refused / admitted | left pressed | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for cell in cells:
        late = "none" if cell.late is None else f"{cell.late:+.2f} s"
        outcome = cell.outcome if cell.as_expected else f"**{cell.outcome}**"
        lines.append(
            f"| {cell.victim} | {cell.step} | {outcome} | {late} | {cell.refused} / {cell.admitted} "
            f"| {cell.left_pressed} | {cell.seconds} |"
        )
    return "\n".join(lines)


async def _run_all(folder: Path, wanted: list[tuple[Victim, Step]]) -> list[Cell]:
    try:
        async with running_parts(folder) as parts:
            return [await _run(parts, victim, step) for victim, step in wanted]
    finally:
        await stop_virtual(folder / "desktop")


async def _run(parts: Parts, victim: Victim, step: Step) -> Cell:
    began = time.monotonic()
    try:
        async with asyncio.timeout(120):
            cell = await _cell(parts, victim, step)
    except Exception as error:
        cell = Cell(victim, step, f"the cell failed: {type(error).__name__}: {error}"[:160], None, 0, 0, 0, 0.0)
    cell.seconds = round(time.monotonic() - began, 1)
    await parts.mend(runner=not cell.as_expected)
    print(f"{'ok ' if cell.as_expected else 'NOT'} {victim}:{step}: {cell.outcome} ({cell.seconds} s)", file=sys.stderr)
    return cell


async def _cell(parts: Parts, victim: Victim, step: Step) -> Cell:
    async with taking(parts) as scene:
        await _to(scene, step, victim)
        if step is not Step.RETURN and step is not Step.BEGIN:
            await _kill(parts, scene, victim)
        if victim in (Victim.CLI, Victim.ALL):
            await scene.until_lease_over()
            await asyncio.sleep(1.5)  # the watchdog is the last clock: it must have had its time
        pressed = scene.pressed() if scene.lease_ended is not None else 0
        await _restart(parts, victim)
        outcome = await _end(parts, scene, victim)
        refused, admitted = scene.refused, scene.admitted
        return Cell(victim, step, outcome, scene.late, refused, admitted, pressed, 0.0)


async def _to(scene: Taking, step: Step, victim: Victim) -> None:
    """Bring the takeover to a step; for the two that last a moment only, the kill comes within it."""
    parts = scene.parts
    if step is Step.BEGIN:
        with scene.stuck_effect():
            await scene.start_cli()
            await scene.until_published()
            await _kill(parts, scene, victim)
        return
    await scene.start_cli()
    await scene.until_held()
    await scene.type_all_the_while()
    await scene.until_typed()
    if step is Step.RENEW:
        await scene.until_renewed()
    elif step is Step.RETURN:
        with parts.frozen(parts.lives(scene.browser_id).chromium.pid):
            await scene.say_done()
            await scene.until_phase("returning")
            await _kill(parts, scene, victim)
    elif step is Step.RECOVERING:
        await scene.say_done()
        await scene.until_phase("recovering")


async def _kill(parts: Parts, scene: Taking, victim: Victim) -> None:
    if victim in (Victim.CLI, Victim.ALL):
        scene.kill_cli()
    if victim is Victim.WATCHDOG:
        for process in scene.watchdogs():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    if victim is Victim.HOST:
        scene.stop_probing()  # there is no browser any more that anything could reach
        psutil.Process(parts.lives(scene.browser_id).host.pid).kill()
    for wanted, part in (
        (Victim.RUNNER, parts.stack.runner),
        (Victim.SERVER, parts.stack.server),
    ):
        if victim in (wanted, Victim.ALL):
            await parts.stack.kill(part)
    if victim in (Victim.TEMPORAL, Victim.ALL):
        await parts.stack.engine.kill()


async def _restart(parts: Parts, victim: Victim) -> None:
    if victim in (Victim.TEMPORAL, Victim.ALL):
        await parts.stack.engine.start()
    if victim in (Victim.SERVER, Victim.ALL):
        await parts.stack.server.start()
    if victim in (Victim.RUNNER, Victim.ALL):
        await parts.stack.runner.start()


async def _end(parts: Parts, scene: Taking, victim: Victim) -> str:
    """Let the person give it back where they still have it; then the agent looks. How it ended."""
    await scene.say_done()
    summary = await _until_back(scene)
    scene.stop_probing()
    if victim is Victim.HOST:
        return _how(summary)
    await parts.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=scene.browser_id), Snapshot)
    info = await parts.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=scene.browser_id), BrowserInfo)
    if info.state != "open":
        return f"{_how(summary)}, and the browser is {info.state}"
    return _how(summary)


async def _until_back(scene: Taking) -> TakeoverSummary | None:
    """Wait until the browser is not the person's any more."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(HandoffError):
            summary = await scene.summary()
            if summary is None and scene.cli_gone:
                return None
            if summary is not None and (summary.state is TakeoverState.RECOVERING or summary.state.ended):
                return summary
        await asyncio.sleep(0.2)
    raise TimeoutError("the takeover did not end")


def _how(summary: TakeoverSummary | None) -> str:
    if summary is None:
        return "never began"
    return f"refused {summary.code}" if summary.state is TakeoverState.REFUSED else str(summary.how)
