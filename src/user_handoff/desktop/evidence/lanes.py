"""The records of one handoff, laid out in time: who had control, what was let through, and what was refused."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

Record = Mapping[str, Any]

_AGENT: Final = "agent"
_BY_EVENT: Final = {
    "hold_beginning": "draining",
    "hold_held": "person",
    "hold_expired": "paused",
    "hold_returning": "paused",
    "hold_recovering": "looking",
    "hold_recovered": _AGENT,
    "hold_closed": "closed",
    "hold_revoked": "closed",
    "hold_refused": _AGENT,
    "hold_undone": _AGENT,
}
"""Who has the browser from this record on."""

WORDS: Final = {
    _AGENT: "agent",
    "draining": "effects end",
    "person": "person",
    "paused": "paused",
    "looking": "agent must look",
    "closed": "closed",
}
_MARKS: Final = {"effect_admitted": "through", "effect_refused": "refused", "effect_failed": "failed"}
_ENDS: Final = ("hold_recovered", "hold_closed", "hold_revoked", "hold_refused", "hold_undone")
_LEASE_ENDS: Final = ("lease_ended", "lease_lost")
_AROUND: Final = 0.08
"""So much of a lane's time is shown before and after it."""

_LEAST_SECONDS: Final = 1.0
_MOST_AROUND: Final = 60.0


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a lane.

    Attributes:
        kind: Who had it.
        begin: When, in seconds since the epoch.
        end: Until when.
    """

    kind: str
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Mark:
    """An effect.

    Attributes:
        kind: What became of it.
        at: When, in seconds since the epoch.
        title: What to say of it.
    """

    kind: str
    at: float
    title: str


@dataclass
class Lane:
    """One handoff or takeover.

    Attributes:
        about: Its id.
        browser_id: Its browser.
        begin: Where the picture of it begins, in seconds since the epoch.
        end: Where it ends.
        control: Who had the browser.
        typing: When somebody had control by a lease.
        marks: The effects meanwhile.
        records: Its own records.
    """

    about: str
    browser_id: str
    records: list[Record]
    begin: float = 0.0
    end: float = 0.0
    control: list[Span] = field(default_factory=list)
    typing: list[Span] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def owner(self) -> str:
        """Whose agent asked, or whose browser was taken."""
        return next((str(each["facts"]["owner"]) for each in self.records if "owner" in each["facts"]), "")

    @property
    def ended(self) -> str:
        """How it ended, by the last change of its hold."""
        last = [each for each in self.records if each["event"] in _BY_EVENT]
        if not last:
            return "no hold"
        facts = last[-1]["facts"]
        more = facts.get("reason") or facts.get("code")
        return str(last[-1]["event"]).removeprefix("hold_") + (f" ({more})" if more else "")

    @property
    def seconds(self) -> float:
        """How long the person had it."""
        return sum(span.seconds for span in self.control if span.kind == "person")

    def count(self, kind: str) -> int:
        """How many effects of a kind there were."""
        return sum(mark.kind == kind for mark in self.marks)

    @property
    def pictures(self) -> list[Record]:
        """The records that name a picture."""
        return [each for each in self.records if "picture" in each]


def when(record: Record) -> float:
    """The moment of a record, in seconds since the epoch."""
    return datetime.fromisoformat(record["at"]).timestamp()


def lanes(records: Iterable[Record]) -> list[Lane]:
    """A lane for everything that had a hold or a lease, in the order in which they began."""
    records = list(records)
    found: dict[str, Lane] = {}
    for record in records:
        about = record.get("about")
        if about is None or str(record["event"]).startswith("effect_"):
            continue
        lane = found.setdefault(about, Lane(about, record.get("browser_id", ""), []))
        lane.records.append(record)
    effects = sorted(((when(record), record) for record in records if record["event"] in _MARKS), key=_at)
    for lane in found.values():
        _lay_out(lane, effects)
    return list(found.values())


def _at(effect: tuple[float, Record]) -> float:
    return effect[0]


def _lay_out(lane: Lane, effects: Sequence[tuple[float, Record]]) -> None:
    times = [when(record) for record in lane.records]
    first, last = min(times), max(times)
    around = min(_MOST_AROUND, max(_LEAST_SECONDS, (last - first) * _AROUND))
    lane.begin, lane.end = first - around, last + around
    lane.control = _control(lane)
    lane.typing = _typing(lane)
    low, high = bisect_left(effects, lane.begin, key=_at), bisect_right(effects, lane.end, key=_at)
    for at, record in effects[low:high]:
        if record.get("browser_id") in (None, lane.browser_id):
            lane.marks.append(Mark(_MARKS[record["event"]], at, _title(record)))


def _control(lane: Lane) -> list[Span]:
    spans: list[Span] = []
    kind, since = _AGENT, lane.begin
    for record in lane.records:
        now = _BY_EVENT.get(record["event"])
        if now is None or now == kind:
            continue
        spans.append(Span(kind, since, when(record)))
        kind, since = now, when(record)
    return [span for span in [*spans, Span(kind, since, lane.end)] if span.end > span.begin]


def _typing(lane: Lane) -> list[Span]:
    spans: list[Span] = []
    since: float | None = None
    for record in lane.records:
        if record["event"] == "lease_taken":
            since = when(record) if since is None else since
        elif record["event"] in _LEASE_ENDS and since is not None:
            spans.append(Span("typing", since, when(record)))
            since = None
    return spans if since is None else [*spans, Span("typing", since, lane.end)]


def _title(record: Record) -> str:
    facts = record["facts"]
    what = f"{facts.get('action', 'effect')} {_MARKS[record['event']]}"
    return what + (f": {facts['code']}" if "code" in facts else "")
