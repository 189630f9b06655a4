"""Effects race against holds, in real processes, on one ledger: no effect may run while a hold stands."""

import bisect
import itertools
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.context import SpawnProcess
from pathlib import Path

from benchmarks.chaos.racers import Lane, do_effects, do_holds
from benchmarks.chaos.tape import Interval, Tape
from user_handoff.contract.handoff import DRAIN_SECONDS
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.rows import Scope

ROUNDS = 2_000
_BROWSERS = ("b1", "b2")
_EFFECTS: tuple[tuple[Scope, str | None], ...] = (("page", "b1"), ("page", "b2"), ("native", None))
_ROUNDS_A_KILL = 250
_START_SECONDS = 30
_IN_PERMIT_SECONDS = 2
_SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Races:
    """What was seen.

    Attributes:
        rounds: Holds that were reached: published, drained, held, withdrawn.
        contended: Those of them that found effects in flight.
        effects: Effects that ran.
        refused: Effects that were refused, by acquire or by the recheck.
        killed: Processes that were killed while they had a permit.
        drains_failed: Holds that were not reached.
        permits_left: Permits in the ledger after everything had ended and dead owners were swept.
        admitted_under_hold: Effects that ran while a hold that conflicts with them stood.
        seconds: How long it took.
    """

    rounds: int
    contended: int
    effects: int
    refused: int
    killed: int
    drains_failed: int
    permits_left: int
    admitted_under_hold: int
    seconds: float


@dataclass
class _Racer:
    """One process with its tape."""

    lane: Lane
    process: SpawnProcess
    tape: Tape


@dataclass
class _Track:
    """The processes of one race."""

    ledger: type[Ledger]
    folder: Path
    drain_seconds: float
    holds: list[_Racer] = field(default_factory=list)
    running: list[_Racer] = field(default_factory=list)
    dead: list[_Racer] = field(default_factory=list)
    killed: int = 0
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def path(self) -> Path:
        """The ledger's file."""
        return self.folder / "ledger" / "ledger.db"

    @property
    def effects(self) -> list[_Racer]:
        """Every process that does effects, or did."""
        return self.running + self.dead

    def start_effects(self) -> None:
        """Start a process for each kind of effect, and wait until each has begun."""
        self.running = [self._start(do_effects, *kind) for kind in _EFFECTS]
        end = time.monotonic() + _START_SECONDS
        while not all(racer.tape.count or racer.tape.refused for racer in self.running):
            if time.monotonic() > end:
                raise TimeoutError("a process that was to do effects did none")
            time.sleep(0.01)

    def start_holds(self, browser_id: str, rounds: int) -> None:
        """Start a process that holds a browser."""
        self.holds.append(self._start(do_holds, "page", browser_id, rounds))

    def _start(self, work: Callable[..., None], scope: Scope, browser_id: str | None, *more: int) -> _Racer:
        tape = self.folder / f"{next(self._numbers)}.tape"
        lane = Lane(self.ledger, self.path, tape, scope, browser_id, self.drain_seconds)
        process = _SPAWN.Process(target=work, args=(lane, *more), daemon=True)
        process.start()
        return _Racer(lane, process, Tape(tape))

    def kill_one(self) -> None:
        """Kill a process, each kind in turn, while it has a permit, and start another in its place."""
        turn = len(self.dead) % len(self.running)
        victim = self.running[turn]
        end = time.monotonic() + _IN_PERMIT_SECONDS
        while not victim.tape.in_permit and time.monotonic() < end:
            pass
        victim.process.kill()
        victim.process.join()
        self.killed += victim.tape.in_permit
        self.dead.append(victim)
        self.running[turn] = self._start(do_effects, victim.lane.scope, victim.lane.browser_id)

    def close(self) -> None:
        """End whatever still runs."""
        for racer in (*self.effects, *self.holds):
            racer.tape.stop()
        for racer in (*self.effects, *self.holds):
            racer.process.join(10)
            if racer.process.is_alive():
                racer.process.kill()
                racer.process.join()


def race(rounds: int = ROUNDS, ledger: type[Ledger] = Ledger, drain_seconds: float = DRAIN_SECONDS) -> Races:
    """Let them race.

    Args:
        rounds: How many holds.
        ledger: The ledger; a broken one shows that the race can be lost.
        drain_seconds: How long a hold may wait for the effects in flight.
    """
    with tempfile.TemporaryDirectory(prefix="races-") as folder, ExitStack() as stack:
        track = _Track(ledger, Path(folder), drain_seconds)
        stack.callback(track.close)
        mine = Ledger(track.path)
        stack.callback(mine.close)
        mine.epoch()
        track.start_effects()
        began = time.monotonic()
        for number, browser_id in enumerate(_BROWSERS):
            track.start_holds(browser_id, rounds // 2 + (rounds % 2 if number else 0))
        _run(track, rounds)
        seconds = time.monotonic() - began
        track.close()
        mine.sweep()
        return _result(track, len(mine.permits()), seconds)


def _run(track: _Track, rounds: int) -> None:
    """Wait for the last hold, and kill a process every so often on the way."""
    next_kill = step = min(_ROUNDS_A_KILL, max(1, rounds // 4))
    while any(racer.process.is_alive() for racer in track.holds):
        if sum(racer.tape.count for racer in track.holds) >= next_kill:
            track.kill_one()
            next_kill += step
        time.sleep(0.005)


def _result(track: _Track, permits_left: int, seconds: float) -> Races:
    holds = {racer.lane.browser_id: racer.tape.intervals for racer in track.holds}
    admitted = 0
    for racer in track.effects:
        against = holds.values() if racer.lane.scope == "native" else [holds[racer.lane.browser_id]]
        admitted += sum(_overlaps(effect, against) for effect in racer.tape.intervals)
    return Races(
        rounds=sum(racer.tape.count for racer in track.holds),
        contended=sum(racer.tape.contended for racer in track.holds),
        effects=sum(racer.tape.count for racer in track.effects),
        refused=sum(racer.tape.refused for racer in track.effects),
        killed=track.killed,
        drains_failed=sum(racer.tape.failed for racer in track.holds),
        permits_left=permits_left,
        admitted_under_hold=admitted,
        seconds=round(seconds, 2),
    )


def _overlaps(effect: Interval, against: Iterable[list[Interval]]) -> bool:
    for holds in against:
        # the holds of one browser follow each other: of those that began before the effect's end, look at the last
        place = bisect.bisect_right(holds, effect.last, key=lambda hold: hold.began)
        if place and holds[place - 1].last >= effect.began:
            return True
    return False
