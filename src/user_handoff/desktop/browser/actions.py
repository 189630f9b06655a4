"""What an agent can do to a page. The gate is not here: see `effects`, which runs these under a permit."""

import hashlib
import re
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator
from playwright.async_api import TimeoutError as PlaywrightTimeout

from user_handoff.contract.browser import (
    Back,
    Click,
    ClosePage,
    Download,
    EffectOutcome,
    Fill,
    Navigate,
    PageEffect,
    Press,
    Select,
)
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.snapshots.locate import locate
from user_handoff.desktop.urls import check_openable, redact_url

_STARTED = re.compile(r"performing (click|fill|press|select|check)|element is visible, enabled and (stable|editable)")
"""What Playwright's call log holds once an action may have reached the page."""


async def target_of(page: ManagedPage, effect: PageEffect) -> Locator | None:
    """The element that an effect names, checked to be what the snapshot showed; None where it names none.

    Raises:
        Stale: `stale_element`.
    """
    element_id: str | None = getattr(effect, "element_id", None)
    if element_id is None:
        return None
    binding = (await page.bound(element_id)).resolve(element_id)
    return await page.bounded(locate(page.page, binding, element_id))


def check(effect: PageEffect) -> None:
    """Refuse what can be refused without touching the page.

    Raises:
        Refused: `url_refused`.
    """
    if isinstance(effect, Navigate):
        check_openable(effect.url)


async def act(page: ManagedPage, effect: PageEffect, target: Locator | None) -> None:
    """Do it, once.

    Raises:
        HandoffError: With `details["outcome"]`: `not_started` or `outcome_unknown`.
    """
    try:
        await _dispatch(page, effect, target)
    except PlaywrightTimeout as error:
        raise _timed_out(page, effect, str(error)) from None
    except PlaywrightError as error:
        raise failed(page, effect, str(error)) from None


async def _dispatch(page: ManagedPage, effect: PageEffect, target: Locator | None) -> None:
    limit = effect.timeout_seconds * 1000
    match effect:
        case Click() if target:
            await target.click(timeout=limit)
        case Fill() if target:
            await target.fill(effect.text, timeout=limit)
        case Select() if target:
            await target.select_option(label=list(effect.labels), timeout=limit)
        case Press() if target:
            await target.press(effect.key, timeout=limit)
        case Press():
            await page.page.keyboard.press(effect.key)
        case Navigate():
            await _load(page, partial(page.page.goto, effect.url), limit)
        case Back():
            await _load(page, page.page.go_back, limit)
        case ClosePage():
            await page.page.close()
        case _:
            raise make_error(ErrorCode.INVALID_REQUEST, f"Unknown effect {type(effect).__name__}.")


async def _load(page: ManagedPage, go: Callable[..., Awaitable[object]], limit: float) -> None:
    ends = time.monotonic() + limit / 1000
    try:
        await go(timeout=limit, wait_until="commit")
    except PlaywrightTimeout:
        # It would count as in flight, and no hold could begin, for as long as the site is silent.
        await page.stop_loading()
        raise
    # For Playwright, 0 is no limit at all.
    await page.page.wait_for_load_state("domcontentloaded", timeout=max(1, (ends - time.monotonic()) * 1000))


async def save_download(page: ManagedPage, effect: Download, target: Locator, folder: Path) -> tuple[Path, int, str]:
    """Click, wait for the download, and keep it in a folder.

    Returns:
        The file, its size in bytes, and its SHA-256.
    """
    limit = effect.timeout_seconds * 1000
    try:
        async with page.page.expect_download(timeout=limit) as waiting:
            await target.click(timeout=limit)
        download = await waiting.value
        name = page.without_values(download.suggested_filename)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", name)[-100:].lstrip(".") or "download"
        path = folder / f"{effect.effect_id}-{name}"
        await download.save_as(path)
    except PlaywrightTimeout as error:
        raise _timed_out(page, effect, str(error)) from None
    except PlaywrightError as error:
        raise failed(page, effect, str(error)) from None
    path.chmod(0o600)
    content = path.read_bytes()
    return path, len(content), hashlib.sha256(content).hexdigest()


def _timed_out(page: ManagedPage, effect: PageEffect, log: str) -> HandoffError:
    name = type(effect).__name__.lower()
    if isinstance(effect, Navigate):
        return make_error(
            ErrorCode.NAVIGATION_FAILED,
            f"The page at {redact_url(effect.url)} did not load within {effect.timeout_seconds:g} s.",
            holds="The browser is open; the page may show part of it.",
            do_next="Take a snapshot to see where it is; navigate again, or report that the site does not answer.",
            outcome=str(EffectOutcome.OUTCOME_UNKNOWN),
            browser_id=effect.browser_id,
        )
    if isinstance(effect, Click | Fill | Press | Select) and not _STARTED.search(log):
        return make_error(
            ErrorCode.ACTION_TIMEOUT,
            f"The {name} waited {effect.timeout_seconds:g} s for its element to be visible, still and enabled.",
            holds="It was not started.",
            do_next="Take a snapshot: something may cover the element, or it is disabled.",
            outcome=str(EffectOutcome.NOT_STARTED),
            page_id=page.page_id,
        )
    return unknown(effect.effect_id, f"The {name} did not end within {effect.timeout_seconds:g} s.")


def failed(page: ManagedPage, effect: PageEffect, log: str) -> HandoffError:
    """The error for what the browser answered, in our words: its own may quote the page."""
    name = type(effect).__name__.lower()
    if "browser_held" in log:
        return make_error(
            ErrorCode.BROWSER_HELD,
            "A person took the browser before the effect reached it.",
            holds="It was not started; the browser is held.",
            do_next="Wait for the end of the handoff, then take a fresh snapshot.",
            outcome=str(EffectOutcome.NOT_STARTED),
        )
    if isinstance(effect, Navigate):
        reason = re.search(r"net::(ERR_[A-Z_]+)", log)
        return make_error(
            ErrorCode.NAVIGATION_FAILED,
            f"The page at {redact_url(effect.url)} could not be loaded ({reason[1] if reason else 'no answer'}).",
            holds="The browser is open.",
            do_next="Check the address and that the site answers; then navigate again.",
            outcome=str(EffectOutcome.OUTCOME_UNKNOWN),
            browser_id=effect.browser_id,
        )
    if page.gone and not isinstance(effect, ClosePage):
        return unknown(effect.effect_id, f"The page was closed during the {name}.")
    return unknown(effect.effect_id, f"The browser could not complete the {name}.")


def unknown(effect_id: str, what: str) -> HandoffError:
    """The error for an effect whose end was not seen."""
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        what,
        holds="It may have happened.",
        do_next="Take a snapshot and look, before anything is done again.",
        outcome=str(EffectOutcome.OUTCOME_UNKNOWN),
        effect_id=effect_id,
    )
