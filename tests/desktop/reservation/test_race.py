"""Real processes race for one ledger."""

import signal
import subprocess
import sys
from pathlib import Path

from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

ME = ProcessIdentity.current()
HOLDS = 25


def racer(path: Path, folder: Path, scope: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).with_name("racer.py")), str(path), str(folder), scope]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_no_effect_of_any_process_runs_while_a_hold_stands(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    """A11, E2, F1: three processes against holds; one of them is killed in the middle of an effect."""
    folder = tmp_path / "running"
    folder.mkdir()
    racers = [racer(path, folder, scope) for scope in ("page", "native", "page")]
    for process in racers:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
    overlaps = 0
    for number in range(HOLDS):
        ledger.publish(f"h{number}", "b1", "handoff", ME, f"handoff/b1/s/m{number}")
        if number == HOLDS // 2:
            racers[2].send_signal(signal.SIGKILL)
            racers[2].wait()
            (folder / str(racers[2].pid)).unlink(missing_ok=True)
        await ledger.drain(f"h{number}", 5)
        overlaps += sum(len(list(folder.iterdir())) for _ in range(20))
        ledger.withdraw(f"h{number}")
    refused = [int(process.communicate()[0]) for process in racers[:2]]
    racers[2].communicate()
    assert overlaps == 0
    assert all(refused)
