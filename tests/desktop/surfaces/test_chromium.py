"""Exact windows of the real browser."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from typing import Any

import pytest
from playwright.async_api import Error as BrowserError
from playwright.async_api import Playwright, async_playwright

from tests.desktop.surfaces.chromiums import Chromium, Window, chromium
from tests.desktop.surfaces.programs import program, window
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode, Refused
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.surfaces.base import WindowBounds
from user_handoff.desktop.surfaces.settle import resolve_settled
from user_handoff.desktop.surfaces.x11 import X11Surfaces

STATES = ("minimized", "normal", "maximized", "normal", "fullscreen", "normal")


@pytest.fixture(scope="module")
async def playwright() -> AsyncIterator[Playwright]:
    async with async_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
async def browsers(
    playwright: Playwright, managed: Display, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[list[Chromium]]:
    """Two browsers of one title, size, place and class."""
    async with AsyncExitStack() as stack:
        profiles = [tmp_path_factory.mktemp("profile") for _ in range(2)]
        yield [await stack.enter_async_context(chromium(playwright, managed, at, "uh-b")) for at in profiles]


@contextmanager
def workspaces(display: Display) -> Iterator[Any]:
    """Two workspaces, and a way to ask the window manager for things."""
    with connection(display.name, display.xauthority) as x:
        from Xlib import X
        from Xlib.protocol import event

        root = x.screen().root

        def ask(window_id: int, what: str, value: int) -> None:
            target = x.create_resource_object("window", window_id or root.id)
            message = event.ClientMessage(
                window=target, client_type=x.intern_atom(what), data=(32, [value, 2, 0, 0, 0])
            )
            root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            x.sync()

        ask(0, "_NET_NUMBER_OF_DESKTOPS", 2)
        yield ask
        ask(0, "_NET_NUMBER_OF_DESKTOPS", 1)


async def test_two_chromiums_of_one_title_size_place_and_class_are_told_apart(
    browsers: list[Chromium], surfaces: X11Surfaces
) -> None:
    """K62, A3."""
    found = [await browser.resolve(surfaces) for browser in browsers]
    assert [surface.pid for surface in found] == [browser.process.pid for browser in browsers]
    assert found[0].window_id != found[1].window_id
    places = {(surface.x, surface.y, surface.width, surface.height) for surface in found}
    assert len(places) == 1


async def test_a_page_that_takes_another_windows_title_is_not_taken_for_it(
    browsers: list[Chromium], surfaces: X11Surfaces, managed: Display
) -> None:
    """K62: the title of its own browser's other window, of another browser and of another program."""
    browser = browsers[0]
    async with browser.another() as other:
        ids = [(await browser.resolve(surfaces, each)).window_id for each in browser.windows]
        with program(managed, window("Bank")):
            for title in ("Invoices", "Bank", "", "x"):
                await other.page.evaluate("title => { document.title = title }", title)
                await browser.first.page.evaluate("title => { document.title = title }", title)
                assert [(await browser.resolve(surfaces, each)).window_id for each in browser.windows] == ids
        assert len(set(ids)) == 2


@pytest.mark.parametrize("which", [0, 1], ids=["browser window", "popup"])
async def test_each_of_a_browsers_windows_is_found_in_every_state(
    browsers: list[Chromium], surfaces: X11Surfaces, which: int
) -> None:
    """K61, A3: minimised, maximised, full screen, with another window of the same process beside it."""
    browser = browsers[0]
    async with browser.another():
        ids = [(await browser.resolve(surfaces, each)).window_id for each in browser.windows]
        for state in STATES:
            await browser.windows[which].change({"windowState": state})
            assert [(await browser.resolve(surfaces, each)).window_id for each in browser.windows] == ids


async def test_a_moved_window_is_found_where_it_is_then(browsers: list[Chromium], surfaces: X11Surfaces) -> None:
    """A3: what was found is what the browser moves."""
    browser = browsers[0]
    async with browser.another() as popup:
        before = await browser.resolve(surfaces, popup)
        await popup.change({"left": 260, "top": 190})
        after = await browser.resolve(surfaces, popup)
        assert after.window_id == before.window_id
        assert (after.x, after.y) == (260, 190)


async def test_a_window_on_another_workspace_is_found(
    browsers: list[Chromium], surfaces: X11Surfaces, managed: Display
) -> None:
    """K61."""
    browser = browsers[0]
    async with browser.another() as popup:
        surface = await browser.resolve(surfaces, popup)
        with workspaces(managed) as ask, connection(managed.name, managed.xauthority) as x:
            from Xlib import X

            shown = x.create_resource_object("window", surface.window_id)
            ask(surface.window_id, "_NET_WM_DESKTOP", 1)
            await until(lambda: shown.get_attributes().map_state != X.IsViewable)
            assert await browser.resolve(surfaces, popup) == surface
            assert surfaces.exists(surface)


async def test_two_windows_at_one_place_are_ambiguous_until_one_is_moved(
    browsers: list[Chromium], surfaces: X11Surfaces
) -> None:
    """A3: nothing is guessed, and no window is moved about to find out."""
    browser = browsers[0]
    async with browser.another() as popup:
        first, second = [await browser.resolve(surfaces, each) for each in browser.windows]
        place = ("left", "top", "width", "height")
        below, apart = await browser.first.bounds(), await popup.bounds()
        await popup.change({name: below[name] for name in place})
        for each in browser.windows:
            await refused_soon(browser, surfaces, each)
        await popup.change({name: apart[name] for name in place})
        assert [await browser.resolve(surfaces, each) for each in browser.windows] == [first, second]


