"""The live view against its floor: noVNC and websockify on the same Xtigervnc, in one run.

Both show the picture in the same size, ask for the same encodings, quality and compression, and take turns. The floor's
page has nothing but the picture; ours is the person's page as it is.
"""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
from playwright.async_api import Browser, Page

from benchmarks.numbers import Times
from tests.desktop.support import Agent
from tests.desktop.view.raw import viewing
from tests.e2e.stack import Stack, running_stack
from tests.gateway.browsing import running_chromium
from tests.waiting import until
from user_handoff.cli.ports import free_port
from user_handoff.contract.handoff import HandoffRequest
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.start import DesktopSettings, running_desktop
from user_handoff.desktop.view.settings import ViewSettings
from user_handoff.gateway.links import issue_link
from user_handoff.gateway.live.novnc import DEBIAN

COUNT = 600
LIMITS = {"click_ratio": 1.1, "frames_behind_percent": 5.0, "dead_ms_max": 50, "first_frame_ms_p50": 1000}

_ROUNDS = 12
_FRAMES_SECONDS = 2
_SHIFT, _MASK = 0xFFE1, 1

_TARGET = b"""<!doctype html><html style="height:100%"><title>Bench</title>
<body style="margin:0;height:100vh;background:#000"><script>
let on = false, frame = 0, runs = false;
onmousedown = e => {
  if (e.button === 2) { runs = !runs; requestAnimationFrame(draw); return; }
  on = !on; document.body.style.background = on ? '#fff' : '#000';
};
oncontextmenu = () => false;
function draw() {
  if (!runs) { document.body.style.background = on ? '#fff' : '#000'; return; }
  frame += 1;
  const at = frame * 7 % 256;
  document.body.style.background = `rgb(${at}, ${255 - at}, 128)`;
  requestAnimationFrame(draw);
}
</script>"""

_FLOOR = """<!doctype html><body style="margin:0"><div id=view></div>
<script type=module>
import RFB from './core/rfb.js';
const [width, height] = location.hash.slice(1).split('x');
document.getElementById('view').style = `width:${width}px;height:${height}px`;
const rfb = new RFB(document.getElementById('view'), `ws://${location.host}/websockify`, {shared: true});
rfb.scaleViewport = true; rfb.qualityLevel = 6; rfb.compressionLevel = 2; rfb.showDotCursor = true;
</script>"""

_READ = """
  const canvas = document.querySelector('#view canvas');
  const context = canvas.getContext('2d');
  const x = canvas.width / 2 | 0, y = canvas.height / 2 | 0;
  const pixel = () => context.getImageData(x, y, 1, 1).data.slice(0, 3).join();
  const box = canvas.getBoundingClientRect();
  const at = {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true, cancelable: true};
  const press = button => {
    canvas.dispatchEvent(new MouseEvent('mousemove', at));
    canvas.dispatchEvent(new MouseEvent('mousedown', {...at, button}));
    setTimeout(() => document.body.dispatchEvent(new MouseEvent('mouseup', {...at, button})), 10);
  };
  const sleep = ms => new Promise(done => setTimeout(done, ms));
"""

_SIZE = """() => {
  const box = document.querySelector('#view canvas').getBoundingClientRect();
  return `${Math.round(box.width)}x${Math.round(box.height)}`;
}"""

_CLICKS = f"""async count => {{ {_READ}
  const times = [];
  for (let n = 0; n < count; n++) {{
    await sleep(60 + 50 * (n * 0.618034 % 1)); // evenly over the frames of both browsers
    const before = pixel(), began = performance.now();
    press(0);
    while (pixel() === before && performance.now() - began < 3000) await new Promise(done => {{
      const channel = new MessageChannel(); channel.port1.onmessage = done; channel.port2.postMessage(0); }});
    times.push(performance.now() - began);
  }}
  return times;
}}"""

_FRAMES = f"""async seconds => {{ {_READ}
  press(2);
  await sleep(500);
  const began = performance.now();
  let frames = 0, last = pixel();
  while (performance.now() - began < seconds * 1000) {{
    await new Promise(requestAnimationFrame);
    const now = pixel();
    if (now !== last) {{ frames += 1; last = now; }}
  }}
  press(2);
  await sleep(300);
  return frames / seconds;
}}"""

_FIRST = """() => new Promise(done => {
  const look = () => {
    const canvas = document.querySelector('#view canvas');
    const [seen] = canvas && canvas.width ? [canvas.getContext('2d').getImageData(40, 20, 1, 1).data[3]] : [0];
    if (seen && document.querySelector('#view').dataset.state === 'watching') done(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})"""


async def measure(count: int = COUNT) -> dict[str, float]:
    """Milliseconds from a click to its picture, frames a second, and how soon input is dead."""
    with tempfile.TemporaryDirectory(prefix="view-") as folder:
        async with running_stack(Path(folder)) as stack, _target() as url, running_chromium() as chromium:
            request, _ = await stack.begin({"url": url})
            found = await _compare(stack, request, chromium, count)
            first = [await _first_frame(stack, request, chromium) for _ in range(7)]
    return found | {"first_frame_ms_p50": round(sorted(first)[3]), "dead_ms_max": await _dead()}


