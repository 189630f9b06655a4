"""What is noted of an effect: that it was refused, or that it was admitted and what became of it."""

import contextlib
import time
from collections.abc import Iterator

from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.evidence.noting import Fact, Notes


class EffectNotes:
    """Notes the effects of one desktop. Of what they are about, the kind alone."""

    def __init__(self, notes: Notes, **facts: Fact) -> None:
        """Note effects.

        Args:
            notes: Takes what is noted.
            facts: What is said of each of them.
        """
        self._notes = notes
        self._facts = facts
        self._admitted: dict[str, float] = {}

    @contextlib.contextmanager
    def one(self, effect_id: str, action: str, browser_id: str | None) -> Iterator[None]:
        """Note what becomes of an effect while the block runs; one that was done before is not noted again."""
        try:
            yield
        except HandoffError as error:
            self.failed(effect_id, action, browser_id, error)
            raise
        except BaseException as error:  # cut off by its caller
            if effect_id in self._admitted:
                self.over(effect_id, action, browser_id, code=type(error).__name__)
            raise
        else:
            if effect_id in self._admitted:
                self.over(effect_id, action, browser_id, outcome=str(EffectOutcome.COMPLETED))
        finally:
            self._admitted.pop(effect_id, None)

    def admitted(self, effect_id: str, action: str, browser_id: str | None, permit_id: int | None = None) -> None:
        """The effect is dispatched now."""
        self._admitted[effect_id] = time.monotonic()
        self._notes.note(
            "effect_admitted",
            browser_id=browser_id,
            about=None,
            effect_id=effect_id,
            action=action,
            permit_id=permit_id,
            **self._facts,
        )

    def failed(self, effect_id: str, action: str, browser_id: str | None, error: HandoffError) -> None:
        """The effect was refused, or has failed after it was admitted."""
        self.over(effect_id, action, browser_id, code=str(error.code), handoff=error.details.get("handoff_id"))

    def over(
        self,
        effect_id: str,
        action: str,
        browser_id: str | None,
        *,
        code: str | None = None,
        outcome: str | None = None,
        handoff: object = None,
        **more: Fact,
    ) -> None:
        """The effect is over: with a code it was refused, or has failed after it was admitted."""
        began = self._admitted.pop(effect_id, None)
        self._notes.note(
            "effect_refused" if began is None else "effect_completed" if code is None else "effect_failed",
            browser_id=browser_id,
            about=handoff if isinstance(handoff, str) else None,
            effect_id=effect_id,
            action=action,
            code=code,
            outcome=outcome,
            seconds=None if began is None else time.monotonic() - began,
            **self._facts,
            **more,
        )
