"""Handoffs as a person reads them: a table where there is room, cards where there is not, plain lines in a pipe.

Texts of agents, websites and people are shown as they are: none of it is markup, and none commands the terminal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from user_handoff.cli.exits import plain
from user_handoff.contract.handoff import HandoffState, Result, Summary
from user_handoff.contract.takeover import TakeoverState, TakeoverSummary

HEADS: Final = ("handoff", "state", "left", "asked by", "what")

_ROOM: Final = 55
"""So many columns beside the id make a table readable."""

_STYLES: Final = {HandoffState.HELD: "bold yellow", HandoffState.EXPIRED: "bold red"}
_NAME_WIDTH: Final = 9


def console() -> Console:
    """Standard output: coloured on a terminal that wants it, and never by what is in a text."""
    return Console(markup=False, highlight=False, emoji=False)


def is_screen(on: Console) -> bool:
    """True where a person looks at a terminal that can be written anew."""
    return on.is_terminal and not on.is_dumb_terminal


def left(summary: Summary) -> str:
    """The time that is left, in minutes and seconds; empty where there is none to count."""
    seconds = left_seconds(summary)
    return "" if seconds is None else minutes(seconds)


def minutes(seconds: int) -> str:
    """So many seconds in minutes and seconds."""
    return f"{seconds // 60}:{seconds % 60:02d}"


def left_seconds(summary: Summary) -> int | None:
    """The seconds that are left of a hold; None where there is none."""
    if summary.expires_at is None or summary.state.ended:
        return None
    return _until(summary.expires_at)


def takeover_left_seconds(summary: TakeoverSummary) -> int | None:
    """The seconds that a person may have a browser yet; None where they do not have it."""
    if summary.expires_at is None or summary.state is not TakeoverState.HELD:
        return None
    return _until(summary.expires_at)


def _until(at: datetime) -> int:
    return max(0, int((at - datetime.now(UTC)).total_seconds()))


def first_line(text: str) -> str:
    """The first line of somebody's text."""
    return plain(next(iter(text.splitlines()), ""))


def row(summary: Summary) -> tuple[str, str, str, str, str]:
    """What a list tells of a handoff."""
    what = first_line(summary.instructions)
    return summary.handoff_id, str(summary.state), left(summary), plain(summary.owner), what


def lines(summaries: Sequence[Summary]) -> list[str]:
    """The list for a pipe: columns, and nothing cut off."""
    return columns([HEADS, *map(row, summaries)])


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as it has to be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(r, widths, strict=True)).rstrip() for r in rows]


@dataclass(frozen=True, slots=True)
class Board:
    """The list for a terminal, with the time that is left when it is drawn."""

    summaries: Sequence[Summary]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A table where it fits, else a card for each handoff."""
        longest = max((len(s.handoff_id) for s in self.summaries), default=0)
        yield self._table() if options.max_width >= longest + _ROOM else self._cards()

    def _table(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
        for head in HEADS:
            last = head == HEADS[-1]
            table.add_column(head, no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
        for summary in self.summaries:
            cells = [Text(cell) for cell in row(summary)]
            cells[1].stylize(_STYLES.get(summary.state, ""))
            cells[3].truncate(24, overflow="ellipsis")
            table.add_row(*cells)
        return table

    def _cards(self) -> RenderableType:
        cards: list[RenderableType] = []
        for summary in self.summaries:
            handoff_id, state, time, owner, what = row(summary)
            said = ", ".join(part for part in (f"{time} left" if time else "", f"asked by {owner}") if part)
            cards.append(Text(handoff_id, "bold", overflow="fold"))
            cards.append(Text.assemble("  ", (state, _STYLES.get(summary.state, "")), f", {said}", overflow="fold"))
            cards.append(Text(f"  {what}", overflow="fold"))
        return Group(*cards)


def facts(summary: Summary) -> list[tuple[str, str]]:
    """All that is worth reading of one handoff, by name."""
    where = f"{summary.boundary.rule_id}: {summary.boundary.reason} {summary.boundary.url}" if summary.boundary else ""
    found = {
        "handoff": summary.handoff_id,
        "state": str(summary.state),
        "result": str(summary.result or ""),
        "why": " ".join(str(part) for part in (summary.code, summary.reason, summary.message) if part),
        "asked by": summary.owner,
        "for": summary.person,
        "asks": summary.instructions,
        "boundary": where,
        "desktop": summary.client_id,
        "beware": _code_ran(summary),
        "left": left(summary),
        "told": ", ".join(f"{told.how} by {told.channel} at {told.at:%H:%M:%S} UTC" for told in summary.told),
        "answer": f"{summary.answer} (by {summary.answered_by}) {summary.note}" if summary.answer else "",
        "observed": "; ".join(summary.observation.facts) if summary.observation else "",
    }
    return [(name, plain(value).strip()) for name, value in found.items() if value]


def _code_ran(summary: Summary) -> str:
    pages = summary.receipt.pages if summary.receipt else ()
    urls = ", ".join(page.url for page in pages if page.code_ran)
    return f"a program's code ran before in {urls}: reload it first to be sure" if urls else ""


def fact_lines(summary: Summary) -> list[str]:
    """The same for a pipe. A text of several lines is indented, so that none of them reads as another fact."""
    indent = "\n" + " " * (_NAME_WIDTH + 1)
    return [f"{name:<{_NAME_WIDTH}} {value.replace(chr(10), indent)}" for name, value in facts(summary)]


def fact_sheet(summary: Summary) -> RenderableType:
    """The same for a terminal."""
    sheet = Table.grid(padding=(0, 1))
    sheet.add_column(min_width=_NAME_WIDTH, no_wrap=True, style="dim")
    sheet.add_column(overflow="fold")
    for name, value in facts(summary):
        sheet.add_row(name, Text(value, _style_of(name, summary)))
    return sheet


def _style_of(name: str, summary: Summary) -> str:
    if name == "state":
        return _STYLES.get(summary.state, "")
    if name == "result":
        return "bold green" if summary.result is Result.VERIFIED else "bold red"
    return ""
