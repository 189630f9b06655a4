"""What the browser host costs: the same calls on Playwright's own launch and through a host, in turn."""

import contextlib
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from playwright.async_api import Page, Playwright, async_playwright
from websockets.asyncio.client import unix_connect

from benchmarks.numbers import Times
from examples.portal_pages import big
from user_handoff.contract.doors import OpenDoor
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual
from user_handoff.desktop.host.control import HostControl, cdp_endpoint
from user_handoff.desktop.host.launch import HostSpec, artifacts_folder, chromium_path, launch_host

COUNT = 100
LIMITS = {"click_p50_ratio": 1.3, "fill_p50_ratio": 1.3, "snapshot_p50_ratio": 1.1, "refused_p95_ms": 5.0}
"""What the host may cost at most, as a multiple of Playwright's own launch; and how soon a hold refuses an agent."""

_WIDTH, _HEIGHT = 1200, 760
_GEOMETRY = "2480x800"
_WARM_UP = 5
_FORM = "<h1>Form</h1><label>Name <input id=f></label><button id=b onclick='window.n=(window.n||0)+1'>Go</button>"


async def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds and ratios. Both browsers stand side by side, and take each call in turn."""
    with tempfile.TemporaryDirectory(prefix="host-") as folder:
        display = await ensure_virtual(Path(folder) / "display", geometry=_GEOMETRY)
        try:
            async with (
                async_playwright() as playwright,
                _own(playwright, Path(folder) / "own", display) as own,
                _hosted(playwright, Path(folder) / "hosted", display) as (hosted, control),
            ):
                return {**await _compare(own, hosted, count), **await _refusals(control, count)}
        finally:
            await stop_virtual(Path(folder) / "display")


async def _compare(own: Page, hosted: Page, count: int) -> dict[str, float]:
    await _place(own, 0)
    await _place(hosted, _WIDTH + 40)
    await _show(own, hosted, _FORM)
    trip = await _times(own, hosted, count, lambda page, n: page.evaluate("1"))
    click = await _times(own, hosted, count, lambda page, n: page.locator("#b").click())
    fill = await _times(own, hosted, count, lambda page, n: page.locator("#f").fill(f"value {n}"))
    await _show(own, hosted, big(1000))
    snapshot = await _times(own, hosted, max(5, count // 2), lambda page, n: page.aria_snapshot(mode="ai"))
    result: dict[str, float] = {"count": count}
    for name, percents, (mine, theirs) in (
        ("evaluate", (50,), trip),
        ("click", (50,), click),
        ("fill", (50,), fill),
        ("snapshot", (50, 95), snapshot),
    ):
        for percent in percents:
            result[f"{name}_p{percent}_own_ms"] = mine.milliseconds(percent)
            result[f"{name}_p{percent}_host_ms"] = theirs.milliseconds(percent)
            result[f"{name}_p{percent}_ratio"] = round(theirs.percentile(percent) / mine.percentile(percent), 3)
    return result


async def _refusals(control: HostControl, count: int) -> dict[str, float]:
    """Effects and code of an agent that came by a door, in a hold."""
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    socket, _, _ = await control.open_door(OpenDoor(browser_id="b_bench", door_id="d_bench", sha256=digest))
    times = Times()
    async with unix_connect(socket, f"ws://host/agent/{token}", compression=None) as connection:
        await control.hold("h", 5)
        for number in range(5 * count):
            method = "Page.navigate" if number % 2 else "Unknown.method"
            with times.one():
                await connection.send(json.dumps({"id": number, "method": method, "params": {}}))
                answer = await connection.recv(decode=True)
            if "browser_held" not in answer:
                raise AssertionError("a command was not refused in a hold")
        await control.release("h")
    return {f"refused_p{percent}_ms": times.milliseconds(percent) for percent in (50, 95)}


async def _times(
    own: Page, hosted: Page, count: int, call: Callable[[Page, int], Awaitable[object]]
) -> tuple[Times, Times]:
    """Time a call on both, whoever was second being first the next time."""
    mine, theirs = Times(), Times()
    for number in range(_WARM_UP + count):
        pair = [(own, mine), (hosted, theirs)]
        for page, times in pair if number % 2 else reversed(pair):
            with (times if number >= _WARM_UP else Times()).one():
                await call(page, number)
    return mine, theirs


async def _show(own: Page, hosted: Page, html: str) -> None:
    for page in (own, hosted):
        await page.set_content(html)


async def _place(page: Page, left: int) -> None:
    """Put a window where it covers no other."""
    cdp = await page.context.new_cdp_session(page)
    found = await cdp.send("Browser.getWindowForTarget")
    bounds = {"left": left, "top": 0, "width": _WIDTH, "height": _HEIGHT}
    await cdp.send("Browser.setWindowBounds", {"windowId": found["windowId"], "bounds": bounds})
    await cdp.detach()


@contextlib.asynccontextmanager
async def _own(playwright: Playwright, folder: Path, display: Display) -> AsyncIterator[Page]:
    """A page of a browser that Playwright has started itself."""
    context = await playwright.chromium.launch_persistent_context(
        folder,
        executable_path=chromium_path(),
        headless=False,
        no_viewport=True,
        chromium_sandbox=os.geteuid() != 0,
        args=["--ozone-platform=x11", *(["--test-type"] if os.geteuid() == 0 else [])],
        env={**os.environ, **display.environment()},
    )
    try:
        yield context.pages[0]
    finally:
        await context.close()


@contextlib.asynccontextmanager
async def _hosted(playwright: Playwright, folder: Path, display: Display) -> AsyncIterator[tuple[Page, HostControl]]:
    """A page of a browser under its host, as a runner is connected to it."""
    with tempfile.TemporaryDirectory(prefix="uh-") as sockets:
        spec = HostSpec(
            browser_id="b_bench",
            folder=folder,
            socket=Path(sockets) / "s",
            display=display.name,
            xauthority=display.xauthority,
            executable=chromium_path(),
            sandbox=os.geteuid() != 0,
            window_class="user-handoff-bench",
            lifetime_seconds=3600,
            width=_WIDTH,
            height=_HEIGHT,
        )
        record = await launch_host(spec)
        control = await HostControl.connect(record.socket)
        try:
            browser = await playwright.chromium.connect_over_cdp(
                cdp_endpoint(record.socket), no_defaults=True, is_local=True, artifacts_dir=artifacts_folder(folder)
            )
            yield browser.contexts[0].pages[0], control
            await browser.close()
        finally:
            await control.close_browser()
            await control.aclose()
