"""The timeline: one HTML file that needs nothing else, and runs nothing."""

import base64
import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from user_handoff.desktop.evidence.folder import DAMAGED, Place, picture_file
from user_handoff.desktop.evidence.lanes import WORDS, Lane, Record, lanes, when
from user_handoff.desktop.evidence.verify import Verdict

_WIDTH: Final = 1000.0
_TICKS: Final = 8
_STEPS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400)
_LETTER: Final = 7.2
"""The width of a letter in a bar, about."""

_OPEN: Final = ("agent", "closed")
"""These begin before the lane, or go on after it."""

_MOST_OTHERS: Final = 200
_APART: Final = 5.0
"""Marks that would be nearer than this are told as one."""


@dataclass(frozen=True, slots=True)
class Box:
    """A bar of a lane, in the units of its picture."""

    kind: str
    x: float
    width: float
    label: str
    title: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One effect of a lane, or several that are too near each other."""

    kind: str
    x: float
    count: int
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the time."""

    x: float
    label: str


def timeline(records: Iterable[Record], verdict: Verdict, place: Place | None = None) -> str:
    """The page.

    Args:
        records: What happened, in order.
        verdict: Whether the chain holds.
        place: Where pictures are, if they are to be shown.

    Returns:
        HTML. Whatever is in a record is text in it, and never markup.
    """
    records = list(records)
    found = lanes(records)
    shown = {id(record) for lane in found for record in lane.records}
    others = [record for record in records if id(record) not in shown and not _of_effect(record)]
    jinja = Environment(
        loader=PackageLoader("user_handoff.desktop.evidence", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.globals.update(boxes=_control, typing=_typing, dots=_dots, ticks=_ticks, words=WORDS)
    jinja.filters.update(moment=_moment, taken=_taken, day=_day, lasting=lasting, facts=facts_of)
    return jinja.get_template("timeline.html").render(
        lanes=found,
        verdict=verdict,
        desktops=sorted({record["desktop_id"] for record in records}),
        first=when(records[0]) if records else None,
        last=when(records[-1]) if records else None,
        refused=sum(record["event"] == "effect_refused" for record in records),
        others=others[-_MOST_OTHERS:],
        left_out=max(0, len(others) - _MOST_OTHERS),
        picture=lambda sha256: None if place is None else _picture(place, sha256),
    )


def lasting(seconds: float) -> str:
    """A stretch of time, for a person."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def facts_of(record: Record) -> str:
    """The facts of a record on one line."""
    said = {**record["facts"], **{key: record[key] for key in ("lost", "dropped") if key in record}}
    return ", ".join(f"{key} {value}" for key, value in sorted(said.items()))


def _of_effect(record: Record) -> bool:
    return str(record["event"]).startswith("effect_")


def _x(lane: Lane, at: float) -> float:
    return round((at - lane.begin) / (lane.end - lane.begin) * _WIDTH, 2)


def _control(lane: Lane) -> list[Box]:
    boxes = []
    for span in lane.control:
        x, width = _x(lane, span.begin), _x(lane, span.end) - _x(lane, span.begin)
        word = WORDS[span.kind]
        title = word if span.kind in _OPEN else f"{word}, {lasting(span.seconds)}"
        label = next((text for text in (title, word) if len(text) * _LETTER + 12 < width), "")
        boxes.append(Box(span.kind, x, round(max(width, 1.5), 2), label, title))
    return boxes


def _typing(lane: Lane) -> list[Box]:
    return [
        Box("typing", _x(lane, span.begin), round(max(_x(lane, span.end) - _x(lane, span.begin), 1.5), 2), "", "")
        for span in lane.typing
    ]


def _dots(lane: Lane) -> list[Dot]:
    dots: list[Dot] = []
    for mark in lane.marks:
        x = _x(lane, mark.at)
        near = next((dot for dot in reversed(dots) if dot.kind == mark.kind and x - dot.x < _APART), None)
        if near is None:
            dots.append(Dot(mark.kind, x, 1, mark.title))
        else:
            dots[dots.index(near)] = Dot(near.kind, near.x, near.count + 1, f"{near.count + 1} effects {near.kind}")
    return dots


def _ticks(lane: Lane) -> list[Tick]:
    """Lines at round times since the first record."""
    start = when(lane.records[0])
    span = lane.end - lane.begin
    step = next((each for each in _STEPS if span / each <= _TICKS), 86_400.0 * math.ceil(span / 86_400 / _TICKS))
    first = math.ceil((lane.begin - start) / step)
    count = int((lane.end - start) / step) - first + 1
    return [Tick(_x(lane, start + step * n), _since(step * n)) for n in range(first, first + count)]


def _since(seconds: float) -> str:
    if seconds == 0:
        return "0"
    sign, seconds = ("−" if seconds < 0 else "+"), abs(seconds)
    if seconds < 60:
        return f"{sign}{seconds:g} s"
    if seconds < 3_600:
        return f"{sign}{seconds / 60:g} min"
    return f"{sign}{seconds / 3_600:g} h"


def _moment(record: Record, ago: float = 0.0) -> str:
    try:
        moment = datetime.fromtimestamp(when(record) - ago, UTC)
    except (ValueError, OverflowError):
        return "before all time"
    return moment.isoformat(sep=" ", timespec="milliseconds")[:-6]


def _taken(record: Record) -> str:
    """When the picture of a record was taken."""
    age = record["facts"].get("age", 0)
    return _moment(record, 0.0 if isinstance(age, str) else age)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")[:-6]


def _picture(place: Place, sha256: Any) -> str | None:
    """A picture as a data URI; None where it cannot be read."""
    with contextlib.suppress(OSError, KeyError, *DAMAGED):
        return f"data:image/png;base64,{base64.b64encode(picture_file(place, str(sha256)).read_bytes()).decode()}"
    return None
