"""Text of agents, websites and people inside markdown, which Temporal's web UI renders."""

import re
from typing import Final

_ANYWHERE: Final = re.compile(r"[\\`*_\[\]<>&~|{}!-]|:(?=//)|(?<=mailto):|(?<=www)\.")
_AT_THE_START: Final = re.compile(r"^(\d*)([+#.):])")


def literal(text: str) -> str:
    """The text on one line, as it is: no link, picture, heading, list or HTML of whoever wrote it."""
    line = _ANYWHERE.sub(r"\\\g<0>", " ".join(_printable(text).split()))
    line = _AT_THE_START.sub(r"\1\\\2", line)
    # Not every renderer takes a backslash before it, and a line of these makes a heading of the line above.
    return f"&#61;{line[1:]}" if line.startswith("=") else line


def quoted(text: str) -> list[str]:
    """The text as the lines of a block quote, as it is."""
    return [f"> {literal(line)}" for line in text.splitlines()]


def code(text: str) -> str:
    """The text on one line as a code span, whatever backticks it has; empty where there is none."""
    line = " ".join(_printable(text).split())
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)
