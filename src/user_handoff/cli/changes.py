"""The changes of handoffs and takeovers, as `handoff watch` tells them: on a terminal, on lines, or as JSON."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from user_handoff.cli import tables
from user_handoff.cli.exits import plain
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.handoff import Answer, HandoffState, Result, RevokeReason, Summary
from user_handoff.contract.takeover import Role, TakeoverEnd, TakeoverState, TakeoverSummary

_SAYS: Final = {
    HandoffState.REQUESTED: "asks the desktop for its browser",
    HandoffState.HELD: "a person is needed",
    HandoffState.FINISHING: "the browser is taken back",
    HandoffState.RECOVERING: "the agent has to look again",
    HandoffState.EXPIRED: "nobody finished in time: the browser stays paused until `handoff finish` or `handoff close`",
    HandoffState.CLOSED: "the browser is closed",
    HandoffState.REVOKED: "the hold ended by itself",
    HandoffState.REFUSED: "nothing is held",
}


class Change(Model):
    """One change of one handoff, as `watch --json` prints it. Fields are added, and none is renamed."""

    at: datetime
    """When it was seen."""
    handoff_id: str
    state: HandoffState
    ended: bool
    answer: Answer | None
    answered_by: str
    note: str
    """A person's words: untrusted."""
    result: Result | None
    reason: RevokeReason | None
    code: ErrorCode | None
    message: str
    owner: str
    instructions: str
    left_seconds: int | None

    @classmethod
    def of(cls, summary: Summary) -> "Change":
        """What holds now."""
        same = cls.model_fields.keys() & Summary.model_fields.keys()
        if summary.state is HandoffState.EXPIRED:
            summary = summary.model_copy(update={"result": Result.EXPIRED})  # whatever becomes of its hold
        return cls(
            at=datetime.now(UTC),
            ended=summary.state.ended,
            left_seconds=tables.left_seconds(summary),
            **{name: getattr(summary, name) for name in same},
        )


class TakeoverChange(Model):
    """One change of one takeover, likewise."""

    at: datetime
    """When it was seen."""
    handoff_id: None = None
    """So that it is nobody's handoff to whoever reads that field of each object."""
    takeover_id: str
    browser_id: str
    state: TakeoverState
    ended: bool
    how: TakeoverEnd | None
    reason: str | None
    code: ErrorCode | None
    message: str
    role: Role
    by: str
    why: str
    """A person's words, as `note`: untrusted."""
    note: str
    left_seconds: int | None

    @classmethod
    def of(cls, summary: TakeoverSummary) -> "TakeoverChange":
        """What holds now."""
        same = cls.model_fields.keys() & TakeoverSummary.model_fields.keys()
        return cls(
            at=datetime.now(UTC),
            ended=summary.state.ended,
            left_seconds=tables.takeover_left_seconds(summary),
            **{name: getattr(summary, name) for name in same},
        )


class View(Protocol):
    """Where changes are told."""

    def change(self, summary: Summary) -> None:
        """A handoff has changed, or is seen for the first time."""

    def takeover(self, summary: TakeoverSummary) -> None:
        """A takeover has, likewise."""

    def now(self, summaries: Sequence[Summary], trouble: str) -> None:
        """What goes on by the last look, and what is wrong with that; empty: nothing."""


def says(summary: Summary) -> str:
    """What a change means, on one line."""
    parts = [_SAYS.get(summary.state, "")]
    if summary.state is HandoffState.HELD:
        parts = [] if summary.answer else [f"{parts[0]}: {tables.first_line(summary.instructions)}"]
    if summary.answer and not summary.state.ended:
        parts.insert(0, f"answered {summary.answer} by {summary.answered_by}")
    why = (part for part in (summary.result, summary.code, summary.reason) if part and str(part) != summary.state)
    parts.insert(0, " ".join(map(str, why)))
    return plain(" ".join("; ".join(part for part in parts if part).split()))


class Lines:
    """Plain lines, or JSON: one for each change, at once."""

    def __init__(self, as_json: bool, say: Callable[[str], None] = typer.echo) -> None:
        self._as_json = as_json
        self._say = say
        self._trouble = ""

    def change(self, summary: Summary) -> None:
        """See `View`."""
        self._say(Change.of(summary).model_dump_json() if self._as_json else line(summary))

    def takeover(self, summary: TakeoverSummary) -> None:
        """See `View`."""
        self._say(TakeoverChange.of(summary).model_dump_json() if self._as_json else takeover_line(summary))

    def now(self, summaries: Sequence[Summary], trouble: str) -> None:
        """See `View`."""
        if trouble and trouble != self._trouble:
            print(trouble, file=sys.stderr, flush=True)  # noqa: T201
        self._trouble = trouble


def line(summary: Summary) -> str:
    """One change on one line."""
    at, time = datetime.now().astimezone(), tables.left(summary)
    parts = (f"{at:%H:%M:%S}", summary.handoff_id, str(summary.state), f"{time} left" if time else "", says(summary))
    return "  ".join(part for part in parts if part)


def takeover_line(summary: TakeoverSummary) -> str:
    """Likewise, of a takeover."""
    at, seconds = datetime.now().astimezone(), tables.takeover_left_seconds(summary)
    how = [str(part) for part in (summary.how, summary.code, summary.reason) if part]
    who = "" if summary.state.ended else f"{summary.by} ({summary.role})" + (f": {summary.why}" if summary.why else "")
    time = "" if seconds is None else f"{tables.minutes(seconds)} left"
    parts = (f"{at:%H:%M:%S}", summary.takeover_id, str(summary.state), time, *how, tables.first_line(who))
    return "  ".join(part for part in parts if part)


class Screen:
    """A terminal: changes scroll by, and below them stands what goes on, with the time that is left."""

    def __init__(self, on: Console) -> None:
        self._on = on
        self._summaries: Sequence[Summary] | None = None
        self._trouble = ""

    def change(self, summary: Summary) -> None:
        """See `View`."""
        self._on.print(Text(line(summary), overflow="fold"))

    def takeover(self, summary: TakeoverSummary) -> None:
        """See `View`."""
        self._on.print(Text(takeover_line(summary), overflow="fold"))

    def now(self, summaries: Sequence[Summary], trouble: str) -> None:
        """See `View`."""
        self._summaries, self._trouble = summaries, trouble

    def drawn(self) -> RenderableType:
        """What stands below the changes, as it is at this moment."""
        parts: list[RenderableType] = []
        if self._summaries:
            parts += [Text(""), tables.Board(self._summaries)]
        elif self._summaries is not None and not self._trouble:
            parts.append(Text("No handoff waits.", "dim"))
        if self._trouble:
            parts.append(Text(self._trouble, "bold red"))
        return Group(*parts)


@contextlib.contextmanager
def view(as_json: bool) -> Iterator[View]:
    """Where changes are told: on the terminal where there is one, else on lines."""
    on = tables.console()
    if as_json or not tables.is_screen(on):
        yield Lines(as_json)
        return
    screen = Screen(on)
    with Live(console=on, get_renderable=screen.drawn, refresh_per_second=2, transient=True):
        yield screen
