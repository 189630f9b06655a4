"""What the servers of a browser's pages have answered: addresses without query, and statuses. No bodies, no headers."""

from collections import deque
from collections.abc import Callable

from playwright.async_api import BrowserContext
from playwright.async_api import Response as PlaywrightResponse

from user_handoff.contract.conditions import Response
from user_handoff.contract.urls import matches, redact_url

_MOST = 1_000
_KINDS = ("document", "xhr", "fetch")


class Responses:
    """Notes them from `start` on. A runner that takes over begins anew: what it did not see does not count."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._seen: deque[tuple[str, int]] = deque(maxlen=_MOST)
        self._started = False
        self._listeners: list[Callable[[], None]] = []

    def start(self, *, anew: bool = False) -> None:
        """Begin to note them.

        Args:
            anew: Forget what was noted before.
        """
        if anew:
            self._seen.clear()
        if not self._started:
            self._started = True
            self._context.on("response", self._note)

    def find(self, condition: Response) -> str | None:
        """What met a condition, in words; None where nothing did."""
        for url, status in reversed(self._seen):
            if status in condition.statuses and matches(condition.glob, url):
                return f"response {status} of {url}"
        return None

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this after every response."""
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        """Call it no more."""
        self._listeners.remove(listener)

    def _note(self, response: PlaywrightResponse) -> None:
        if response.request.resource_type in _KINDS:
            self._seen.append((redact_url(response.url), response.status))
        for listener in self._listeners:
            listener()
