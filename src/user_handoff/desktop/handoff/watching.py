"""Looking for what ends a person's turn while they have the browser. It only looks: nothing is taken from them here."""

import asyncio
import logging
from collections.abc import Callable

from user_handoff.contract.conditions import AnyCondition
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import GuardHold, HoldEnd
from user_handoff.desktop.browser.conditions import watch
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browsers import Browsers
from user_handoff.desktop.handoff.holds import Holds

log = logging.getLogger(__name__)

_SETTLE_SECONDS = 1.0
"""For how long the condition must hold: a page that only passes by is not the end of somebody's work."""


May = Callable[[ManagedBrowser, AnyCondition], None]


async def watch_hold(holds: Holds, browsers: Browsers, request: GuardHold, may: May) -> HoldEnd:
    """Wait for the end of a hold, or until what is watched for is observed in it.

    Args:
        holds: The holds.
        browsers: The browsers.
        request: Which hold, and what is watched for.
        may: Raises where that may not be looked for: it is never observed then, and the hold goes on.

    Raises:
        HandoffError: `unknown_handoff` or `fence_mismatch`.
    """
    holds.check_fence(request)
    ending = asyncio.create_task(holds.wait_end(request))
    watching = asyncio.create_task(_observed(holds, browsers, request, may))
    try:
        await asyncio.wait({ending, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done() and (seen := watching.result()) is not None:
            return seen
        return await ending
    finally:
        for task in (ending, watching):
            task.cancel()
        await asyncio.gather(ending, watching, return_exceptions=True)


async def _observed(holds: Holds, browsers: Browsers, request: GuardHold, may: May) -> HoldEnd | None:
    """That it was observed; None where it was not while the hold lasted, or could not be looked for."""
    record = holds.record(request.handoff_id)
    if record is None or request.watch is None:
        return None
    try:
        browser = browsers.get(request.browser_id)
        may(browser, request.watch)
        seen = await watch(request.watch, browser, record.seconds_left, _SETTLE_SECONDS)
    except HandoffError as error:
        log.warning("%s: its condition cannot be looked for: %s", request.handoff_id, error.code)
        return None
    if not seen.met:
        return None
    log.info("%s: what ends it was observed", request.handoff_id)
    return HoldEnd(handoff_id=request.handoff_id, how="observed", observation=seen)
