"""The element that has the keyboard, at whatever depth of shadow roots and frames."""

from playwright.async_api import ElementHandle, Frame, JSHandle
from playwright.async_api import Error as PlaywrightError

from user_handoff.desktop.browser.pages import ManagedPage

_FOCUSED = """() => {
  let element = document.activeElement;
  while (element && element.shadowRoot && element.shadowRoot.activeElement) element = element.shadowRoot.activeElement;
  return element;
}"""
_DEEPEST = 8


async def focused_element(page: ManagedPage) -> ElementHandle | None:
    """The element that a key would go to; None where none has the focus.

    Raises:
        Refused: `action_timeout`: the page does not answer.
    """
    frame: Frame | None = page.page.main_frame
    element: ElementHandle | None = None
    for _ in range(_DEEPEST):
        if frame is None:
            break
        found: JSHandle | None = None
        try:
            found = await page.bounded(frame.evaluate_handle(_FOCUSED))
        except PlaywrightError:
            break
        element = found.as_element() or element
        frame = await page.bounded(element.content_frame()) if element is not None else None
    return element
