"""The lease of a desktop's input."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.lease.lease import Lease
from user_handoff.desktop.lease.leases import Leases


class Clock:
    """A time that only the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def leases(tmp_path: Path, clock: Clock) -> Iterator[Leases]:
    leases = Leases(tmp_path / "leases.db", clock)
    yield leases
    leases.close()


def take(leases: Leases, holder: str = "v_one", **more: object) -> Lease:
    return leases.take("desktop", holder, "handoff/b/s/m", **{"seconds": 600.0, **more})  # type: ignore[arg-type]


def refusal(call: object, *arguments: object, **named: object) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        call(*arguments, **named)  # type: ignore[operator]
    return refused.value.code


def test_one_of_two_has_it(leases: Leases, clock: Clock) -> None:
    """E3: and the other may have it once the first has ended."""
    first = take(leases)
    assert refusal(take, leases, "v_two") is ErrorCode.LEASE_TAKEN
    assert leases.stands(first)
    leases.end(first)
    assert leases.stands(take(leases, "v_two"))
    assert not leases.stands(first)


def test_what_is_over_is_never_renewed(leases: Leases, clock: Clock) -> None:
    """E3: also where nobody has taken it since."""
    lease = take(leases)
    clock.now += 29.9
    lease = leases.renew(lease)
    clock.now += 30.0
    assert not leases.stands(lease)
    assert refusal(leases.renew, lease) is ErrorCode.LEASE_LOST


def test_a_renewal_read_before_a_takeover_does_not_undo_it(leases: Leases) -> None:
    """K08."""
    read_before = take(leases)
    fresh = take(leases, "v_two", cause="takeover", instead_of=read_before.lease_id)
    assert refusal(leases.renew, read_before) is ErrorCode.LEASE_LOST
    assert leases.current("desktop") == fresh


def test_of_two_renewals_of_one_version_the_first_stands(leases: Leases) -> None:
    lease = take(leases)
    renewed = leases.renew(lease)
    assert refusal(leases.renew, lease) is ErrorCode.LEASE_LOST
    assert leases.stands(renewed) and not leases.stands(lease)


def test_no_renewal_moves_the_deadline(leases: Leases, clock: Clock) -> None:
    lease = take(leases, seconds=45.0)
    for _ in range(4):
        clock.now += 10
        lease = leases.renew(lease)
    assert lease.ends == 1045.0
    clock.now += 5
    assert not leases.stands(lease)
    assert refusal(leases.renew, lease) is ErrorCode.LEASE_LOST


def test_it_is_taken_only_from_the_one_that_is_named(leases: Leases) -> None:
    """K80: an explicit act names what it sees; what has changed since is not what it meant."""
    first = take(leases)
    second = take(leases, "v_two", instead_of=first.lease_id)
    assert refusal(take, leases, "v_three", instead_of=first.lease_id) is ErrorCode.LEASE_TAKEN
    assert leases.stands(second)


def test_the_end_of_an_old_one_leaves_the_new_one(leases: Leases) -> None:
    """K09."""
    first = take(leases)
    second = take(leases, "v_two", instead_of=first.lease_id)
    assert not leases.end(first)
    assert leases.stands(second)


@pytest.mark.parametrize(
    "change",
    [
        "expires = expires + 3600",
        "ttl = 90000, expires = expires + 3600",
        "boot = 'another'",
        "deadline = 0",
        "ttl = -1",
    ],
)
def test_a_lease_that_nobody_can_have_written_gives_nobody_control(leases: Leases, change: str) -> None:
    """E3: from the future, of another boot, past its deadline."""
    lease = take(leases)
    with sqlite3.connect(leases.path) as file:
        file.execute(f"UPDATE leases SET {change}")
    file.close()
    assert not leases.stands(lease)
    assert leases.current("desktop") is None
    assert leases.stands(take(leases, "v_two"))


@pytest.mark.parametrize("content", [b"", b"half a file", b"SQLite format 3\0" + bytes(4080)])
def test_a_damaged_file_gives_nobody_control(leases: Leases, content: bytes) -> None:
    """E3: it fails closed."""
    lease = take(leases)
    leases.close()
    for end in ("-wal", "-shm"):
        leases.path.with_name(leases.path.name + end).unlink(missing_ok=True)
    leases.path.write_bytes(content)
    assert not leases.stands(lease)
    assert refusal(take, leases) is ErrorCode.RESERVATION_CLOSED


def test_a_file_that_was_replaced_gives_nobody_control(leases: Leases, tmp_path: Path, clock: Clock) -> None:
    lease = take(leases)
    leases.path.rename(tmp_path / "aside")
    assert not leases.stands(lease)


def test_the_file_is_for_this_user_alone(leases: Leases) -> None:
    take(leases)
    assert stat.S_IMODE(leases.path.stat().st_mode) == 0o600


RACER = """
import sys, time
from pathlib import Path
from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.lease.leases import Leases
leases = Leases(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
won = 0
for number in range(200):
    try:
        leases.take(f"desktop{number}", sys.argv[2], "handoff/b/s/m", seconds=600)
        won += 1
    except HandoffError:
        pass
print(won, flush=True)
"""


def test_between_processes_there_is_a_single_winner(tmp_path: Path) -> None:
    """E3: 200 leases, three processes at once, each lease taken once."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path / "leases.db"), f"v_{name}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [int(racer.communicate()[0]) for racer in racers]
    assert sum(won) == 200