async def _compare(stack: Stack, request: HandoffRequest, chromium: Browser, count: int) -> dict[str, float]:
    ours, floor = _Side(), _Side()
    with tempfile.TemporaryDirectory(prefix="floor-") as folder:
        async with _websockify(stack, Path(folder)) as address:
            for _ in range(_ROUNDS):
                link = await issue_link(stack.handoffs, _gateway(stack), request.handoff_id)
                async with _page(chromium, link) as page:
                    await page.get_by_role("button", name="Take control").click()
                    await page.wait_for_selector("#view[data-state=control]")
                    await ours.look(page, count // _ROUNDS)
                    size = await page.evaluate(_SIZE)
                async with _page(chromium, f"{address}/bench.html#{size}") as page:
                    await page.wait_for_function("document.querySelector('#view canvas')?.width > 0")
                    await floor.look(page, count // _ROUNDS)
                    assert await page.evaluate(_SIZE) == size, "the two are not shown alike"
    return {
        "click_ms_p50": ours.clicks.milliseconds(50),
        "click_ms_p90": ours.clicks.milliseconds(90),
        "click_floor_ms_p50": floor.clicks.milliseconds(50),
        "click_floor_ms_p90": floor.clicks.milliseconds(90),
        "click_ratio": round(ours.clicks.percentile(50) / floor.clicks.percentile(50), 3),
        "frames": round(max(ours.frames), 1),
        "frames_floor": round(max(floor.frames), 1),
        "frames_behind_percent": round(100 * (1 - sum(ours.frames) / sum(floor.frames)), 1),
    }


class _Side:
    """One of the two that are compared."""

    def __init__(self) -> None:
        self.clicks = Times()
        self.frames: list[float] = []

    async def look(self, page: Page, count: int) -> None:
        """Click and count frames."""
        await page.locator("#view canvas").scroll_into_view_if_needed()
        await page.evaluate(_CLICKS, 3)
        self.clicks.seconds += [each / 1000 for each in await page.evaluate(_CLICKS, count)]
        self.frames.append(await page.evaluate(_FRAMES, _FRAMES_SECONDS))


async def _first_frame(stack: Stack, request: HandoffRequest, chromium: Browser) -> float:
    """Milliseconds from opening a fresh link in a fresh browser to the first picture."""
    link = await issue_link(stack.handoffs, _gateway(stack), request.handoff_id)
    async with _page(chromium, link) as page:
        return float(await page.evaluate(_FIRST))


async def _dead(count: int = 20) -> float:
    """Milliseconds from the end of a lease to the release of a key that was held down, at most."""
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="dead-") as folder:
        settings = DesktopSettings(folder=Path(folder), virtual=True, sandbox=False, view=ViewSettings(ttl_seconds=0.3))
        async with running_desktop(settings) as desktop:
            agent = await Agent.open(desktop)
            receipt = await agent.begin()
            async with viewing(desktop.view, receipt.handoff_id) as viewer:
                for _ in range(count):
                    await viewer.take()
                    await viewer.hold_down(_SHIFT)
                    lease = desktop.view.control.lease
                    assert lease is not None
                    await until(lambda: _shift_is_down(desktop))
                    await until(lambda: not _shift_is_down(desktop))
                    worst = max(worst, time.monotonic() - lease.ends)
                    await viewer.heard("control", who="nobody")
    return round(worst * 1000, 1)


def _shift_is_down(desktop: Desktop) -> bool:
    with desktop.holds._surfaces._windows.connected() as x:  # type: ignore[attr-defined]
        return bool(x.screen().root.query_pointer().mask & _MASK)


@contextlib.asynccontextmanager
async def _page(chromium: Browser, url: str) -> AsyncIterator[Page]:
    async with await chromium.new_context(viewport={"width": 1280, "height": 1700}) as context:
        page = await context.new_page()
        await page.goto(url)
        yield page


@contextlib.asynccontextmanager
async def _target() -> AsyncIterator[str]:
    """The page that is clicked, and moves."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + _TARGET)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


@dataclass(frozen=True)
class _Floor:
    """Where websockify is: installed here, or fetched for this run alone."""

    command: list[str]
    folder: str = ""

    @classmethod
    def found(cls, folder: Path) -> "_Floor":
        """Installed, or from PyPI into a folder that goes away."""
        if name := shutil.which("websockify"):
            return cls([name])
        fetch = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), "websockify"]
        subprocess.run(fetch, check=True)
        return cls([sys.executable, "-m", "websockify"], str(folder))


@contextlib.asynccontextmanager
async def _websockify(stack: Stack, folder: Path) -> AsyncIterator[str]:
    """A websockify before the same display, which serves noVNC too."""
    record = read_record(stack.state / "desktop")
    assert record is not None
    web = folder / "web"
    web.mkdir()
    for part in ("core", "vendor"):
        (web / part).symlink_to(DEBIAN / part)
    (web / "bench.html").write_text(_FLOOR)
    floor = _Floor.found(folder / "packages")
    port = free_port()
    command = [*floor.command, f"--web={web}", f"--unix-target={record.rfb_socket}", f"127.0.0.1:{port}"]
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=log, stderr=log, env={"PATH": "/usr/bin:/bin", "PYTHONPATH": floor.folder}
        )
    try:
        await _until_served(f"http://127.0.0.1:{port}/bench.html")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def _until_served(url: str) -> None:
    async with asyncio.timeout(20), httpx.AsyncClient() as http:
        while True:
            with contextlib.suppress(httpx.TransportError):
                await http.get(url)
                return
            await asyncio.sleep(0.05)


def _gateway(stack: Stack) -> str:
    return str(stack.server.facts()["gateway_url"])
