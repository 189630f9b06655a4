"""Somebody at the desk has a browser: how it is taken over, its lease renewed, and given back. Commands share it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from user_handoff.cli.exits import plain
from user_handoff.cli.people import this_user
from user_handoff.cli.state_files import DESKTOP
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.names import desktop_queue
from user_handoff.contract.takeover import (
    MAX_TAKEOVER_SECONDS,
    TakeoverBegun,
    TakeoverEnd,
    TakeoverRequest,
    TakeoverState,
    TakeoverSummary,
)
from user_handoff.desktop.lease.lease import HEARTBEAT_SECONDS
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.serving import read_serving

_LOOK_SECONDS: Final = 0.5
_OVER_SECONDS: Final = 3.0
_SUBJECT: Final = "desktop"

Until = Callable[[TakeoverBegun], Awaitable[str]]
"""Called when they have it; when it returns, the browser goes back, with what it returns as a note for the agent."""


def request_at_desk(
    folder: Path, browser: str, why: str = "", seconds: float = MAX_TAKEOVER_SECONDS, preempt: bool = False
) -> TakeoverRequest:
    """What whoever sits at this machine's desktop asks for.

    Raises:
        Refused: `runner_unavailable`: no desktop was served from this state folder.
        Held: `reservation_closed`.
    """
    serving = read_serving(folder / DESKTOP)
    return TakeoverRequest(
        browser_id=browser,
        client_id=serving.client_id,
        desktop_id=serving.desktop_id,
        queue=desktop_queue(serving.client_id, serving.desktop_id),
        role="desk",
        by=this_user(),
        why=why,
        seconds=seconds,
        preempt=preempt,
    )


async def control(
    client: TakeoverClient, folder: Path, request: TakeoverRequest, until: Until, stop: asyncio.Event
) -> TakeoverSummary:
    """Take a browser over, and keep it until it is given back or over.

    Args:
        client: Asks for it.
        folder: The state folder of the desktop; the lease is renewed there.
        request: Which, for how long.
        until: See `Until`. Where it raises, nothing renews the lease any more, and that ends it.
        stop: When it is set, the browser goes back without a word.

    Raises:
        HandoffError: It was refused, and nothing is held; or it could not be given back, and its lease ends by itself.
    """
    begun = await client.take_over(request)
    leases = Leases(folder / DESKTOP / f"{begun.desktop_id}.leases.db")
    try:
        return await _Session(client, begun, leases).run(until, stop)
    finally:
        leases.close()


class _Session:
    """While this person has the browser."""

    def __init__(self, client: TakeoverClient, begun: TakeoverBegun, leases: Leases) -> None:
        self._client = client
        self._begun = begun
        self._leases = leases
        self._failed: HandoffError | None = None

    async def run(self, until: Until, stop: asyncio.Event) -> TakeoverSummary:
        beating = asyncio.create_task(self._beat())
        words = asyncio.ensure_future(until(self._begun))
        over = asyncio.create_task(self._until_over())
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((words, beating, over, stopped), return_when=asyncio.FIRST_COMPLETED)
            return await self._leave(words, stopped, over)
        finally:
            for task in (words, beating, over, stopped):
                task.cancel()
            await asyncio.gather(words, beating, over, stopped, return_exceptions=True)

    async def _leave(
        self, words: "asyncio.Future[str]", stopped: "asyncio.Task[object]", over: "asyncio.Task[None]"
    ) -> TakeoverSummary:
        takeover_id = self._begun.takeover_id
        if words.done():
            return await self._client.give_back(takeover_id, words.result())
        # Where it cannot be known whether the lease stands, the desktop waits for the person to give it back.
        if stopped.done() or (self._failed is not None and self._failed.code is not ErrorCode.LEASE_LOST):
            return await self._client.cancel(takeover_id)
        await asyncio.wait((over,), timeout=_OVER_SECONDS)  # the desktop ends it in a moment
        return await self._client.takeover(takeover_id)

    async def _beat(self) -> None:
        """Renew the lease; the first renewal that fails is the end of it."""
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, self._begun.ttl_seconds / 3))
            try:
                self._leases.renew_by_id(_SUBJECT, self._begun.lease_id)
            except HandoffError as error:
                self._failed = error
                print(plain(f"Your control is over: {error.what}"), file=sys.stderr, flush=True)  # noqa: T201
                return

    async def _until_over(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                summary = await self._client.takeover(self._begun.takeover_id)
            except HandoffError as error:
                if error.code is not ErrorCode.TEMPORAL_UNREACHABLE:
                    raise
                continue  # the lease is renewed at the desktop all the same
            if summary.state is not TakeoverState.HELD:
                return


def told(summary: TakeoverSummary) -> str:
    """What became of it, for whoever had it."""
    if summary.state is TakeoverState.HELD:
        return "You have it no more. Its agent waits until the desktop takes it back."
    if summary.how in (TakeoverEnd.CLOSED, TakeoverEnd.REVOKED):
        return f"{str(summary.how).capitalize()}: the browser is gone, and nothing is left to give back."
    seconds = f" after {summary.seconds:.0f} s" if summary.seconds is not None else ""
    changes = summary.changes
    parts = [f"{str(summary.how or summary.state).capitalize()}{seconds}. The agent has to look before it acts."]
    if changes is not None:
        counts = {
            "pages opened": len(changes.pages_opened),
            "pages left": len(changes.pages_left),
            "titles": len(changes.titles),
            "cookies": len(changes.cookies_added) + len(changes.cookies_removed),
        }
        parts += [f"Changed: {', '.join(f'{count} {what}' for what, count in counts.items() if count) or 'nothing'}."]
    return plain(" ".join(parts))
