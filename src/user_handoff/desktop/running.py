"""The effects that run in this runner, so that a person can cut off one that is stuck."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error


@dataclass(slots=True)
class _Effect:
    effect_id: str
    browser_id: str | None
    cut_by: str | None = None


class Running:
    """Which task runs which effect."""

    def __init__(self) -> None:
        self._effects: dict[asyncio.Task[Any], _Effect] = {}

    @contextlib.contextmanager
    def effect(self, effect_id: str, browser_id: str | None, started: Callable[[], bool]) -> Iterator[None]:
        """Run an effect in this task for as long as the block runs; it may be cut off meanwhile.

        Args:
            effect_id: The effect.
            browser_id: Its browser; None: it is native, and of the whole desktop.
            started: Whether anything of it has been dispatched.

        Raises:
            OutcomeUnknown: It was cut off after it had started.
            Held: It was cut off before.
        """
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an effect runs in a task")
        effect = self._effects[task] = _Effect(effect_id, browser_id)
        try:
            yield
        except asyncio.CancelledError:
            if effect.cut_by is None or task.uncancel():
                raise  # cancelled by its caller
            raise _cut_off(effect, started()) from None
        finally:
            del self._effects[task]

    def cancel_conflicting(self, browser_id: str, handoff_id: str) -> list[str]:
        """Cut off every effect that stands in the way of a hold; each ends at its next wait, a native one at its chunk.

        Args:
            browser_id: The browser that is to be held.
            handoff_id: For whom.

        Returns:
            The ids of the effects that were cut off.
        """
        cut = []
        for task, effect in self._effects.items():
            if effect.browser_id in (None, browser_id) and effect.cut_by is None:
                effect.cut_by = handoff_id
                task.cancel()
                cut.append(effect.effect_id)
        return cut


def _cut_off(effect: _Effect, started: bool) -> HandoffError:
    details = {"effect_id": effect.effect_id, "handoff_id": effect.cut_by}
    if started:
        return make_error(
            ErrorCode.OUTCOME_UNKNOWN,
            "A person took control, and the effect was cut off.",
            holds="A part of it may have happened; the rest will not.",
            do_next="Wait for the end of the handoff, then look before anything is done again.",
            outcome=str(EffectOutcome.OUTCOME_UNKNOWN),
            **details,
        )
    return make_error(
        ErrorCode.DESKTOP_HELD if effect.browser_id is None else ErrorCode.BROWSER_HELD,
        "A person took control before the effect was dispatched.",
        holds="It was not started.",
        do_next="Wait until the person is done, take a fresh snapshot, then act.",
        outcome=str(EffectOutcome.NOT_STARTED),
        **details,
    )
