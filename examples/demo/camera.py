"""Pictures of what a person sees: the desktop, their page, and Temporal's web UI."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.async_api import TimeoutError, async_playwright

_GRAB = "import sys; from PIL import ImageGrab; ImageGrab.grab(xdisplay=sys.argv[1]).save(sys.argv[2])"


async def desktop_picture(display_env: Mapping[str, str], path: Path) -> Path:
    """Photograph a whole X display. Nothing on it is masked: only before anything secret is typed.

    Raises:
        RuntimeError: It could not be taken.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _GRAB, display_env["DISPLAY"], str(path), env={**os.environ, **display_env}
    )
    if await process.wait():
        raise RuntimeError("the desktop could not be photographed")
    return path


async def web_picture(url: str, path: Path, *, height: int) -> Path:
    """Photograph a web page in a headless browser of the demo's own: never the one that is handed over.

    Args:
        url: The page.
        path: Where the picture goes.
        height: Of the picture, in pixels.
    """
    executable = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "google-chrome-stable"))), None)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, chromium_sandbox=os.geteuid() != 0)
        tab = await browser.new_page(viewport={"width": 1200, "height": height})
        await tab.goto(url, wait_until="load")
        with contextlib.suppress(TimeoutError):  # a page that polls is never idle
            await tab.wait_for_load_state("networkidle", timeout=5_000)
        await tab.screenshot(path=path)
        await browser.close()
    return path
