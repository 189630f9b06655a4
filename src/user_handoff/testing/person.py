"""A person who acts as told."""

import asyncio
from dataclasses import KW_ONLY, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ScriptedPerson:
    """What a person does with one handoff, once they have the browser.

    Attributes:
        answer: What they say; ``never``: nothing, so that the hold expires, after `after_seconds` or half a second.
        note: Their words.
        does_it: Whether the step is done in the browser: the wall before the page is passed. None: where they say
            ``done``. ``ScriptedPerson("done", does_it=False)`` only says so, and the outcome is not verified.
        goes_to: Where the browser is when they give it back; None: where the agent wanted to be.
        after_seconds: How long they take.
        waits_for: They answer only once this is set, so that a test can look at what holds meanwhile.
    """

    answer: Literal["done", "could_not", "declined", "never"] = "done"
    _: KW_ONLY
    note: str = ""
    does_it: bool | None = None
    goes_to: str | None = None
    after_seconds: float = 0.0
    waits_for: asyncio.Event | None = None

    @property
    def does(self) -> bool:
        """Whether the step is done when they answer."""
        return self.answer == "done" if self.does_it is None else self.does_it

    @property
    def hold_seconds(self) -> float | None:
        """How long a hold may last; None: as long as the agent asked for."""
        return (self.after_seconds or 0.5) if self.answer == "never" else None
