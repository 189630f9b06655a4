"""Holds against agents in tight loops, each by a door of its own: no effect of theirs may happen in a hold."""

import asyncio
import contextlib
import hashlib
import os
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Error, Page, async_playwright

from benchmarks.numbers import Times
from tests.desktop.host.raw import RawClient, raw_client
from user_handoff.contract.doors import OpenDoor
from user_handoff.contract.ids import new_id
from user_handoff.desktop.display.virtual import ensure_virtual, stop_virtual
from user_handoff.desktop.host.control import HostControl, cdp_endpoint
from user_handoff.desktop.host.launch import HostSpec, artifacts_folder, chromium_path, launch_host

HOLDS = 1_000
_LOOK_MS = 15
_PAGE = """<title>Count</title><button style="position:fixed;inset:0;width:100%;height:100%">Go</button><script>
hits = 0;
for (const kind of ['mousedown', 'mouseup', 'click', 'keydown', 'keyup']) addEventListener(kind, () => hits++, true);
</script>"""


@dataclass(frozen=True)
class Agents:
    """What was seen.

    Attributes:
        holds: Holds that were reached.
        effects: Effects of agents that happened between them.
        refused: Commands that the holds refused.
        in_hold: Effects that happened in a hold: there must be none.
        idle: Holds before which no agent had acted since the one before: there should be few.
        hold_p50_ms: From the asking for a hold to its standing.
        hold_p95_ms: The same.
        seconds: How long it took.
    """

    holds: int
    effects: int
    refused: int
    in_hold: int
    idle: int
    hold_p50_ms: float
    hold_p95_ms: float
    seconds: float


def run(holds: int = HOLDS) -> Agents:
    """Let them race."""
    return asyncio.run(_run(holds))


async def _run(holds: int) -> Agents:
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agents-")))
        display = await ensure_virtual(folder / "display")
        stack.push_async_callback(stop_virtual, folder / "display")
        spec = HostSpec(
            browser_id="b_agents",
            folder=folder / "browser",
            socket=folder / "s.sock",
            display=display.name,
            xauthority=display.xauthority,
            executable=chromium_path(),
            sandbox=os.geteuid() != 0,
            window_class="user-handoff-agents",
            lifetime_seconds=36_000,
        )
        record = await launch_host(spec)
        control = await HostControl.connect(record.socket)
        stack.push_async_callback(_end, control)
        playwright = await stack.enter_async_context(async_playwright())
        options: dict[str, Any] = {
            "no_defaults": True,
            "is_local": True,
            "artifacts_dir": artifacts_folder(spec.folder),
        }
        browser = await playwright.chromium.connect_over_cdp(cdp_endpoint(record.socket), **options)
        page = browser.contexts[0].pages[0]
        await page.set_content(_PAGE)
        async with _racing(control):
            return await _race(control, page, holds)


async def _race(control: HostControl, page: Page, holds: int) -> Agents:
    effects = in_hold = idle = 0
    took, began = Times(), time.monotonic()
    for _ in range(holds):
        await asyncio.sleep(secrets.randbelow(20) / 1e3)
        with took.one():
            await control.hold("h", 10)
        before = await page.evaluate("hits")
        after = await page.evaluate(f"new Promise(done => setTimeout(() => done(hits), {_LOOK_MS}))")
        await page.evaluate("hits = 0")
        effects, in_hold, idle = effects + before, in_hold + after - before, idle + (before == 0)
        await control.release("h")
    return Agents(
        holds=holds,
        effects=effects,
        refused=(await control.status()).refused,
        in_hold=in_hold,
        idle=idle,
        hold_p50_ms=took.milliseconds(50),
        hold_p95_ms=took.milliseconds(95),
        seconds=round(time.monotonic() - began, 1),
    )


@contextlib.asynccontextmanager
async def _racing(control: HostControl) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        loops: list[asyncio.Task[None]] = []
        stop = asyncio.Event()
        for work in (_clicks, _runs, _types):
            client = await stack.enter_async_context(_client(control))
            targets = (await client.call("Target.getTargets"))["result"]["targetInfos"]
            session = await client.attach(next(info["targetId"] for info in targets if info["type"] == "page"))
            loops.append(asyncio.create_task(work(client, session, stop)))
        yield
        stop.set()
        await asyncio.gather(*loops)


@contextlib.asynccontextmanager
async def _client(control: HostControl) -> AsyncIterator[RawClient]:
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    socket, _, _ = await control.open_door(OpenDoor(browser_id="b_agents", door_id=new_id("d"), sha256=digest))
    async with raw_client(Path(socket), f"/agent/{token}") as client:
        yield client


async def _clicks(client: RawClient, session: str, stop: asyncio.Event) -> None:
    at = {"x": 60, "y": 60, "button": "left", "clickCount": 1}
    while not stop.is_set():
        await client.call("Input.dispatchMouseEvent", session, type="mousePressed", **at)
        await client.call("Input.dispatchMouseEvent", session, type="mouseReleased", **at)


async def _runs(client: RawClient, session: str, stop: asyncio.Event) -> None:
    while not stop.is_set():
        await client.call("Runtime.evaluate", session, expression="hits++")


async def _types(client: RawClient, session: str, stop: asyncio.Event) -> None:
    while not stop.is_set():
        await client.call("Input.dispatchKeyEvent", session, type="keyDown", key="a", code="KeyA", text="a")
        await client.call("Input.dispatchKeyEvent", session, type="keyUp", key="a", code="KeyA")


async def _end(control: HostControl) -> None:
    with contextlib.suppress(Error):
        await control.close_browser()
    await control.aclose()
