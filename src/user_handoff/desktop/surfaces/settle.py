"""Resolving the window of a page while windows move, open and close."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces.base import SurfaceFinder, WindowBounds, not_found

_PAUSE_SECONDS = 0.05

Said = Callable[[], Awaitable[Mapping[str, Any]]]


async def resolve_settled(
    finder: SurfaceFinder, said: Said, process: ProcessIdentity, window_class: str, seconds: float = 2.0
) -> Surface:
    """The window that shows a page: found where the browser said it was, before the search and after it.

    A window that closes between the browser's word and the search would leave another as the only one: the second
    answer, which a closed page does not give, tells. A window that is being moved is waited for.

    Args:
        finder: Finds windows.
        said: Asks the browser for the bounds of the page's window, as CDP answers them; raises where the page is gone.
        process: The browser's own process.
        window_class: The token given to the browser at its launch.
        seconds: How long a window may move.

    Raises:
        Refused: As `SurfaceFinder.resolve`; `surface_not_found` also where the window never stood still.
    """
    deadline = time.monotonic() + seconds
    while True:
        bounds = await said()
        problem = not_found("it is being moved")
        try:
            surface = await asyncio.to_thread(finder.resolve, process, WindowBounds.of_cdp(bounds), window_class)
        except Refused as error:
            if error.code is not ErrorCode.SURFACE_NOT_FOUND:
                raise
            problem = error
        else:
            if await said() == bounds:
                return surface
        if time.monotonic() > deadline:
            raise problem
        await asyncio.sleep(_PAUSE_SECONDS)
