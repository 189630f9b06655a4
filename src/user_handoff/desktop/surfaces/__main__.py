"""Shows whether exact windows are found on this desktop: ``python -m user_handoff.desktop.surfaces``.

It opens a browser of its own with three windows. Each is found, moved a little by the browser, and found again: the
same native window must have moved, and no other. Says a line of JSON for each step. `docs/manual-acceptance.md` tells
what a person does with it.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, async_playwright
from playwright.async_api import Error as BrowserError

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import Surface
from user_handoff.desktop.display.display import Display, real_display
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.surfaces.base import SurfaceFinder, WindowBounds
from user_handoff.desktop.surfaces.choose import choose_surfaces
from user_handoff.desktop.surfaces.settle import resolve_settled

_CLASS = "user-handoff-probe"
_BY = 24
"""A move in Chromium's pixels: a whole number of the screen's at every usual scale."""
_MOVE_SECONDS = 5.0
_LOOK_SECONDS = 0.02


@dataclass
class Window:
    """A window of the browser, and what was found of it."""

    name: str
    session: CDPSession
    surface: Surface | None = None
    problems: list[str] = field(default_factory=list)

    async def bounds(self) -> dict[str, Any]:
        """What the browser says of it."""
        return dict((await self.session.send("Browser.getWindowForTarget"))["bounds"])

    async def change(self, **bounds: Any) -> None:
        """Let the browser move it or change its state."""
        number = (await self.session.send("Browser.getWindowForTarget"))["windowId"]
        await self.session.send("Browser.setWindowBounds", {"windowId": number, "bounds": bounds})

    async def moved(self, before: dict[str, Any]) -> None:
        """Wait until the browser says that it is elsewhere: the window manager may take its time."""
        deadline = time.monotonic() + _MOVE_SECONDS
        while await self.bounds() == before and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)


class Probe:
    """One run."""

    def __init__(self, finder: SurfaceFinder, process: ProcessIdentity, windows: list[Window]) -> None:
        self._finder = finder
        self._process = process
        self._windows = windows

    async def find(self, window: Window) -> Surface:
        """Its native window, once it stands still."""
        return await resolve_settled(self._finder, window.bounds, self._process, _CLASS)

    async def report(self, step: str, window: Window) -> Surface | None:
        """Find it, and say so."""
        line: dict[str, Any] = {"step": step, "window": window.name, "browser_says": await window.bounds()}
        try:
            found = await self.find(window)
        except HandoffError as error:
            window.problems.append(f"{step}: {error.code}")
            say({**line, "refused": str(error.code), "what": error.what})
            return None
        same = window.surface is None or window.surface.window_id == found.window_id
        if not same:
            window.problems.append(f"{step}: another window")
        say({**line, "found": found.model_dump(), "same": same, "family": self._finder.family(found)})
        return found

    async def steps(self) -> bool:
        """Find, move and change each window; True where all of it was exact."""
        for window in self._windows:
            window.surface = await self.report("find", window)
        ids = {window.surface.window_id for window in self._windows if window.surface}
        for window in self._windows:
            await self._move(window)
            for state in ("minimized", "maximized", "fullscreen"):
                await window.change(windowState=state)
                await self.report(state, window)
                await window.change(windowState="normal")
                await self.report("normal", window)
        problems = [f"{window.name} {problem}" for window in self._windows for problem in window.problems]
        exact = len(ids) == len(self._windows) and not problems
        say({"step": "result", "exact": exact, "problems": problems})
        return exact

    async def _move(self, window: Window) -> None:
        before = window.surface
        said = await window.bounds()
        await window.change(left=said["left"] + _BY, top=said["top"] + _BY)
        await window.moved(said)
        after = await self.report("moved", window)
        if before and after and (before.x, before.y) == (after.x, after.y):
            window.problems.append("moved: the window that was found stood still")

    async def measure(self, rounds: int) -> None:
        """Say how long one search takes, without the browser's part of it."""
        bounds = WindowBounds.of_cdp(await self._windows[0].bounds())
        spent = []
        for _ in range(rounds):
            began = time.perf_counter()
            self._finder.resolve(self._process, bounds, _CLASS)
            spent.append((time.perf_counter() - began) * 1000)
        cuts = statistics.quantiles(spent, n=20)
        say({"step": "measure", "rounds": rounds, "p50_ms": round(cuts[9], 2), "p95_ms": round(cuts[18], 2)})

    async def watch(self) -> None:
        """Find all windows every two seconds while a person changes things, until interrupted."""
        while True:
            for window in self._windows:
                await self.report("watch", window)
            await asyncio.sleep(2)


