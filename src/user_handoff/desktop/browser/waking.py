"""When to look again: the browser says so where it can, a clock where it cannot."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from user_handoff.contract.conditions import AnyCondition, Cookie, Element, Probe, Text, leaves

if TYPE_CHECKING:
    from user_handoff.desktop.browser.conditions import Observed

_PROBE_SECONDS = 2.0
_COOKIE_SECONDS = 1.0
_INSIDE_SECONDS = 2.0
"""A style sheet that arrives late shows something without a change of the document."""
_AT_LEAST_SECONDS = 10.0
"""However quiet everything is."""
_TOO_SOON_SECONDS = 0.05

# Resolves when what a page shows has changed: the browser calls it, and nothing is asked meanwhile.
_CHANGED = """() => new Promise(resolve => {
  const seen = new MutationObserver(() => { seen.disconnect(); resolve(true); });
  seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  addEventListener("transitionend", () => resolve(true), { once: true, capture: true });
})"""


class Waking:
    """Wakes whoever watches a condition."""

    def __init__(self, condition: AnyCondition, browser: "Observed") -> None:
        kinds = [type(leaf) for leaf in leaves(condition)]
        self._browser = browser
        self._looks_inside = Element in kinds or Text in kinds
        self._seconds = min(
            _PROBE_SECONDS if Probe in kinds else _AT_LEAST_SECONDS,
            _COOKIE_SECONDS if Cookie in kinds else _AT_LEAST_SECONDS,
            _INSIDE_SECONDS if self._looks_inside else _AT_LEAST_SECONDS,
        )
        self._woken = asyncio.Event()
        self._inside: dict[Frame, asyncio.Task[None]] = {}
        self._undo: list[Callable[[], None]] = []
        self._heard: set[str] = set()

    async def __aenter__(self) -> Self:
        self._browser.responses.listen(self._wake)
        self._undo.append(lambda: self._browser.responses.unlisten(self._wake))
        self._on(self._browser.context, "page", self._wake)
        return self

    async def __aexit__(self, *_: object) -> None:
        for undo in self._undo:
            undo()
        tasks = list(self._inside.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def listen(self) -> None:
        """Have everything that there is now say when it changes: called before a look, so that nothing is missed."""
        self._woken.clear()
        for page in self._browser.pages:
            if page.page_id not in self._heard:
                self._heard.add(page.page_id)
                for event in ("framenavigated", "domcontentloaded", "close", "crash"):
                    self._on(page.page, event, self._wake)
            for frame in page.page.frames if self._looks_inside else ():
                known = self._inside.get(frame)
                if known is None or known.done():
                    self._inside[frame] = asyncio.create_task(self._until_changed(frame))

    async def wait(self, seconds: float) -> None:
        """Wait until something may be different, and no longer than so many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), min(seconds, self._seconds))
        await asyncio.sleep(min(_TOO_SOON_SECONDS, seconds))

    async def _until_changed(self, frame: Frame) -> None:
        with contextlib.suppress(PlaywrightError):  # it went elsewhere, which is a change
            await frame.evaluate(_CHANGED)
        self._wake()

    def _on(self, source: Any, event: str, listener: Callable[..., None]) -> None:
        source.on(event, listener)
        self._undo.append(lambda: _off(source, event, listener))

    def _wake(self, *_: object) -> None:
        self._woken.set()


def _off(source: Any, event: str, listener: Callable[..., None]) -> None:
    with contextlib.suppress(PlaywrightError, KeyError, ValueError):
        source.remove_listener(event, listener)
