"""A private display and a visible Chromium that nothing of the product drives."""

import os
import secrets
import subprocess
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from playwright.async_api import BrowserContext, Page, async_playwright
from Xlib import display as xdisplay

from examples.portal import Portal
from tests.waiting import until

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture
async def portal() -> AsyncIterator[Portal]:
    async with Portal.start() as running:
        yield running


@pytest.fixture
async def client(portal: Portal) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=portal.url, follow_redirects=True, trust_env=False, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def display_env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("display")
    authority = folder / "authority"
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xtigervnc", "-displayfd", str(write), "-auth", str(authority), "-geometry", "1280x800", "-depth", "24",
         "-SecurityTypes", "None", "-rfbport", "-1", "-rfbunixpath", str(folder / "rfb"), "-nolisten", "tcp"],
        pass_fds=(write,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as answer:
        name = f":{answer.readline().strip()}"
    env = {"DISPLAY": name, "XAUTHORITY": str(authority)}
    cookie = secrets.token_hex(16)
    subprocess.run(["xauth", "-f", str(authority), "add", name, ".", cookie], check=True, stderr=subprocess.DEVNULL)
    manager = subprocess.Popen(["openbox"], env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield env
    for process in (manager, server):
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
async def context(
    display_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[BrowserContext]:
    async with async_playwright() as playwright:
        context = await playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=CHROMIUM,
            headless=False,
            no_viewport=True,
            env={**os.environ, **display_env},
            args=["--test-type"],
        )
        yield context
        await context.close()


@pytest.fixture
async def page(context: BrowserContext) -> AsyncIterator[Page]:
    await context.clear_cookies()
    page = context.pages[0]
    yield page
    await page.goto("about:blank")


@pytest.fixture
async def window_id(page: Page, display_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The one window on the display that a window manager manages."""
    monkeypatch.setenv("XAUTHORITY", display_env["XAUTHORITY"])
    display = xdisplay.Display(display_env["DISPLAY"])
    try:
        atom = display.intern_atom("_NET_CLIENT_LIST")
        found = await until(
            lambda: display.screen().root.get_full_property(atom, 0),
            wanted=lambda found: found and len(found.value) == 1,
            what="exactly one window",
        )
        return int(found.value[0])
    finally:
        display.close()
