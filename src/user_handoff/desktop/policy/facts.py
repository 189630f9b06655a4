"""What the stop list has to know of pages and elements. No value of a field is ever read."""

import asyncio
import contextlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, Literal

from playwright.async_api import ElementHandle, Frame
from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.base import Model
from user_handoff.contract.boundary import Shown
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.browser.pages import ManagedPage

_SOURCE: Final = files("user_handoff.desktop.policy").joinpath("facts.js").read_text()
_OF_ELEMENT: Final = f"element => ({_SOURCE})(element, 'element')"
_FRAMES_OF: Final = f"element => ({_SOURCE})(element, 'frames')"
_FRAME_SECONDS = 1.5
_MOST_FRAMES = 40

_NAMED: Final = frozenset(
    [
        "button",
        "link",
        "menuitem",
        "switch",
        "checkbox",
        "radio",
        "textbox",
        "searchbox",
        "spinbutton",
        "combobox",
        "slider",
    ]
)
"""Roles that rules speak of."""

_HOLDERS: Final = frozenset(
    [
        "row",
        "rowgroup",
        "table",
        "grid",
        "treegrid",
        "list",
        "listbox",
        "tree",
        "tablist",
        "tabpanel",
        "menu",
        "menubar",
        "toolbar",
        "dialog",
        "alertdialog",
        "alert",
        "status",
        "log",
        "region",
        "main",
        "navigation",
        "form",
        "group",
        "article",
        "complementary",
        "banner",
        "contentinfo",
        "search",
        "radiogroup",
        "application",
        "document",
        "feed",
        "figure",
    ]
)
"""Roles of what holds other things: it is called like them, or after them, and is not what a click on it presses."""


def is_like_a_button(role: str) -> bool:
    """True where what can be clicked under this role is no more than a button by another name."""
    return role not in _NAMED and role not in _HOLDERS


class Fact(Model):
    """One control, as a page has it."""

    role: str
    names: tuple[str, ...]
    tokens: tuple[str, ...]
    urls: tuple[str, ...]
    """Where a click on it leads, or where its form is sent."""
    submits: bool
    field: bool
    pressed: bool
    """True where a click is for it, whatever its role."""

    def shown(self) -> tuple[Shown, ...]:
        """The same for the stop list: as what it says it is, and as a button where a click presses it like one."""
        tokens = frozenset(self.tokens)
        itself = Shown(self.role, self.names, tokens)
        if self.field or not self.pressed or not is_like_a_button(self.role):
            return (itself,)
        return itself, Shown("button", self.names, tokens)


class ElementFacts(Model):
    """One element, and what an effect on it reaches."""

    chain: tuple[Fact, ...]
    """The element, then what it is a part of and a click would activate."""
    near: tuple[Fact, ...]
    """What is in it, where a click would go."""
    enter: tuple[Fact, ...]
    """What the Enter key in it would press."""
    choices: tuple[Fact, ...]
    """What other keys would choose in it."""
    frames: bool
    """True where a click on it may go to a frame, with a page of its own in it."""
    closed: bool
    """True where the keyboard is at something in it that cannot be seen from outside."""
    focusable: bool
    """False: a key that is pressed on it goes to whatever has the focus."""


class _FrameFacts(Model):
    controls: tuple[Fact, ...]
    more: bool
    status: int | None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """One page.

    Attributes:
        controls: What it shows, its frames included.
        status: The status of its main document; None where it is not known.
        whole: False where it may show more: a frame did not answer in time, or there are too many controls.
    """

    controls: tuple[Fact, ...]
    status: int | None
    whole: bool


async def facts_of(page: ManagedPage, element: ElementHandle) -> ElementFacts:
    """What an effect on an element would reach.

    Raises:
        Refused: `action_failed`: the page's own scripts stand in the way of looking. Or it does not answer.
    """
    try:
        return ElementFacts.model_validate(await page.bounded(element.evaluate(_OF_ELEMENT)))
    except (PlaywrightError, ValueError):
        raise make_error(
            ErrorCode.ACTION_FAILED,
            "What the effect would reach could not be examined.",
            holds="Nothing was done.",
            do_next="Take a snapshot and try another element, or hand over.",
            page_id=page.page_id,
        ) from None


async def frames_in(page: ManagedPage, element: ElementHandle) -> tuple[ElementHandle, ...]:
    """The frames that a click on an element may go to: itself, or those in its middle.

    Raises:
        Refused: `action_timeout`: the page does not answer.
    """
    found = await page.bounded(element.evaluate_handle(_FRAMES_OF))
    each = await page.bounded(found.get_properties())
    return tuple(frame for frame in (handle.as_element() for handle in each.values()) if frame is not None)


async def facts_of_page(page: ManagedPage, ask: Literal["fields", "controls"]) -> PageFacts:
    """What a page shows, as far as its frames answer: its fields for secrets, or all of its controls."""
    frames = page.page.frames
    told = await asyncio.gather(*(facts_of_frame(frame, ask) for frame in frames[:_MOST_FRAMES]))
    controls = tuple(fact for facts in told if facts is not None for fact in facts.controls)
    status = told[0].status if told and told[0] is not None else None
    whole = all(facts is not None and not facts.more for facts in told) and len(frames) <= _MOST_FRAMES
    return PageFacts(controls, status, whole)


async def facts_of_frame(frame: Frame, ask: Literal["fields", "controls"]) -> _FrameFacts | None:
    """The same of one frame; None where it does not answer."""
    with contextlib.suppress(PlaywrightError, TimeoutError, ValueError):
        told: Any = await asyncio.wait_for(frame.evaluate(f"() => ({_SOURCE})(document, '{ask}')"), _FRAME_SECONDS)
        return _FrameFacts.model_validate(told)
    return None


async def seen_frames(page: ManagedPage, wanted: tuple[Frame, ...]) -> tuple[str, ...]:
    """The URLs of those of the frames that a person sees."""
    told = await asyncio.gather(*(_is_seen(frame) for frame in wanted))
    return tuple(frame.url for frame, seen in zip(wanted, told, strict=True) if seen)


async def _is_seen(frame: Frame) -> bool:
    if "size=invisible" in frame.url:
        return False  # the badge of a check that asks nobody anything
    with contextlib.suppress(PlaywrightError, TimeoutError):
        element = await asyncio.wait_for(frame.frame_element(), _FRAME_SECONDS)
        box = await asyncio.wait_for(element.bounding_box(), _FRAME_SECONDS)
        return box is not None and box["width"] > 20 and box["height"] > 20 and await element.is_visible()
    return False
