"""Whatever is wrong with the file closes the gate."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from user_handoff.contract.errors import ErrorCode, Held
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

ME = ProcessIdentity.current()


def assert_closed(ledger: Ledger) -> None:
    for _ in range(2):  # nor at the second attempt
        with pytest.raises(Held) as error:
            ledger.acquire("page", "b1", "e1", ME)
        assert error.value.code is ErrorCode.RESERVATION_CLOSED


def run(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff" * 8192)


def damaged(path: Path) -> None:
    run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)


def damaged_elsewhere(path: Path) -> None:
    """In a part that an effect does not read."""
    run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[-4096:] = os.urandom(4096)
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def missing(path: Path) -> None:
    path.unlink()


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to(path.with_name("other"))


def another_version(path: Path) -> None:
    run(path, "PRAGMA user_version = 99")


def another_program(path: Path) -> None:
    run(path, "PRAGMA application_id = 7")


def another_table(path: Path) -> None:
    run(path, "DROP TABLE holders", "CREATE TABLE holders (a TEXT) STRICT")


def a_trigger(path: Path) -> None:
    run(path, "CREATE TRIGGER t AFTER INSERT ON holders BEGIN DELETE FROM holders; END")


def no_epoch(path: Path) -> None:
    run(path, "DELETE FROM state")


def a_holder_of_unknown_kind(path: Path) -> None:
    run(
        path,
        "PRAGMA ignore_check_constraints = ON",
        "INSERT INTO holders VALUES ('h1', 'b1', 'nobody', 'h', 1, 1.0, 1)",
    )


BROKEN = [
    garbage, damaged, damaged_elsewhere, empty, missing, folder, link, another_version, another_program,
    another_table, a_trigger, no_epoch, a_holder_of_unknown_kind,
]  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_file_that_is_broken_at_the_start_admits_nothing(path: Path, broken: Callable[[Path], None]) -> None:
    """E2: unknown, corrupt, missing or unreadable means closed."""
    with_epoch(path).close()
    broken(path)
    assert_closed(Ledger(path))


@pytest.mark.parametrize("broken", [missing, folder, link, no_epoch, a_holder_of_unknown_kind])
def test_a_file_that_breaks_while_it_is_open_admits_nothing(path: Path, broken: Callable[[Path], None]) -> None:
    """E2."""
    ledger = with_epoch(path)
    broken(path)
    assert_closed(ledger)


@pytest.mark.parametrize("side", ["-wal", "-shm"])
def test_a_side_file_that_is_removed_while_it_is_open_admits_nothing(path: Path, side: str) -> None:
    """Another process would make a new one, and then there were two ledgers."""
    ledger = with_epoch(path)
    Path(f"{path}{side}").unlink()
    with pytest.raises(Held) as error:
        ledger.acquire("page", "b1", "e1", ME)
    assert error.value.code is ErrorCode.RESERVATION_CLOSED


def test_a_permit_given_before_the_file_was_replaced_is_void(path: Path) -> None:
    ledger = with_epoch(path)
    permit = ledger.acquire("page", "b1", "e1", ME)
    path.rename(path.with_name("old"))
    with pytest.raises(Held):
        permit.recheck()


def test_an_older_copy_put_in_place_admits_nothing(path: Path) -> None:
    """Its holders are not those of now: the epoch tells."""
    ledger = with_epoch(path)
    run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, path.with_name("copy"))
    ledger.publish("h1", "b1", "handoff", ME, "handoff/b1/s/m")
    ledger.close()
    path.with_name("copy").replace(path)
    assert_closed(ledger)


def test_a_ledger_that_another_process_locks_for_too_long_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ledger, "busy_seconds", 0.05)
    ledger = with_epoch(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Held) as error:
        ledger.acquire("page", "b1", "e1", ME)
    assert error.value.code is ErrorCode.RESERVATION_CLOSED
    other.execute("ROLLBACK")
    other.close()
    ledger.acquire("page", "b1", "e1", ME)


def test_the_files_are_private_whatever_the_umask(path: Path) -> None:
    """K43."""
    before = os.umask(0)
    try:
        ledger = with_epoch(path)
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
    assert set(modes) == {"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.made"}
    assert set(modes.values()) == {0o600}
    ledger.close()


def test_what_was_written_is_there_for_the_next_process(path: Path) -> None:
    """F3."""
    ledger = with_epoch(path)
    ledger.publish("h1", "b1", "handoff", ME, "handoff/b1/s/m")
    ledger.close()
    assert [row.handoff_id for row in Ledger(path).holders()] == ["handoff/b1/s/m"]


def test_a_repaired_ledger_is_empty_and_keeps_the_broken_one_aside(path: Path) -> None:
    before = with_epoch(path)
    epoch = before.epoch()
    garbage(path)
    ledger, aside = Ledger.repair(path, "its contents are damaged", live_hosts=[])
    ledger.acquire("page", "b1", "e1", ME).recheck()
    assert aside.read_bytes().startswith(b"\xff")
    assert ledger.epoch() >= epoch


def test_a_ledger_is_not_repaired_while_a_browser_host_lives(path: Path) -> None:
    """What a person holds would be let go."""
    ledger = with_epoch(path)
    ledger.publish("h1", "b1", "handoff", ME, "handoff/b1/s/m")
    with pytest.raises(Held) as error:
        Ledger.repair(path, "test", live_hosts=[ME])
    assert error.value.code is ErrorCode.RESERVATION_CLOSED
    assert len(ledger.holders()) == 1


def with_epoch(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.epoch()
    return ledger


def test_a_ledger_of_the_first_version_goes_on_with_what_was_done_under_it(ledger: Ledger) -> None:
    """A runner that was replaced by a newer one under a display that stays."""
    ledger.begin_effect("e1", action="click")
    ledger.end_effect("e1", "{}")
    run(ledger.path, "DROP TABLE requests", "PRAGMA user_version = 1")
    newer = Ledger(ledger.path)
    assert newer.see_effect("e1") == "{}"
    assert newer.request_of("e1") is None
    newer.begin_effect("e2", action="click", sha256="a" * 64)
    assert ledger.see_effect("e2") is not None, "the older process goes on"
    newer.close()
