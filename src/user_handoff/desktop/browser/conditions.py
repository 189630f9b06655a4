"""Observing whether a condition holds, in a browser that nobody acts on."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol

from playwright.async_api import BrowserContext, Locator
from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.conditions import (
    AllOf,
    AnyCondition,
    AnyOf,
    Cookie,
    Element,
    Not,
    Observation,
    Probe,
    Response,
    Text,
    Url,
)
from user_handoff.desktop.browser.pages import LOOK_SECONDS, ManagedPage
from user_handoff.desktop.browser.responses import Responses
from user_handoff.desktop.browser.waking import Waking
from user_handoff.desktop.snapshots.redact import scrub
from user_handoff.desktop.snapshots.values import Secrets
from user_handoff.desktop.urls import check_openable, matches, redact_url

_PAGE_SECONDS = 1.5
"""A page that is asked what it shows answers at once, or hangs: the others must have their look all the same."""


class Observed(Protocol):
    """The part of a browser that is looked at."""

    pages: list[ManagedPage]
    responses: Responses
    secrets: Secrets

    @property
    def context(self) -> BrowserContext:
        """Its context."""


Seen = tuple[bool | None, tuple[str, ...]]
"""Whether it holds, or None where that could not be seen; and facts without contents that say why."""


async def watch(
    condition: AnyCondition, browser: Observed, timeout_seconds: float, settle_seconds: float = 0
) -> Observation:
    """Look until the condition holds, or the time is up.

    Pages tell by themselves when they go elsewhere, show or hide something, or are answered; a probe and a cookie are
    looked for again and again.

    Args:
        condition: What must hold.
        browser: Where.
        timeout_seconds: How long to look, in seconds. A page that hangs does not make it longer.
        settle_seconds: For how long it must go on to hold.
    """
    browser.responses.start()
    began = time.monotonic()
    deadline = began + timeout_seconds
    held_since: float | None = None
    async with Waking(condition, browser) as waking:
        while True:
            waking.listen()
            seen, facts = await _within(deadline, observe(condition, browser))
            now = time.monotonic()
            held_since = None if not seen else now if held_since is None else held_since
            if held_since is not None and now - held_since >= settle_seconds:
                return _observation(True, facts, now - began, browser)
            if now >= deadline:
                return _observation(False, facts, now - began, browser)
            left = deadline - now
            if held_since is not None:
                left = min(left, held_since + settle_seconds - now)
            await waking.wait(left)


def _observation(met: bool, facts: tuple[str, ...], seconds: float, browser: Observed) -> Observation:
    told = tuple(scrub(fact, browser.secrets) for fact in facts)
    return Observation(met=met, facts=told, seconds=round(seconds, 3))


async def _within(deadline: float, look: Awaitable[Seen]) -> Seen:
    # the first look is always taken, however short the time
    left = max(deadline - time.monotonic(), 2.0)
    try:
        return await asyncio.wait_for(look, min(left, LOOK_SECONDS))
    except TimeoutError:
        return None, ("a page did not answer",)


async def observe(condition: AnyCondition, browser: Observed) -> Seen:
    """Look once."""
    match condition:
        case AllOf():
            return _all(await _each(condition.conditions, browser))
        case AnyOf():
            return _any(await _each(condition.conditions, browser))
        case Not():
            seen, facts = await observe(condition.condition, browser)
            return (None if seen is None else not seen), tuple(f"not: {fact}" for fact in facts)
        case Element():
            return await _shown(condition.role, [_element(page, condition) for page in browser.pages], browser.pages)
        case Text():
            return await _shown("text", [_text(page, condition) for page in browser.pages], browser.pages)
        case Probe():
            return await _probe(condition, browser.context)
        case Cookie():
            return await _cookie(condition, browser.context)
        case Response():
            found = browser.responses.find(condition)
            return found is not None, (found or f"no such response of {condition.glob}",)
        case Url():
            return _url(condition, browser.pages)


async def _each(conditions: tuple[AnyCondition, ...], browser: Observed) -> list[Seen]:
    return list(await asyncio.gather(*(observe(each, browser) for each in conditions)))


def _all(looks: list[Seen]) -> Seen:
    seen = [met for met, _ in looks]
    met = False if False in seen else None if None in seen else True
    return met, tuple(fact for _, facts in looks for fact in facts)


def _any(looks: list[Seen]) -> Seen:
    seen = [met for met, _ in looks]
    met = True if True in seen else None if None in seen else False
    return met, tuple(fact for found, facts in looks for fact in facts if found or not met)


def _url(condition: Url, pages: list[ManagedPage]) -> Seen:
    for page in pages:
        if matches(condition.glob, page.page.url):
            return True, (f"url {page.without_values(redact_url(page.page.url))}",)
    return False, (f"no page at {condition.glob}",)


def _element(page: ManagedPage, condition: Element) -> Locator:
    wanted = " ".join(condition.name.split())
    return page.page.get_by_role(condition.role, name=wanted, exact=True)  # type: ignore[arg-type]


def _text(page: ManagedPage, condition: Text) -> Locator:
    return page.page.get_by_text(" ".join(condition.text.split())).filter(visible=True)


async def _shown(what: str, wanted: list[Locator], pages: list[ManagedPage]) -> Seen:
    looks = await asyncio.gather(*(_is_seen(each) for each in wanted))
    for seen, page in zip(looks, list(pages), strict=False):
        if seen:
            return True, (f"{what} shown on {page.without_values(redact_url(page.page.url))}",)
    if None in looks:
        return None, (f"no such {what}, and a page did not answer",)
    return False, (f"no such {what}",)


async def _is_seen(wanted: Locator) -> bool | None:
    try:
        return await asyncio.wait_for(wanted.first.is_visible(), _PAGE_SECONDS)
    except (PlaywrightError, TimeoutError):
        return None


async def _probe(condition: Probe, context: BrowserContext) -> Seen:
    check_openable(condition.url)
    try:
        answer = await context.request.get(condition.url, max_redirects=0, timeout=(LOOK_SECONDS - 0.5) * 1000)
        status = answer.status
        await answer.dispose()
    except PlaywrightError:
        return None, ("probe: no answer",)
    return status in condition.statuses, (f"probe {status}",)


async def _cookie(condition: Cookie, context: BrowserContext) -> Seen:
    try:
        cookies = await context.cookies()
    except PlaywrightError:
        return None, (f"cookie {condition.name}: not told",)
    met = any(
        cookie.get("name") == condition.name and _is_of(cookie.get("domain", ""), condition) for cookie in cookies
    )
    return met, (f"cookie {condition.name} {'is there' if met else 'is not there'}",)


def _is_of(domain: str, condition: Cookie) -> bool:
    domain = domain.lstrip(".").lower()
    wanted = condition.domain.lstrip(".").lower() if condition.domain else ""
    return not wanted or domain == wanted or domain.endswith(f".{wanted}")
