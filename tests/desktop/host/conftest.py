"""A private display with a window manager, a small web site, and browsers under their hosts."""

import contextlib
import os
import secrets
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, Playwright, async_playwright

from user_handoff.desktop.host.control import HostControl, cdp_endpoint
from user_handoff.desktop.host.launch import HostRecord, HostSpec, artifacts_folder, chromium_path, launch_host


@dataclass(frozen=True)
class TestDisplay:
    __test__ = False
    name: str
    xauthority: Path

    def person(self, *arguments: str) -> str:
        """Native input, as a person's: X events at the real windows."""
        environment = {**os.environ, "DISPLAY": self.name, "XAUTHORITY": str(self.xauthority)}
        done = subprocess.run(["xdotool", *arguments], env=environment, capture_output=True, text=True, timeout=30)
        return done.stdout


@pytest.fixture(scope="session")
def display(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestDisplay]:
    folder = tmp_path_factory.mktemp("display")
    cookie, xauthority = secrets.token_hex(16), folder / "xauthority"
    subprocess.run(["xauth", "-q", "-f", str(folder / "server"), "add", ":0", ".", cookie], check=True)
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [
            *("Xtigervnc", "-displayfd", str(writing), "-auth", str(folder / "server"), "-geometry", "1280x800"),
            *("-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1", "-rfbunixpath", str(folder / "rfb")),
            *("-rfbunixmode", "0600", "-nolisten", "tcp"),
        ],
        pass_fds=(writing,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as answer:
        name = f":{int(answer.readline())}"
    # the server takes the cookie of any display number; a client looks for its own
    subprocess.run(["xauth", "-q", "-f", str(xauthority), "add", name, ".", cookie], check=True)
    environment = {**os.environ, "DISPLAY": name, "XAUTHORITY": str(xauthority)}
    manager = subprocess.Popen(["openbox"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield TestDisplay(name, xauthority)
    for process in (manager, server):
        process.terminate()
        process.wait(10)


@dataclass
class Site:
    """Pages by path, what was asked for, and requests that wait."""

    url: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            path = self.path.partition("?")[0]
            if path == "/slow":
                site.gate.wait(10)
            body = site.pages.get(path, f"<title>{path}</title><p>{path}</p>").encode()
            self.send_response(200)
            if path == "/file":
                self.send_header("Content-Disposition", "attachment; filename=report.csv")
            if path == "/login":
                self.send_header("Set-Cookie", "login=yes; Max-Age=3600; Path=/")
            self.send_header("Content-Type", "text/csv" if path == "/file" else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    found = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def sockets() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="uh-") as folder:
        yield Path(folder)


MakeSpec = Callable[..., HostSpec]


@pytest.fixture(scope="session")
def make_spec(display: TestDisplay, sockets: Path) -> MakeSpec:
    def make(folder: Path, **changes: object) -> HostSpec:
        values: dict[str, object] = {
            "browser_id": folder.name,
            "folder": folder,
            "socket": sockets / f"{secrets.token_hex(4)}.sock",
            "display": display.name,
            "xauthority": display.xauthority,
            "executable": chromium_path(),
            "sandbox": os.geteuid() != 0,
            "window_class": f"uh-{folder.name}",
            "lifetime_seconds": 3_600.0,
        }
        return HostSpec(**{**values, **changes})  # type: ignore[arg-type]

    return make


@pytest.fixture(scope="session")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as started:
        yield started


async def connect(playwright: Playwright, record: HostRecord, folder: Path) -> Browser:
    return await playwright.chromium.connect_over_cdp(
        cdp_endpoint(record.socket), no_defaults=True, is_local=True, artifacts_dir=artifacts_folder(folder)
    )


@dataclass
class Desk:
    """One browser with everything that a test needs."""

    spec: HostSpec
    record: HostRecord
    control: HostControl
    browser: Browser
    display: TestDisplay
    site: Site

    @property
    def context(self) -> BrowserContext:
        return self.browser.contexts[0]

    @property
    def page(self) -> Page:
        return self.context.pages[0]

    async def show(self, html: str) -> Page:
        """Open a page with this content."""
        path = f"/p{secrets.token_hex(3)}"
        self.site.pages[path] = html
        await self.page.goto(self.site.url + path)
        return self.page

    async def find(self, page: Page, selector: str) -> tuple[str, str]:
        """Where an element is on the display."""
        x, y = await page.evaluate(
            """selector => {
                const box = document.querySelector(selector).getBoundingClientRect();
                const border = (outerWidth - innerWidth) / 2;
                return [screenX + border + box.x + box.width / 2,
                        screenY + outerHeight - innerHeight - border + box.y + box.height / 2];
            }""",
            selector,
        )
        return str(round(x)), str(round(y))

    async def person_clicks(self, page: Page, selector: str) -> None:
        """Click an element by the pointer of the display."""
        self.display.person("mousemove", *await self.find(page, selector), "click", "1")


@pytest.fixture(scope="session")
async def desk(
    make_spec: MakeSpec,
    playwright: Playwright,
    display: TestDisplay,
    site: Site,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Desk]:
    spec = make_spec(tmp_path_factory.mktemp("browsers") / "b_desk")
    record = await launch_host(spec)
    control = await HostControl.connect(record.socket)
    browser = await connect(playwright, record, spec.folder)
    yield Desk(spec, record, control, browser, display, site)
    await browser.close()
    await control.close_browser()
    await control.aclose()


@pytest.fixture
async def held(desk: Desk) -> AsyncIterator[Desk]:
    """The desk, to be held by a test: released after it."""
    yield desk
    status = await desk.control.status()
    if status.hold_id:
        await desk.control.release(status.hold_id)
