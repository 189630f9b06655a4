"""A picture of a page that shows that a field is filled, and not with what."""

import re
from collections.abc import Iterable

from playwright.async_api import Locator

from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.snapshots.closed import styled
from user_handoff.desktop.snapshots.echoes import compact_of, grouped_pattern
from user_handoff.desktop.snapshots.values import read_values

_SECONDS = 15.0
_MOST = 400
"""So many values are looked for in a page's text; the longest, where there are more."""

_FIELDS = (
    "input:not([type=button i], [type=submit i], [type=reset i], [type=image i], [type=checkbox i], [type=radio i])",
    "textarea",
    "select",
    "[contenteditable]:not([contenteditable='false' i])",
    "[contenteditable]:not([contenteditable='false' i]) *",
)
_SELECTED = ", ".join(f"{field}::selection" for field in _FIELDS)
_HIDE = f"""{", ".join(_FIELDS)} {{
  color: transparent !important; -webkit-text-fill-color: transparent !important; caret-color: transparent !important;
  text-shadow: none !important; -webkit-text-stroke: 0 !important; text-decoration-color: transparent !important;
  background-clip: border-box !important; -webkit-background-clip: border-box !important;
}}
{_SELECTED} {{
  color: transparent !important; -webkit-text-fill-color: transparent !important; text-shadow: none !important;
  -webkit-text-stroke: 0 !important; text-decoration-color: transparent !important; background: transparent !important;
}}
input[type=color i]::-webkit-color-swatch {{ visibility: hidden !important; }}
input[type=range i] {{ visibility: hidden !important; }}
[contenteditable]:not([contenteditable='false' i]) :is(img, canvas, svg, video) {{ visibility: hidden !important; }}"""


async def picture_of(page: ManagedPage) -> bytes:
    """A picture (PNG) in which what is typed is invisible, and covered where the page repeats it.

    Raises:
        Gone: `page_gone`.
        Refused: `action_timeout`: the page does not answer.
    """
    values = {*await page.bounded(read_values(page.page, page.secrets)), *page.secrets}
    echoes = _any_of(values)
    mask = [frame.get_by_text(echoes) for frame in page.page.frames] if echoes else []
    return await page.bounded(_taken(page, mask), _SECONDS + 1)


async def _taken(page: ManagedPage, mask: list[Locator]) -> bytes:
    async with styled(page.page, _HIDE):
        return await page.page.screenshot(style=_HIDE, mask=mask, mask_color="#808080", timeout=_SECONDS * 1000)


def _any_of(values: Iterable[str]) -> re.Pattern[str] | None:
    longest = sorted({" ".join(value.split()) for value in values}, key=len, reverse=True)[:_MOST]
    patterns = [r"\s+".join(map(_escaped, value.split(" "))) for value in longest]
    patterns += map(grouped_pattern, sorted(compact_of(longest)))
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _escaped(word: str) -> str:
    """Escaped for JavaScript, which knows fewer escapes than `re.escape` makes."""
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", word)
