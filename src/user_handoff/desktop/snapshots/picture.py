"""A picture of a page that shows that a field is filled, and not with what."""

import re
from collections.abc import Iterable

from playwright.async_api import Locator

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.snapshots.closed import styled
from user_handoff.desktop.snapshots.echoes import compact_of, grouped_pattern
from user_handoff.desktop.snapshots.values import read_fields

_SECONDS = 15.0
_ATTEMPTS = 3
"""So many pictures are taken of a page that fills up meanwhile, each with what is known by then covered."""

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
        Refused: `action_timeout`: the page does not answer, or its fields do not come to rest.
    """
    fields = await page.bounded(read_fields(page.page, page.secrets))
    values = {*fields.values, *page.secrets}
    for _ in range(_ATTEMPTS):
        picture = await page.bounded(_taken(page, _covered(page, values)), _SECONDS + 1)
        if not fields.may_have_grown(page.page):
            return picture
        fields = await page.bounded(read_fields(page.page, page.secrets))
        if fields.values <= values:
            return picture
        values |= fields.values
    raise make_error(
        ErrorCode.ACTION_TIMEOUT,
        f"The page's fields changed during each of {_ATTEMPTS} pictures.",
        holds="Nothing was changed, and no picture is kept.",
        do_next="Take the picture again in a moment.",
        page_id=page.page_id,
    )


def _covered(page: ManagedPage, values: set[str]) -> list[Locator]:
    echoes = _any_of(values)
    return [frame.get_by_text(echoes) for frame in page.page.frames] if echoes else []


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
