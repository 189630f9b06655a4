"""The refusals of the stop list, in one place."""

from user_handoff.contract.boundary import CONFIRM, READ_ONLY, Boundary, refusal
from user_handoff.contract.boundary.meeting import Met
from user_handoff.contract.boundary.refusal import limit
from user_handoff.contract.browser import PageEffect
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.urls import redact_url
from user_handoff.desktop.browser.pages import ManagedPage


def boundary(page: ManagedPage, met: Met) -> Boundary:
    """What was met, as it is told: no query, and no value of a field."""
    rule, reason = met
    return Boundary(
        rule_id=rule.rule_id,
        category=rule.category,
        page_id=page.page_id,
        url=_url(page),
        reason=page.without_values(reason),
    )


def refused(page: ManagedPage, met: Met, effect: PageEffect) -> HandoffError:
    """An effect that would cross a boundary."""
    crossed = boundary(page, met)
    return refusal(crossed, f"The {_name(effect)} was refused: {crossed.reason}.")


def probe(met: Met, url: str) -> HandoffError:
    """A condition whose probe would go where no agent may go."""
    rule, reason = met
    crossed = Boundary(rule_id=rule.rule_id, category=rule.category, page_id="", url=redact_url(url), reason=reason)
    return refusal(crossed, f"The probe was refused: {reason}.", "Use another condition, or begin a handoff.")


def read_only(page: ManagedPage, effect: PageEffect) -> HandoffError:
    """An effect where an agent may only look."""
    crossed = limit(READ_ONLY, page.page_id, _url(page), "the browser is for reading alone")
    return refusal(
        crossed,
        f"The {_name(effect)} was refused: this browser is for reading alone.",
        "Navigate and look; for all else begin a handoff with this boundary.",
    )


def confirm(page: ManagedPage, effect: PageEffect) -> HandoffError:
    """An effect that submits what no person has confirmed."""
    crossed = limit(CONFIRM, page.page_id, _url(page), "a person confirms what is submitted")
    return refusal(
        crossed,
        f"The {_name(effect)} was refused: it submits what no person has confirmed.",
        "Begin a handoff with this boundary; once the person says done, take a snapshot and submit as the next effect.",
    )


def native(crossed: Boundary) -> HandoffError:
    """Native input to a browser that shows what an agent must not use."""
    return refusal(
        crossed,
        f"Native input to this browser was refused: {crossed.reason}.",
        "Use the browser's own effects on other elements, or begin a handoff with this boundary.",
    )


def not_said(page_id: str) -> HandoffError:
    """A page that does not say what it shows, where that has to be known."""
    return make_error(
        ErrorCode.ACTION_TIMEOUT,
        "What the page shows could not be seen in full, so that nothing is done blindly on it.",
        holds="Nothing was done.",
        do_next="Take a snapshot and act on an element of it, or hand over.",
        page_id=page_id,
    )


def _url(page: ManagedPage) -> str:
    return page.without_values(redact_url(page.page.url))


def _name(effect: PageEffect) -> str:
    return type(effect).__name__.lower()
