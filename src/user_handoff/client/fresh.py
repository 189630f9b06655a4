"""Answers that are kept for a moment, so that many who ask at once cost one question."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

ANEW_SECONDS: Final = 0.1
"""How often at most a thing is asked for anew because what was kept did not help."""


@dataclass(frozen=True, slots=True)
class _Asked(Generic[T]):
    at: float
    answer: "asyncio.Task[T]"


class Fresh(Generic[T]):
    """Asks for a thing by its name, and gives the answer to everybody who asks within a moment.

    Failures are told to those who wait for them, and kept for nobody. How much is kept is bounded: whoever makes names
    up pushes out answers, which are asked for again then.
    """

    def __init__(self, ask: Callable[[str], Awaitable[T]], *, seconds: float = 1.0, limit: int = 1_000) -> None:
        """Keep answers.

        Args:
            ask: Asks for what has this name.
            seconds: An answer is given to those who ask within so long after the question was put.
            limit: How many answers are kept.
        """
        self._ask = ask
        self._seconds = seconds
        self._limit = limit
        self._asked: dict[str, _Asked[T]] = {}

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._asked)

    async def get(self, name: str, enough: Callable[[T], bool] | None = None) -> T:
        """The answer, or what the question failed with.

        Args:
            name: Of what.
            enough: Says whether an answer that was kept will do; otherwise it is asked anew, though not more often
                than ten times a second: whoever asks in vain waits that long.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        asked = self._since(name, began - self._seconds)
        answer = await _shared(asked)
        if asked.at >= began or enough is None or enough(answer):
            return answer
        await asyncio.sleep(max(0.0, asked.at + ANEW_SECONDS - clock()))
        return await _shared(self._since(name, began))

    def forget(self, name: str) -> None:
        """Ask anew next time: it was changed from here."""
        self._asked.pop(name, None)

    def _since(self, name: str, when: float) -> _Asked[T]:
        """The question, as it was put since then; put now if it was not."""
        asked = self._asked.pop(name, None)
        if asked is None or asked.at <= when:
            asked = _Asked(asyncio.get_running_loop().time(), asyncio.ensure_future(self._ask(name)))
            answer = asked.answer
            answer.add_done_callback(lambda _: self._on_done(name, answer))
        self._asked[name] = asked
        while len(self._asked) > self._limit:
            del self._asked[next(iter(self._asked))]
        return asked

    def _on_done(self, name: str, answer: "asyncio.Task[T]") -> None:
        failed = answer.cancelled() or answer.exception() is not None
        asked = self._asked.get(name)
        if failed and asked is not None and asked.answer is answer:
            del self._asked[name]


async def _shared(asked: _Asked[T]) -> T:
    # One who gives up leaves the question to the others.
    return await asyncio.shield(asked.answer)