async def refused_soon(browser: Chromium, surfaces: X11Surfaces, of: Window) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                await browser.resolve(surfaces, of)
            except Refused as error:
                assert error.code is ErrorCode.SURFACE_AMBIGUOUS
                return


async def test_a_window_that_closes_during_the_search_is_not_mistaken_for_the_one_that_is_left(
    browsers: list[Chromium], surfaces: X11Surfaces
) -> None:
    """A3, K61: one window alone is the browser's only one by then, and still not the one that was meant."""
    browser = browsers[0]
    async with browser.another() as doomed:

        async def said() -> dict[str, Any]:
            bounds = await doomed.bounds()
            await doomed.page.close()
            await until(lambda: windows_of(surfaces, browser) == 1)
            return bounds

        with pytest.raises(BrowserError):
            await resolve_settled(surfaces, said, browser.process, browser.token)


def windows_of(surfaces: X11Surfaces, browser: Chromium) -> int:
    found = surfaces._windows.of_process(browser.process.pid)
    return sum(window.main and window.shown for window in found)


async def test_a_window_that_never_stands_still_is_refused(browsers: list[Chromium], surfaces: X11Surfaces) -> None:
    """A3."""
    browser, step = browsers[0], iter(range(100))

    async def said() -> dict[str, Any]:
        return {**await browser.first.bounds(), "left": next(step)}

    with pytest.raises(Refused) as error:
        await resolve_settled(surfaces, said, browser.process, browser.token, seconds=0.2)
    assert error.value.code is ErrorCode.SURFACE_NOT_FOUND


async def test_a_browser_is_found_without_a_window_manager_and_is_gone_when_it_is_killed(
    playwright: Playwright, bare: Display, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """K61, A3."""
    profile = tmp_path_factory.mktemp("profile")
    with closing(X11Surfaces(bare)) as finder:
        async with chromium(playwright, bare, profile, "uh-bare") as browser:
            async with browser.another() as popup:
                found = [await browser.resolve(finder, each) for each in browser.windows]
                assert len({surface.window_id for surface in found}) == 2
                await popup.change({"left": 100, "top": 90})
                assert (await browser.resolve(finder, popup)).window_id == found[1].window_id
            assert await browser.resolve(finder) == found[0]
            bounds = WindowBounds.of_cdp(await browser.first.bounds())
            os.kill(browser.process.pid, signal.SIGKILL)
            await until(lambda: not finder.exists(found[0]))
            with pytest.raises(Refused) as error:
                finder.resolve(browser.process, bounds, browser.token)
            assert error.value.code is ErrorCode.SURFACE_NOT_FOUND
            assert finder.family(found[0]) == ()


async def test_the_probe_finds_every_window_of_a_scaled_browser(managed: Display) -> None:
    """A3: and what a person runs on a real desktop says so."""
    code, lines = await probe(managed, "--no-sandbox", "--chromium=--force-device-scale-factor=1.5", "--rounds=20")
    assert code == 0, lines
    assert lines[0]["browser_user_handoff"] is True
    assert {line["same"] for line in lines if "same" in line} == {True}
    (found,) = [line for line in lines if line["step"] == "find" and line["window"] == "popup"]
    assert found["found"]["width"] > found["browser_says"]["width"]
    assert lines[-2] == {"step": "result", "exact": True, "problems": []}
    assert lines[-1]["step"] == "measure"


async def test_the_probe_refuses_a_wayland_session() -> None:
    """A2, K61: with the reason, and no traceback."""
    code, lines = await probe(None, "--no-sandbox")
    assert code == 3
    assert [line["code"] for line in lines] == [ErrorCode.WAYLAND_UNSUPPORTED]


async def probe(display: Display | None, *options: str) -> tuple[int, list[dict[str, Any]]]:
    shown = display.environment() if display else {"DISPLAY": "", "WAYLAND_DISPLAY": "wayland-0"}
    done = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "user_handoff.desktop.surfaces",
        *options,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **shown, "HANDOFF_CHROMIUM": os.environ.get("HANDOFF_CHROMIUM", "chromium")},
    )
    said, _ = await done.communicate()
    return int(done.returncode or 0), [json.loads(line) for line in said.splitlines()]


async def test_a_file_chooser_and_an_open_select_belong_to_the_window(
    browsers: list[Chromium], surfaces: X11Surfaces
) -> None:
    browser, other = browsers[1], browsers[0]
    surface, beside = await browser.resolve(surfaces), await other.resolve(surfaces)
    surfaces.raise_window(surface)
    await until(lambda: surfaces.focused() == surface.window_id)
    await browser.first.page.click("select")
    await until(lambda: surfaces.family(surface))
    assert await browser.resolve(surfaces) == surface
    await browser.first.page.keyboard.press("Escape")
    await until(lambda: not surfaces.family(surface))
    await browser.first.page.click("input")
    (chooser,) = await until(lambda: surfaces.family(surface))
    await until(lambda: surfaces.focused() == chooser)
    assert await browser.resolve(surfaces) == surface
    assert surfaces.family(beside) == ()
