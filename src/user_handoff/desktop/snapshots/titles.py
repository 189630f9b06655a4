"""The titles of native windows, without what is in the fields of their pages, or in the addresses of these."""

import asyncio
from collections.abc import Iterable

from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.computer import WindowInfo
from user_handoff.contract.urls import without_address
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.snapshots.redact import scrub

_SECONDS = 0.5
_LENGTH = 200


async def told(windows: Iterable[WindowInfo], browsers: Iterable[ManagedBrowser]) -> tuple[WindowInfo, ...]:
    """The same windows; where a browser does not say what is in its fields, the titles of its windows are withheld.

    A browser titles the window of a page by its address for as long as the page has no title of its own.

    Args:
        windows: As the display knows them.
        browsers: Those of this desktop.
    """
    browsers = tuple(browsers)
    values = await asyncio.gather(*(_values(browser) for browser in browsers))
    known: dict[int | None, set[str] | None] = {
        browser.record.browser.pid: found for browser, found in zip(browsers, values, strict=True)
    }
    return tuple(_told(window, known.get(window.pid, set())) for window in windows)


def _told(window: WindowInfo, values: set[str] | None) -> WindowInfo:
    if values is None:
        return window.model_copy(update={"title": "", "title_withheld": True})
    # cut last: half of a value is not found
    return window.model_copy(update={"title": scrub(without_address(window.title), values)[:_LENGTH]})


async def _values(browser: ManagedBrowser) -> set[str] | None:
    try:
        found = await asyncio.wait_for(asyncio.gather(*(page.values() for page in list(browser.pages))), _SECONDS)
    except (TimeoutError, PlaywrightError):
        return None
    return set(browser.secrets).union(*found)
