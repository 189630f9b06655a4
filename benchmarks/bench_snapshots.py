"""What withholding costs: a look of an agent against Playwright's own snapshot, in turns on the same page."""

import os
import tempfile
from pathlib import Path

from benchmarks.numbers import Times
from examples.portal import Portal
from user_handoff.contract.browser import OpenBrowser, SnapshotRequest
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.snapshots.take import look_at
from user_handoff.desktop.start import DesktopSettings, running_desktop

COUNT = 25
"""Looks of each kind at each page."""

NODES = (1_000, 10_000)
LIMITS = {f"ratio_{nodes}": 1.3 for nodes in NODES}
_WARM_UP = 3
_BYTES = 1_000_000


async def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds, and how many times as long ours takes: medians."""
    found: dict[str, float] = {"count": count}
    with tempfile.TemporaryDirectory(prefix="snapshots-") as folder:
        settings = DesktopSettings(folder=Path(folder), virtual=True, sandbox=os.geteuid() != 0)
        async with Portal.start() as portal, running_desktop(settings) as desktop:
            for nodes in NODES:
                own, withheld, whole = await _looks(desktop, f"{portal.url}/big?n={nodes}", count)
                found[f"playwright_ms_{nodes}"] = own.milliseconds(50)
                found[f"withheld_ms_{nodes}"] = withheld.milliseconds(50)
                found[f"ours_ms_{nodes}"] = whole.milliseconds(50)
                found[f"withheld_ratio_{nodes}"] = _ratio(withheld, own)
                found[f"ratio_{nodes}"] = _ratio(whole, own)
    return found


def _ratio(ours: Times, own: Times) -> float:
    """Of each turn by itself, the median: what else the machine does slows both alike."""
    ratios = sorted(a / b for a, b in zip(ours.seconds, own.seconds, strict=True))
    return round(ratios[len(ratios) // 2], 3)


async def _looks(desktop: Desktop, url: str, count: int) -> tuple[Times, Times, Times]:
    """Playwright's own, the same with everything withheld, and all that an agent is told with it."""
    spec = OpenBrowser(browser_id=new_id("b"), session_id="s_bench", owner="agent:bench", url=url)
    info = await desktop.open_browser(spec)
    managed = desktop.browsers.get(spec.browser_id).page(None)
    page, request = managed.page, SnapshotRequest(browser_id=info.browser_id, max_bytes=_BYTES)
    # a form in it, as pages at which people are needed have one
    await page.evaluate("""() => document.body.insertAdjacentHTML("beforeend", "<form>" +
        "<label>Field <input value=planted-value></label>".repeat(20) + "</form>")""")
    own, withheld, whole = Times(), Times(), Times()
    for turn in range(count + _WARM_UP):
        if turn == _WARM_UP:
            own, withheld, whole = Times(), Times(), Times()
        with own.one():
            await page.aria_snapshot(mode="ai")
        with withheld.one():
            await look_at(managed, request, typing=False)
        with whole.one():
            look = await desktop.snapshot(request)
        if "planted-value" in look.text or look.truncated:
            raise RuntimeError("a value was not withheld, or the page was not looked at whole")
    await desktop.browsers.close(desktop.browsers.get(spec.browser_id))
    return own, withheld, whole
