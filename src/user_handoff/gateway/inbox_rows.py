"""What the inbox lists: handoffs that go on, and those that have ended lately."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Final

from user_handoff.client import HandoffClient
from user_handoff.client.calls import told_by_each
from user_handoff.client.fresh import Fresh
from user_handoff.contract.handoff import HandoffState, Result, Summary
from user_handoff.contract.names import Workflows
from user_handoff.contract.urls import place_of

LOOK_SECONDS: Final = 1.5
"""How old at most what is listed may be: it is looked up once for all who watch."""

_MOST: Final = 200
_RECENT: Final = 20
_RECENT_FOR: Final = timedelta(days=1)

Sees = Callable[[Summary], bool]
"""Whether somebody may know of a handoff."""


@dataclass(frozen=True, slots=True)
class Row:
    """One handoff in the list.

    Attributes:
        key: Names its place on the page.
        version: Changes when the row has something else to say.
        summary: What its workflow says.
        title: What it is about.
        state: Where it stands, or how it ended, in words.
        tone: `good`, `warn`, `bad` or `calm`.
        seconds_left: Until it expires.
        open: A person can still be sent there.
    """

    key: str
    version: str
    summary: Summary
    title: str
    state: str
    tone: str
    seconds_left: int
    open: bool


class Rows:
    """Looks handoffs up. It keeps nothing but what can never change again."""

    def __init__(self, client: HandoffClient) -> None:
        self._client = client
        self._fresh = Fresh(self._listed, seconds=LOOK_SECONDS, limit=2)
        self._ended: OrderedDict[str, Summary] = OrderedDict()

    async def waiting(self, sees: Sees, words: ModuleType) -> list[Row]:
        """Those that go on, the most urgent first.

        Raises:
            SetupError: ``temporal_unreachable``.
        """
        found = [s for s in await self._fresh.get("running") if not s.state.ended and sees(s)]
        return [row_of(s, words) for s in sorted(found, key=_urgency)]

    async def recent(self, sees: Sees, words: ModuleType) -> list[Row]:
        """Those that have ended in the last day, the newest first, as far as they fit.

        Raises:
            SetupError: ``temporal_unreachable``.
        """
        return [row_of(s, words) for s in await self._fresh.get("ended") if s.state.ended and sees(s)][:_RECENT]

    async def one(self, handoff_id: str) -> Summary:
        """One of them, as it stands now.

        Raises:
            Gone: ``unknown_handoff``.
            SetupError: ``temporal_unreachable``.
        """
        return await self._client.summary(handoff_id)

    async def _listed(self, which: str) -> list[Summary]:
        if which == "running":
            rest = "ExecutionStatus = 'Running'"
        else:
            since = (datetime.now(UTC) - _RECENT_FOR).strftime("%Y-%m-%dT%H:%M:%SZ")
            rest = f"ExecutionStatus != 'Running' AND CloseTime > '{since}'"
        query = f"WorkflowType = '{Workflows.HANDOFF}' AND {rest}"
        found = [row.id async for row in self._client.temporal.list_workflows(query, limit=_MOST)]
        return await told_by_each(found, self._summary)

    async def _summary(self, handoff_id: str) -> Summary:
        known = self._ended.get(handoff_id)
        if known is not None:
            return known
        summary = await self._client.summary(handoff_id)
        if summary.state.ended:
            self._ended[handoff_id] = summary
            while len(self._ended) > 2 * _MOST:
                self._ended.popitem(last=False)
        return summary


def row_of(summary: Summary, words: ModuleType) -> Row:
    """Say what holds for one handoff, without anything that is on its page."""
    boundary = summary.boundary
    host = place_of(boundary.url)[0] if boundary else ""
    title = words.TITLES[boundary.category if boundary else None]
    left = (summary.expires_at - datetime.now(UTC)).total_seconds() if summary.expires_at else 0
    answered = summary.answer is not None and summary.state is HandoffState.HELD
    state = words.STATES.get(HandoffState.FINISHING if answered else summary.state, "")
    return Row(
        key=f"row-{hashlib.sha256(summary.handoff_id.encode()).hexdigest()[:16]}",
        version=f"{summary.state}.{summary.answer or '-'}.{summary.result or '-'}",
        summary=summary,
        title=words.title_at(title, host) if host else title,
        state=words.RESULTS[summary.result] if summary.result and summary.state.ended else state,
        tone=_tone(summary),
        seconds_left=max(0, int(left)),
        open=summary.waits,
    )


def _tone(summary: Summary) -> str:
    if summary.result is Result.VERIFIED:
        return "good"
    if summary.state in (HandoffState.EXPIRED,) or summary.result in (Result.NOT_VERIFIED, Result.EXPIRED):
        return "warn"
    if summary.result in (Result.REVOKED, Result.RUNNER_LOST, Result.REFUSED):
        return "bad"
    return "calm"


def _urgency(summary: Summary) -> tuple[bool, float]:
    """Those that a person can still answer first, the next to expire before the others."""
    waits = summary.answer is None and summary.state is HandoffState.HELD
    return not waits, summary.expires_at.timestamp() if summary.expires_at else float("inf")
