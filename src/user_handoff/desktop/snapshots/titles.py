"""The titles of native windows, without what is in the fields of the pages that they show."""

import asyncio
from collections.abc import Iterable

from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.computer import WindowInfo
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.snapshots.redact import scrub

_SECONDS = 0.5


async def told(windows: Iterable[WindowInfo], browsers: Iterable[ManagedBrowser]) -> tuple[WindowInfo, ...]:
    """The same windows; where a browser does not say what is in its fields, the titles of its windows are withheld.

    Args:
        windows: As the display knows them.
        browsers: Those of this desktop.
    """
    browsers = tuple(browsers)
    values = await asyncio.gather(*(_values(browser) for browser in browsers))
    known = {browser.record.browser.pid: found for browser, found in zip(browsers, values, strict=True)}
    return tuple(_told(window, known[window.pid]) if window.pid in known else window for window in windows)


def _told(window: WindowInfo, values: set[str] | None) -> WindowInfo:
    if values is None:
        return window.model_copy(update={"title": "", "title_withheld": True})
    return window.model_copy(update={"title": scrub(window.title, values)})


async def _values(browser: ManagedBrowser) -> set[str] | None:
    try:
        found = await asyncio.wait_for(asyncio.gather(*(page.values() for page in list(browser.pages))), _SECONDS)
    except (TimeoutError, PlaywrightError):
        return None
    return set(browser.secrets).union(*found)
