import os
import subprocess
import sys

import psutil
import pytest

from user_handoff.desktop.identity import ProcessIdentity


def test_this_process_is_alive() -> None:
    assert ProcessIdentity.current().alive()


def test_the_same_pid_with_another_start_is_somebody_else() -> None:
    me = ProcessIdentity.current()
    assert not ProcessIdentity(me.pid, me.started - 1).alive()


def test_a_process_that_ended_is_dead_even_before_it_is_waited_for() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = ProcessIdentity.of(child.pid)
    assert identity.alive()
    assert child.stdin is not None
    child.stdin.close()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not identity.alive()
    child.wait()
    assert not identity.alive()


def test_there_is_no_identity_of_nobody() -> None:
    with pytest.raises(psutil.NoSuchProcess):
        ProcessIdentity.of(2**22 + 1)


def test_a_step_of_the_clock_changes_no_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    me = ProcessIdentity.current()
    monkeypatch.setattr(psutil, "boot_time", lambda: 1.0)
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 1.0)
    assert me.alive()
