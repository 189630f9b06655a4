"""How the parts of a desktop say what happened. Saying it never blocks and never fails."""

from typing import Protocol

Fact = str | int | float | bool | None


class Notes(Protocol):
    """Takes what happened."""

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: Fact) -> None:
        """Take one event; what goes wrong in keeping it is logged, and is nobody else's trouble.

        Args:
            event: What happened, such as ``takeover_start``.
            browser_id: The browser that it is about; None: the whole desktop.
            about: The handoff or takeover that it belongs to.
            facts: Ids, states, durations: never contents, never what was typed.
        """


class Unnoted:
    """Keeps nothing."""

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: Fact) -> None:
        """Forget it."""
