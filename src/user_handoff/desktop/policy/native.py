"""Native input knows no elements: it is refused on a browser that shows anything an agent must not use."""

from collections.abc import Iterable

from user_handoff.contract import computer as c
from user_handoff.contract.boundary import CONFIRM, READ_ONLY
from user_handoff.contract.boundary.refusal import limit
from user_handoff.contract.urls import redact_url
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.policy import refusals
from user_handoff.desktop.policy.guard import Guard


async def check_native(
    guard: Guard, browsers: Iterable[ManagedBrowser], windows: Iterable[c.WindowInfo], action: c.ComputerAction
) -> None:
    """Refuse clicks and keys that would reach such a browser. Looking, moving and scrolling are not refused.

    Args:
        guard: The stop list.
        browsers: Who lives on this desktop.
        windows: The windows that there are.
        action: What is to be done.

    Raises:
        Refused: `boundary_reached`; `action_timeout` where a page does not say what it shows.
    """
    if not isinstance(action, c.ClickAt | c.Drag | c.TypeText | c.PressKeys):
        return
    reached = _reached(action, tuple(windows))
    for browser in browsers:
        if browser.record.browser.pid in reached or None in reached:
            await _check_browser(guard, browser)


def _reached(action: c.ComputerAction, windows: tuple[c.WindowInfo, ...]) -> set[int | None]:
    """The processes reached: of the window with the keyboard, whose menus lie above all, and of those that are hit."""
    points: list[tuple[int, int]] = []
    match action:
        case c.ClickAt(x=x, y=y):
            points = [(x, y)]
        case c.Drag(x=x, y=y, to_x=to_x, to_y=to_y):
            points = [(x, y), (to_x, to_y)]
    found = {window.pid for window in windows if window.focused}
    for x, y in points:
        # the lowest comes first
        found |= {window.pid for window in [w for w in windows if _contains(w, x, y)][-1:]}
    return found


def _contains(window: c.WindowInfo, x: int, y: int) -> bool:
    return window.x <= x < window.x + window.width and window.y <= y < window.y + window.height


async def _check_browser(guard: Guard, browser: ManagedBrowser) -> None:
    for page in list(browser.pages):
        if guard.is_read_only(browser) or guard.confirms(browser):
            rule_id = READ_ONLY if guard.is_read_only(browser) else CONFIRM
            raise refusals.native(limit(rule_id, page.page_id, redact_url(page.page.url), f"the limit {rule_id}"))
        boundary = await guard.shows_boundary(browser, page)
        if boundary is not None:
            raise refusals.native(boundary)
