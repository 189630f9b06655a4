"""A ledger of our own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.ledger import Ledger

ME = ProcessIdentity.current()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    ledger = Ledger(path)
    ledger.epoch()
    yield ledger
    ledger.close()
