"""One process, one display: libraries that read the environment see the display this process serves, and no other."""

import os

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.display.display import Display

_bound: list[Display] = []


def bind(display: Display) -> None:
    """Point this process's environment at a display; again with the same one, where it was changed meanwhile.

    Raises:
        SetupError: `already_running`: this process serves another one.
    """
    if not _bound:
        _bound.append(display)
    elif _bound[0] != display:
        raise SetupError(
            ErrorCode.ALREADY_RUNNING,
            f"This process drives the display {_bound[0].name}, so it cannot drive {display.name}.",
            holds="Nothing was done.",
            do_next="Drive each display from a process of its own.",
        )
    os.environ.update(display.environment())
