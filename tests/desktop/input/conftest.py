"""Native input on the desktop that the tests share: libraries bind one display a process."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.desktop.surfaces.programs import Program, program, window
from tests.waiting import until
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.input.native import NativeInput
from user_handoff.desktop.input.windows import DisplayWindows
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.surfaces.x11 import X11Surfaces


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "ledger.db")
    yield ledger
    ledger.close()


@pytest.fixture
async def native(desktop: Desktop, ledger: Ledger) -> AsyncIterator[NativeInput]:
    windows = DisplayWindows(desktop.display)
    native = NativeInput(desktop.display, Gate(ledger), windows)
    yield native
    native.close()
    windows.close()


@pytest.fixture
async def surfaces(desktop: Desktop) -> AsyncIterator[X11Surfaces]:
    surfaces = X11Surfaces(desktop.display)
    yield surfaces
    surfaces.close()


@pytest.fixture
async def target(desktop: Desktop, surfaces: X11Surfaces) -> AsyncIterator[Program]:
    """A program that has the keyboard and says what it was sent; it has a second window."""
    with program(desktop.display, window("a", (50, 60, 300, 200)), window("b", (500, 60, 300, 200))) as target:
        await until(lambda: surfaces.focused() in target.windows)
        target.tell("focus", 0)
        await until(lambda: surfaces.focused() == target.windows[0])
        yield target
