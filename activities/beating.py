"""Heartbeats of activities that wait."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from temporalio import activity

_SECONDS: Final = 2.0


@contextlib.asynccontextmanager
async def beating() -> AsyncIterator[None]:
    """Tell the server all the while that this worker lives, so that a killed one is missed within seconds."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(_SECONDS)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
