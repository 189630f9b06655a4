"""A takeover whose lease cannot be read or written: the agent waits, and the person gives back all the same."""

import contextlib
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.support import code_of
from tests.desktop.takeover.support import Taker
from tests.waiting import until
from user_handoff.contract import takeover as t
from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.handoff.records import HoldRecord, Phase, Taken
from user_handoff.desktop.lease.leases import Leases

ENDS = ("", "-wal", "-shm")


@contextlib.contextmanager
def replaced(leases: Leases, content: bytes) -> Iterator[None]:
    """Another file in place of the leases, for as long as the block runs."""
    leases.close()
    files = [leases.path.with_name(leases.path.name + end) for end in ENDS]
    kept = [(file, file.rename(file.with_name(f"{file.name}.kept"))) for file in files if file.exists()]
    leases.path.write_bytes(content)
    leases.path.chmod(0o600)
    try:
        yield
    finally:
        leases.close()
        for file in files:
            file.unlink(missing_ok=True)
        for file, aside in kept:
            aside.rename(file)


@contextlib.contextmanager
def full_disk(leases: Leases) -> Iterator[None]:
    """No file grows any more: what a full disk does to whoever writes."""
    leases.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        leases.close()


def foreign(path: Path) -> bytes:
    """A sound SQLite file that is not one of ours."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE leases (subject TEXT)")
    return path.read_bytes()


@pytest.fixture(params=["corrupt", "half", "foreign"])
def content(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    if request.param == "foreign":
        return foreign(tmp_path_factory.mktemp("foreign") / "f.db")
    return b"no lease at all" * 300 if request.param == "corrupt" else b"SQLite format 3\0" + bytes(84)


async def test_nobody_takes_over_by_a_file_that_cannot_be_believed(taker: Taker, content: bytes) -> None:
    """E2: nothing is left behind, and the agent goes on."""
    with replaced(taker.takeovers._leases, content):
        assert await code_of(taker.take()) is ErrorCode.RESERVATION_CLOSED
        assert taker.agent.desktop.holds.active(taker.agent.browser_id) is None
        assert (await taker.agent.info()).state == "open"


async def test_when_it_breaks_in_between_the_agent_waits_until_the_person_gives_back(
    taker: Taker, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E2, E4: whether the lease stands is unknown: no effect gets through, and nothing is taken from the person."""
    monkeypatch.setattr(taker.takeovers, "ttl", 0.3)
    looked: list[HoldRecord] = []
    real = taker.takeovers._over

    def over(record: HoldRecord, taken: Taken) -> t.TakeoverEnd | None:
        looked.append(record)
        return real(record, taken)

    monkeypatch.setattr(taker.takeovers, "_over", over)
    await taker.take()
    with replaced(taker.takeovers._leases, content):
        seen = len(looked)
        await until(lambda: len(looked) > seen + 3)
        assert taker.record().phase is Phase.HELD
        assert await code_of(taker.agent.go("about:blank")) is ErrorCode.BROWSER_HELD
        assert (await taker.give_back()).state is t.TakeoverState.RECOVERING
    taker.takeovers._let_go(taker.lease_id)


@pytest.mark.parametrize("change", ["expires = expires + 3600", "boot = 'another'"])
async def test_a_lease_from_the_future_or_of_another_boot_ends_it(taker: Taker, change: str) -> None:
    """E2, E4: it cannot be of this person now."""
    await taker.take()
    with contextlib.closing(sqlite3.connect(taker.takeovers._leases.path, isolation_level=None)) as file:
        file.execute(f"UPDATE leases SET {change} WHERE subject = 'desktop'")
    assert (await taker.until(Phase.RECOVERING)).taken is not None


async def test_on_a_full_disk_nobody_takes_over(taker: Taker) -> None:
    """E2: nothing is left behind."""
    leases = taker.takeovers._leases
    with full_disk(leases):
        assert await code_of(taker.take()) is ErrorCode.RESERVATION_CLOSED
    assert not taker.agent.desktop.holds._ledger.holders()


async def test_on_a_full_disk_nothing_is_renewed(taker: Taker) -> None:
    """E4: the lease ends by itself; a heartbeat that was not written is not taken for one that was."""
    await taker.take()
    leases = taker.takeovers._leases
    before = leases.current("desktop")
    with full_disk(leases):
        assert await code_of(_renew(taker)) is ErrorCode.RESERVATION_CLOSED
    assert leases.current("desktop") == before


async def _renew(taker: Taker) -> None:
    taker.takeovers.renew(taker.takeover_id)
