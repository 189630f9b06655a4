"""Waiting for the thing itself."""

import asyncio
import inspect
import reprlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")

_PAUSE = 0.005
_PAUSE_AWAITED = 0.02
"""What has to be awaited costs more to look at: mostly it is a question to a server."""

_LONGER, _LONGEST = 0.1, 0.15
"""Who has waited long already looks less often: by this part of the time, up to so many seconds."""


@overload
async def until(
    look: Callable[[], Awaitable[T | None]],
    seconds: float = 30,
    *,
    wanted: Callable[[T], object] = bool,
    what: str = "",
) -> T: ...
@overload
async def until(
    look: Callable[[], T | None], seconds: float = 30, *, wanted: Callable[[T], object] = bool, what: str = ""
) -> T: ...
async def until(
    look: Callable[[], Any], seconds: float = 30, *, wanted: Callable[[Any], object] = bool, what: str = ""
) -> Any:
    """Look again and again until what is seen is what is wanted, and return that.

    Args:
        look: Looks once; what it returns may have to be awaited.
        seconds: For how long.
        wanted: Whether what was seen is the thing; by default, whether it is true.
        what: What is waited for, where the source of `look` or `wanted` does not say it.

    Raises:
        TimeoutError: It did not come in time.
    """
    seen: Any = None
    began = time.monotonic()
    try:
        async with asyncio.timeout(seconds) as limit:
            while True:
                seen = look()
                awaited = inspect.isawaitable(seen)
                if awaited:
                    seen = await seen
                if wanted(seen):
                    return seen
                await asyncio.sleep(_pause(_PAUSE_AWAITED if awaited else _PAUSE, began))
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(_missed(look, seconds, wanted, what, seen)) from error


def until_blocking(look: Callable[[], T | None], seconds: float = 30, *, what: str = "") -> T:
    """The same where no event loop runs.

    Raises:
        TimeoutError: It did not come in time.
    """
    began = time.monotonic()
    while not (seen := look()):
        if time.monotonic() > began + seconds:
            raise TimeoutError(_missed(look, seconds, bool, what, seen))
        time.sleep(_pause(_PAUSE, began))
    return seen


def _pause(least: float, began: float) -> float:
    return max(least, min(_LONGEST, _LONGER * (time.monotonic() - began)))


def _missed(look: Callable[[], Any], seconds: float, wanted: Callable[[Any], object], what: str, seen: Any) -> str:
    named = what or _source(look if wanted is bool else wanted)
    return f"not within {seconds:g} s: {named}; seen last: {reprlib.repr(seen)}"


def _source(check: Callable[..., object]) -> str:
    """How a test wrote it: a lambda by its lines, anything else by its name."""
    name = getattr(check, "__qualname__", repr(check))
    return " ".join(inspect.getsource(check).split()) if name.endswith("<lambda>") else name
