"""How well the built-in stop list tells what is a person's: on a labelled set, in a real browser, by real effects."""

import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.texts import serving
from examples.boundaries.labelled import NOTHING, Control, LabelledPage, controls, document, pages, sheet
from user_handoff.contract import browser as b
from user_handoff.contract.boundary import Category
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.start import DesktopSettings, running_desktop

COUNT = 10_000
"""More than there are."""

_SHEET = 40
_ROLES = ("button", "link", "textbox", "checkbox", "menuitem", "switch")

Verdict = tuple[str, str, str, str]
"""What it is (control or page), its half, the category it belongs to, and the one it was told to be."""


async def measure(count: int = COUNT) -> dict[str, float]:
    """Recall and precision of each category on both halves of the set; what was wrong in the tuned half goes to stderr.

    Args:
        count: How many controls, and how many pages, at most.
    """
    figures, wrong = await judge(count)
    for line in wrong:
        print(line, file=sys.stderr)
    return figures


async def judge(count: int = COUNT) -> tuple[dict[str, float], list[str]]:
    """The figures, and what was wrong in the half that the list may be tuned on. Of the other half nobody is told."""
    with tempfile.TemporaryDirectory(prefix="boundaries-") as folder:
        async with _desktop(Path(folder)) as (desktop, browser_id):
            verdicts, wrong = await _controls(desktop, browser_id, controls()[:count])
            more, also = await _pages(desktop, browser_id, pages()[:count])
    return _figures([*verdicts, *more]), [*wrong, *also]


@asynccontextmanager
async def _desktop(folder: Path) -> AsyncIterator[tuple[Desktop, str]]:
    settings = DesktopSettings(folder=folder, virtual=True, sandbox=False)
    async with running_desktop(settings) as desktop:
        spec = b.OpenBrowser(browser_id=new_id("b"), session_id="s_bench", owner="bench")
        await desktop.open_browser(spec)
        yield desktop, spec.browser_id


async def _controls(desktop: Desktop, browser_id: str, some: list[Control]) -> tuple[list[Verdict], list[str]]:
    verdicts: list[Verdict] = []
    wrong: list[str] = []
    for start in range(0, len(some), _SHEET):
        batch = some[start : start + _SHEET]
        async with serving(sheet(batch)) as url:
            await _go(desktop, browser_id, url)
            look = await desktop.snapshot(b.SnapshotRequest(browser_id=browser_id, max_bytes=500_000))
        for number, element_id in _found(look).items():
            control = batch[number]
            told = await _told(desktop, browser_id, element_id, control)
            verdicts.append(("control", control.half, control.category, told))
            if told != control.category and control.half == "tuned":
                wrong.append(f"{control.kind} {control.label!r} ({control.language}): {control.category} told {told}")

    if len(verdicts) != len(some):
        raise RuntimeError(f"only {len(verdicts)} of {len(some)} controls were found")
    return verdicts, wrong


def _found(look: b.Snapshot) -> dict[int, str]:
    """The element of each numbered region."""
    found: dict[int, str] = {}
    wrapped: dict[int, str] = {}
    number = -1
    for element in look.elements():
        if element.role == "region":
            number = int(element.name[1:])
        elif number >= 0 and number not in found and element.role in _ROLES:
            found[number] = element.element_id
        elif number >= 0 and element.role == "generic":
            wrapped.setdefault(number, element.element_id)
    return wrapped | found


async def _told(desktop: Desktop, browser_id: str, element_id: str, control: Control) -> str:
    """The category by which an effect on a control is refused."""
    named = {"browser_id": browser_id, "effect_id": new_id("e"), "element_id": element_id}
    try:
        await desktop.act(b.Fill(**named, text="1") if control.is_field else b.Click(**named))
    except HandoffError as error:
        if error.code is not ErrorCode.BOUNDARY_REACHED:
            raise
        return str(error.details["category"])
    return NOTHING


async def _pages(desktop: Desktop, browser_id: str, some: list[LabelledPage]) -> tuple[list[Verdict], list[str]]:
    verdicts: list[Verdict] = []
    wrong: list[str] = []
    for page in some:
        async with serving(document(page.body)) as url:
            await _go(desktop, browser_id, url)
            look = await desktop.snapshot(b.SnapshotRequest(browser_id=browser_id))
        told = str(look.boundary.category) if look.boundary else NOTHING
        verdicts.append(("page", page.half, page.category, told))
        if told != page.category and page.half == "tuned":
            why = look.boundary.reason if look.boundary else "nothing"
            wrong.append(f"page {page.name!r}: {page.category} told {told} ({why})")
    return verdicts, wrong


async def _go(desktop: Desktop, browser_id: str, url: str) -> None:
    await desktop.act(b.Navigate(browser_id=browser_id, effect_id=new_id("e"), url=url))


def _figures(verdicts: list[Verdict]) -> dict[str, float]:
    figures: dict[str, float] = {
        f"{what}s_{half}": number for (what, half), number in Counter((v[0], v[1]) for v in verdicts).items()
    }
    for what in ("control", "page"):
        for half in ("tuned", "held_out"):
            some = [(is_, told) for kind, h, is_, told in verdicts if (kind, h) == (what, half)]
            for category in (*Category, "any"):
                figures |= _scores(f"{what}_{half}_{category}", some, str(category))
    return figures


def _scores(name: str, some: list[tuple[str, str]], category: str) -> dict[str, float]:
    """Of what belongs to the category how much was told, and of what was told how much belongs to it."""

    def of(each: str) -> bool:
        return each != NOTHING if category == "any" else each == category

    right = sum(of(is_) and of(told) for is_, told in some)
    belong, were_told = sum(of(is_) for is_, _ in some), sum(of(told) for _, told in some)
    if not belong:
        return {}
    return {
        f"{name}_count": belong,
        f"{name}_recall": round(right / belong, 3),
        f"{name}_precision": round(right / were_told, 3) if were_told else 0.0,
    }
