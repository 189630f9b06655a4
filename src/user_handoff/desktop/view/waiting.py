"""What a viewer has done and the display has not got yet, in the order in which it was done."""

import asyncio
from dataclasses import dataclass
from typing import Final

from user_handoff.desktop.view.rfb import Message

LONGEST_TEXT: Final = 10_000
_MOST: Final = 4096
"""Messages that wait for the display; a viewer who sends more waits themselves."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A text that is to be typed."""

    number: int
    text: str


class Waiting:
    """A queue of keys, movements of the pointer and texts."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Message | Typed] = asyncio.Queue(_MOST)
        self._next: Message | Typed | None = None
        self._busy = True

    @property
    def idle(self) -> bool:
        """True where nothing waits, and what was taken last is done."""
        return not self._busy and self._next is None and self._queue.empty()

    @property
    def room(self) -> int:
        """How many can be added at once."""
        return _MOST - self._queue.qsize()

    def put_now(self, done: Message | Typed) -> None:
        """Add one; there has to be room."""
        self._queue.put_nowait(done)

    async def put(self, done: Message | Typed) -> None:
        """Add one, once there is room."""
        await self._queue.put(done)

    async def take(self) -> Message | Typed:
        """The next one. Whoever asks for it is done with the one before."""
        following, self._next = self._next, None
        self._busy = False
        following = following or await self._queue.get()
        self._busy = True
        return following

    def drop(self) -> list[int]:
        """Forget all of it; returns the numbers of the texts."""
        dropped = [] if self._next is None else [self._next]
        self._next = None
        while not self._queue.empty():
            dropped.append(self._queue.get_nowait())
        return [each.number for each in dropped if isinstance(each, Typed)]

    def with_what_follows(self, typed: Typed) -> tuple[list[int], str]:
        """The texts that came meanwhile, as one: a paste takes a moment, and one is enough for all."""
        numbers, text = [typed.number], typed.text
        while self._next is None and not self._queue.empty():
            following = self._queue.get_nowait()
            if not isinstance(following, Typed) or len(text) + len(following.text) > LONGEST_TEXT:
                self._next = following
                break
            numbers.append(following.number)
            text += following.text
        return numbers, text
