"""What a view tells a page, in the order in which it was said."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

_MOST: Final = 256
_LAST_SECONDS: Final = 1.0


class Words:
    """A queue of messages to one page; a page that does not listen for long is not told."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Prepare; `speak` sends.

        Args:
            send: Sends one message to the page.
        """
        self._send = send
        self._said: asyncio.Queue[str] = asyncio.Queue(_MOST)

    def tell(self, message: dict[str, Any]) -> None:
        """Tell the page something."""
        with contextlib.suppress(asyncio.QueueFull):
            self._said.put_nowait(json.dumps(message))

    def not_typed(self, number: int = 0) -> None:
        """Tell that a text was not typed; 0: something that was done without one."""
        self.typed(number, done=False)

    def typed(self, number: int, *, done: bool) -> None:
        """Tell what became of a text."""
        self.tell({"t": "typed", "n": number, "ok": done})

    async def speak(self) -> None:
        """Send what is said, until cancelled."""
        while True:
            await self._send(await self._said.get())

    async def last(self) -> None:
        """Wait for a moment until all that was said is sent."""
        deadline = time.monotonic() + _LAST_SECONDS
        while not self._said.empty() and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
