"""From an element id to the element, checking that it still is what the snapshot showed."""

from playwright.async_api import Locator, Page

from user_handoff.desktop.snapshots.bindings import Binding, stale

_NAMELESS = frozenset({"row"})
"""Roles whose name a snapshot leaves out, since it only repeats their children."""
_ROLELESS = frozenset({"generic", "iframe", "text", "document"})
"""What a snapshot calls elements that no role selector finds."""


async def locate(page: Page, binding: Binding, element_id: str) -> Locator:
    """The locator of an element that still has its role and name.

    The role and name are part of the locator, so that the browser checks them again at the moment it acts.

    Raises:
        Stale: `stale_element`: gone, or relabelled.
    """
    here = page.get_by_ref(binding.ref)
    if binding.role in _ROLELESS:
        if await here.count() != 1 or (binding.text and _folded(await here.inner_text(timeout=2000)) != binding.text):
            raise stale(element_id)
        return here
    if binding.role in _NAMELESS and not binding.name:
        same = here.and_(page.get_by_role(binding.role))  # type: ignore[arg-type]
    else:
        same = here.and_(page.get_by_role(binding.role, name=binding.name, exact=True))  # type: ignore[arg-type]
    if await same.count() != 1:
        raise stale(element_id)
    return same


def _folded(text: str) -> str:
    return " ".join(text.split())
