"""Waiting for the thing itself."""

import asyncio
from collections.abc import Callable


async def until(check: Callable[[], object], seconds: float = 10) -> None:
    """Look again and again until it is true.

    Raises:
        TimeoutError: It was not true in time.
    """
    async with asyncio.timeout(seconds):
        while not check():  # noqa: ASYNC110  (what is waited for may be anything)
            await asyncio.sleep(0.005)