def say(line: dict[str, Any]) -> None:
    """One line of JSON."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


@asynccontextmanager
async def browser(display: Display | None, sandbox: bool, more: list[str]) -> AsyncIterator[BrowserContext]:
    """A browser with a profile of its own; `HANDOFF_CHROMIUM` names it, else it is Chrome."""
    named = shutil.which(os.environ.get("HANDOFF_CHROMIUM", ""))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                profile,
                headless=False,
                executable_path=named,
                channel=None if named else "chrome",
                chromium_sandbox=sandbox,
                no_viewport=True,
                args=[f"--class={_CLASS}", *more],
                env={**os.environ, **(display.environment() if display else {})},
            )
            async with context:
                yield context


async def windows_of(context: BrowserContext) -> tuple[ProcessIdentity, list[Window]]:
    """The browser's process, and three windows: the first, a second, and a popup."""
    assert context.browser
    session = await context.browser.new_browser_cdp_session()
    listed = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
    pid = next(int(entry["id"]) for entry in listed if entry["type"] == "browser")
    pages = [context.pages[0]]
    async with context.expect_page() as second:
        await session.send("Target.createTarget", {"url": "about:blank", "newWindow": True})
    pages.append(await second.value)
    async with context.expect_page() as third:
        await pages[0].evaluate("() => { open('about:blank', '_blank', 'width=500,height=400,left=200,top=150') }")
    pages.append(await third.value)
    names = ("first", "second", "popup")
    for page, name in zip(pages, names, strict=True):
        await page.set_content(f"<title>Same title</title><h1>{name}</h1><input type=file><select><option>1<option>2")
    sessions = [await context.new_cdp_session(page) for page in pages]
    return ProcessIdentity.of(pid), [Window(name, cdp) for name, cdp in zip(names, sessions, strict=True)]


async def run(options: argparse.Namespace) -> int:
    """All of it; the exit code is 0 where everything was exact."""
    display = None if sys.platform in ("win32", "darwin") else real_display(os.environ)
    finder = choose_surfaces(display or Display("", None, virtual=False, keeper=None))
    able, why = finder.capability()
    say({"step": "capability", "backend": finder.backend, "browser_user_handoff": able, "why_not": why})
    if not able:
        return 3
    try:
        async with browser(display, not options.no_sandbox, options.chromium) as context:
            probe = Probe(finder, *await windows_of(context))
            exact = await probe.steps()
            if options.rounds:
                await probe.measure(options.rounds)
            if options.watch:
                await probe.watch()
    finally:
        finder.close()
    return 0 if exact else 1


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m user_handoff.desktop.surfaces", description=__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="measure this many searches (at least 2)")
    parser.add_argument("--watch", action="store_true", help="go on finding the windows until Ctrl-C")
    parser.add_argument("--no-sandbox", action="store_true", help="for root, which Chromium's sandbox refuses")
    parser.add_argument("--chromium", action="append", default=[], metavar="SWITCH", help="one more for the browser")
    try:
        return asyncio.run(run(parser.parse_args()))
    except HandoffError as error:
        say({"step": "refused", **error.to_dict()})
        return 3
    except BrowserError as error:
        say({"step": "ended", "what": f"the browser does not start, or has ended: {error.message.splitlines()[0]}"})
        return 1
    except KeyboardInterrupt:
        return 130


sys.exit(main())
