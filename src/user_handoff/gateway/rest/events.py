"""Server-sent events of one handoff, for whoever was let in before."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from user_handoff.client.client import HandoffClient
from user_handoff.client.fresh import Fresh
from user_handoff.contract.claims import digest_of
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Summary
from user_handoff.gateway.pausing import pause
from user_handoff.gateway.rest.budgets import too_much

LOOK_SECONDS: Final = 0.4
"""How often a handoff is looked at while anybody follows it: once for all who do."""

HEARTBEAT_SECONDS: Final = 15.0
"""How often a stream says that it lives, where nothing else is to be said."""

MAX_STREAMS: Final = 200
MAX_STREAMS_OF_ONE: Final = 20
"""How many streams are open at once: in all, and of one caller."""

_RETRY_MS: Final = 1_000
_FULL_SECONDS: Final = 10
_OUTAGES: Final = (ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.OUTCOME_UNKNOWN)

Tell = Callable[[Summary], dict[str, Any]]


class HandoffEvents:
    """Streams of handoffs. Each says what holds, then each change, and ends with the handoff.

    What is missed while a stream is cut off is not told afterwards: the event that comes then says what holds by then.
    """

    def __init__(self, client: HandoffClient) -> None:
        """Make it.

        Args:
            client: Where handoffs are asked.
        """
        self._summaries = Fresh(client.summary, seconds=LOOK_SECONDS)
        self._open: Counter[str] = Counter()
        self._closing = asyncio.Event()

    @property
    def count(self) -> int:
        """How many streams are open."""
        return self._open.total()

    def close(self) -> None:
        """End all streams: their clients come again, to another gateway."""
        self._closing.set()

    def stream(
        self, handoff_id: str, who: str, tell: Tell, still: Callable[[], Awaitable[object]], last_event_id: str = ""
    ) -> Response:
        """Follow one handoff.

        Args:
            handoff_id: Which.
            who: Names the caller, for the bound of how many streams one has.
            tell: What the caller may know of a summary.
            still: Raises once the caller may follow no more.
            last_event_id: The id of the last event that the client has; what it has is not told again.

        Raises:
            Refused: ``rate_limited``: as many streams are open as may be.
        """
        if self.count >= MAX_STREAMS or self._open[who] >= MAX_STREAMS_OF_ONE:
            raise too_much("As many streams are open as may be.", _FULL_SECONDS)
        return _Stream(self._open, who, self._events(handoff_id, tell, still, last_event_id))

    async def _events(
        self, handoff_id: str, tell: Tell, still: Callable[[], Awaitable[object]], last: str
    ) -> AsyncIterator[str]:
        clock = asyncio.get_running_loop().time
        yield f"retry: {_RETRY_MS}\n\n"
        said = clock()
        while not self._closing.is_set():
            try:
                await still()
                summary = await self._summaries.get(handoff_id)
            except HandoffError as error:
                if error.code not in _OUTAGES:
                    yield _event("refused", "", error.to_dict())
                    return
            else:
                data = tell(summary)
                if (event_id := event_id_of(data)) != last:
                    last, said = event_id, clock()
                    yield _event("end" if summary.state.ended else "state", event_id, data)
                if summary.state.ended:
                    return
            if clock() - said >= HEARTBEAT_SECONDS:
                said = clock()
                yield ": still here\n\n"
            await pause(self._closing, LOOK_SECONDS)


class _Stream(StreamingResponse):
    """Counts while it is sent."""

    def __init__(self, streams: Counter[str], who: str, events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})
        self._streams = streams
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._streams[self._who] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams[self._who] -= 1
            if not self._streams[self._who]:
                del self._streams[self._who]


def event_id_of(data: dict[str, Any]) -> str:
    """Names what an event tells: the same at every gateway."""
    return digest_of(data)[:16]


def _event(name: str, event_id: str, data: dict[str, Any]) -> str:
    lines = [f"event: {name}"]
    if event_id:
        lines.append(f"id: {event_id}")
    return "\n".join([*lines, f"data: {json.dumps(data)}", "", ""])
