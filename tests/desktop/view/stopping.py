"""Programs of a display that stand still for a while."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.record import Record, read_record


@contextmanager
def standing_still(desktop: Desktop) -> Iterator[None]:
    """The display reads nothing and shows nothing new."""
    with _stopped(_record(desktop).server.pid):
        yield


@contextmanager
def without_manager(desktop: Desktop) -> Iterator[None]:
    """Its window manager does nothing."""
    (manager,) = (each for each in psutil.Process(_record(desktop).keeper.pid).children() if each.name() == "openbox")
    with _stopped(manager.pid):
        yield


def _record(desktop: Desktop) -> Record:
    assert desktop.display.xauthority is not None
    record = read_record(desktop.display.xauthority.parent)
    assert record is not None
    return record


@contextmanager
def _stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
