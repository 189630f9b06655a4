"""Waiting between two looks."""

import asyncio


async def pause(closing: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until the gateway closes."""
    try:
        async with asyncio.timeout(seconds):
            await closing.wait()
    except TimeoutError:
        return
