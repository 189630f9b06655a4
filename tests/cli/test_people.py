"""Who runs a command."""

import os

import pytest

from user_handoff.cli.people import this_user


def test_who_has_no_name_here_is_told_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """B8: a person takes over in a container that knows only their number, too."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54_321)
    assert this_user() == "54321"
