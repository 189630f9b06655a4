"""How a command ends: exit codes, and errors as sentences.

| code | meaning |
|---|---|
| 0 | done |
| 1 | it failed: this machine or configuration cannot do it, or a handoff that was watched did not end verified |
| 2 | the command line is wrong |
| 3 | refused, and nothing was done |
| 130 | interrupted |
"""

import json
import os
import sys
import traceback
from enum import IntEnum
from typing import Any, NoReturn

from user_handoff.contract.errors import HandoffError, Refused


class Exit(IntEnum):
    """Exit codes."""

    OK = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    INTERRUPTED = 130


def leave(code: int) -> NoReturn:
    """End the process at once, when all it had to do is done.

    Threads of the Temporal SDK now and then abort an interpreter that takes itself apart, and so change the exit code.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # whoever read it is gone
        code = code or Exit.FAILED
    os._exit(code)


def exit_code(error: HandoffError) -> Exit:
    """The exit code that an error ends a command with."""
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED


def plain(text: str) -> str:
    """Text of pages, agents and people without what a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def show_error(error: HandoffError, *, as_json: bool = False) -> None:
    """Say on standard error what happened, what holds now and what to do next, a line each, and the code.

    Args:
        error: What happened.
        as_json: As one JSON object on one line, for a program.
    """
    if as_json:
        sys.stderr.write(json.dumps(error.to_dict(), default=str) + "\n")
        return
    lines = [f"error: {error.what} [{error.code}]", *(part for part in (error.holds, error.do_next) if part)]
    sys.stderr.write(plain("\n       ".join(lines)) + "\n")


def show_unexpected(error: BaseException) -> None:
    """Say that the fault is ours; where it happened, and never a value."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    sys.stderr.write(f"error: unexpected {type(error).__name__}{where}. This is a fault of user-handoff.\n")
    sys.stderr.write("       Start it again with HANDOFF_TRACEBACK=1 to see where, and report it.\n")


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")
