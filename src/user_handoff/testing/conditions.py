"""Observing conditions on the pages of a test."""

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
from user_handoff.contract.urls import matches, redact_url
from user_handoff.testing.browser import MemoryBrowser


def observe(browser: MemoryBrowser, condition: AnyCondition) -> Observation:
    """Look once: pages in memory do not change by themselves."""
    met, facts = _look(browser, condition)
    return Observation(met=met, facts=facts)


def _look(browser: MemoryBrowser, condition: AnyCondition) -> tuple[bool, tuple[str, ...]]:
    shown = [browser.shown(tab) for tab in browser.tabs.values()]
    match condition:
        case Url():
            urls = [redact_url(page.url) for page in shown if matches(condition.glob, page.url)]
            return bool(urls), (f"url {urls[0]}" if urls else f"no page at {condition.glob}",)
        case Element():
            wanted = (condition.role, " ".join(condition.name.split()))
            met = any((control.role, control.name) == wanted for page in shown for control in page.controls)
            return met, (f"{condition.role} shown" if met else f"no such {condition.role}",)
        case Probe():
            status = _status(browser, condition.url)
            return status in condition.statuses, (f"probe {status}",)
        case Text():
            text = " ".join(condition.text.lower().split())
            met = any(text in control.name.lower() for page in shown for control in page.controls)
            return met, ("text shown" if met else "no such text",)
        case Response():
            urls = [redact_url(page.url) for page in shown if matches(condition.glob, page.url)]
            met = bool(urls) and 200 in condition.statuses
            return met, (f"response 200 of {urls[0]}" if met else f"no such response of {condition.glob}",)
        case Cookie():
            # who has passed a wall is signed in; pages in memory know no other cookies
            met = bool(browser.passed)
            return met, (f"cookie {condition.name} {'is there' if met else 'is not there'}",)
        case Not():
            met, facts = _look(browser, condition.condition)
            return not met, tuple(f"not: {fact}" for fact in facts)
        case AnyOf():
            looks = [_look(browser, each) for each in condition.conditions]
            return any(met for met, _ in looks), tuple(fact for _, facts in looks for fact in facts)
        case AllOf():
            looks = [_look(browser, each) for each in condition.conditions]
            return all(met for met, _ in looks), tuple(fact for _, facts in looks for fact in facts)


def _status(browser: MemoryBrowser, url: str) -> int:
    """What a server would answer: a page that is behind a wall redirects to it, and no redirect is followed."""
    page = browser.site.find(url)
    if page is None:
        return 404
    return 200 if browser.site.shown(page, browser.passed) is page else 302
