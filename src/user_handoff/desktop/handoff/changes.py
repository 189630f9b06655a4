"""What a browser has at one moment, and what differs at another: names and digests, and no value of anything."""

import asyncio
import contextlib
import hashlib
import re
import secrets
from collections.abc import Iterable
from typing import Any

from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.base import Model
from user_handoff.contract.changes import MOST, Changes
from user_handoff.contract.urls import redact_url, without_address
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.snapshots.redact import scrub

_SECONDS = 1.0
_KEPT = 300
_LONGEST = 100
_KEYS = "() => [location.origin, Object.keys(localStorage), Object.keys(sessionStorage)]"

# a name may carry what it is of: long runs with digits, and addresses
_TELLING = re.compile(r"(?=[A-Za-z0-9+=%-]*\d)[A-Za-z0-9+=%-]{16,}|[^\s@]+@[^\s@]+")


class Inventory(Model):
    """What a browser has: it is kept on the desktop while a person has the browser."""

    urls: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    whole: bool = True
    salt: str = ""
    """Of the digests of titles: it stays here, so that no digest gives a short title away to who guesses it."""


async def take_inventory(browser: ManagedBrowser, like: Inventory | None = None) -> Inventory:
    """What a browser has now, as far as it says so within a second.

    Args:
        browser: The browser.
        like: What it had before, where it is to be compared with that.
    """
    pages = list(browser.pages)
    salt = like.salt if like else secrets.token_hex(16)
    cookies, told, titles = await asyncio.gather(
        _cookies(browser),
        asyncio.gather(*(_storage(page) for page in pages)),
        asyncio.gather(*(_title(page, salt) for page in pages)),
    )
    storage = [key for keys in told for key in keys or ()]
    return Inventory(
        urls=_names(page.without_values(redact_url(page.page.url)) for page in pages),
        titles=_names(title for title in titles if title),
        cookies=_names(scrub(name, browser.secrets) for name in cookies or ()),
        storage=_names(scrub(name, browser.secrets) for name in storage),
        salt=salt,
        whole=cookies is not None and None not in told and max(len(cookies), len(storage)) <= _KEPT,
    )


def compare(before: Inventory, after: Inventory) -> Changes:
    """What differs."""
    pairs = {
        "pages_opened": (after.urls, before.urls),
        "pages_left": (before.urls, after.urls),
        "titles": (after.titles, before.titles),
        "cookies_added": (after.cookies, before.cookies),
        "cookies_removed": (before.cookies, after.cookies),
        "storage_added": (after.storage, before.storage),
    }
    found = {name: [each for each in some if each not in others] for name, (some, others) in pairs.items()}
    whole = before.whole and after.whole and all(len(names) <= MOST for names in found.values())
    return Changes(**{name: tuple(names[:MOST]) for name, names in found.items()}, whole=whole)


async def _cookies(browser: ManagedBrowser) -> list[str] | None:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        cookies = await asyncio.wait_for(browser.context.cookies(), _SECONDS)
        return [f"{cookie.get('name', '')} {cookie.get('domain', '')}" for cookie in cookies]
    return None


async def _storage(page: ManagedPage) -> list[str] | None:
    if not page.page.url.startswith("http"):
        return []
    with contextlib.suppress(PlaywrightError, TimeoutError, ValueError):
        told: Any = await asyncio.wait_for(page.page.evaluate(_KEYS), _SECONDS)
        origin, local, session = told
        return [f"{redact_url(str(origin))} {key}" for key in (*local, *session)]
    return None


async def _title(page: ManagedPage, salt: str) -> str:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        title = without_address(await asyncio.wait_for(page.page.title(), _SECONDS))
        return hashlib.sha256((salt + title).encode()).hexdigest()[:12]
    return ""


def _names(some: Iterable[str]) -> tuple[str, ...]:
    kept = sorted({_TELLING.sub("*", each) if " " in each else each for each in some})
    return tuple(each[:_LONGEST] for each in kept[:_KEPT])
