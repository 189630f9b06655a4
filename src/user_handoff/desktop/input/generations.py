"""Generations of the display: one look, then one effect, while nothing has changed in between."""

import threading
import time
from dataclasses import dataclass

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id

MAX_AGE_SECONDS = 300.0
"""How long a look counts."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a generation stands for.

    Attributes:
        generation: Its id.
        epoch: The desktop's control epoch: another means that control changed hands.
        focused: The window that had the keyboard; None: none had.
        seen: When, by `time.monotonic`.
    """

    generation: str
    epoch: int
    focused: int | None
    seen: float


class Generations:
    """The latest look, which is the only one that counts: so no more than one is kept. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest: Look | None = None

    def mint(self, epoch: int, focused: int | None) -> str:
        """Name a look; every earlier one is dead from now on."""
        look = Look(new_id("g"), epoch, focused, time.monotonic())
        with self._lock:
            self._latest = look
        return look.generation

    def check(self, generation: str, epoch: int) -> Look:
        """The look of a generation that may still be acted on.

        Raises:
            Stale: `stale_generation`: it is not the latest, was spent, is too old, or control has changed hands since.
        """
        with self._lock:
            look = self._latest
        if look is None or look.generation != generation:
            raise stale("This is not the latest look at the desktop, or an effect has followed it already.")
        if look.epoch != epoch:
            raise stale("Control of the desktop has changed hands since this look.")
        if time.monotonic() - look.seen > MAX_AGE_SECONDS:
            raise stale(f"This look is older than {MAX_AGE_SECONDS:g} s.")
        return look

    def spend(self, generation: str, epoch: int) -> Look:
        """Take the look of a generation, for the one effect that may follow it; raises as `check` does."""
        look = self.check(generation, epoch)
        self.forget()
        return look

    def forget(self) -> None:
        """Let no look count: what was seen while an effect ran is not how the effect left it."""
        with self._lock:
            self._latest = None


def stale(what: str) -> HandoffError:
    """The refusal of an effect on what is no longer as it was seen."""
    return make_error(
        ErrorCode.STALE_GENERATION,
        what,
        holds="Nothing more was sent.",
        do_next="Look at the desktop again, then act.",
    )
