"""`handoff hotkey`: one press takes the browser in front over, and the next one gives it back."""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.cli.controlling import control, request_at_desk, told
from user_handoff.cli.exits import Exit, show_error
from user_handoff.cli.signals import until_signalled
from user_handoff.cli.state_files import DESKTOP
from user_handoff.cli.temporal import connect
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.takeover import TakeoverBegun, TakeoverRequest
from user_handoff.desktop.display.display import Display, desktop_id, real_display
from user_handoff.desktop.host.launch import find_hosts
from user_handoff.desktop.input.hotkey import Hotkey
from user_handoff.desktop.serving import read_serving
from user_handoff.desktop.surfaces.x11_windows import X11Windows

KEYS: Final = "Ctrl+Alt+Space"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(hotkey)


def hotkey(
    keys: Annotated[
        str, typer.Option("--keys", metavar="KEYS", help="Modifiers (Ctrl, Alt, Super, Shift) and one key, with +.")
    ] = KEYS,
    preempt: Annotated[
        bool,
        typer.Option("--preempt", help="Cut off what the agent does then, where it does not end by itself in 5 s."),
    ] = False,
    display: options.DisplayName = None,
    state: options.State = None,
) -> None:
    """Take a browser over by a key, at the desktop that it lives on, and give it back by the same key.

    The browser is the one whose window has the focus, or the only one of the desktop. This stays in the foreground
    until Ctrl-C, which gives back what is taken. A takeover ends by itself 30 s after this command has died.
    """
    raise typer.Exit(asyncio.run(_serve(options.state_folder(state), _display(display), keys, preempt)))


def _display(name: str | None) -> Display:
    environ = dict(os.environ) | ({"DISPLAY": name} if name else {})
    if environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        return real_display(environ)
    raise make_error(
        ErrorCode.NO_DISPLAY,
        "There is no X display here on which a key could be pressed: DISPLAY is not set.",
        holds="Nothing was started.",
        do_next="Start it within the session of the desktop, or name its display with --display.",
    )


async def _serve(folder: Path, display: Display, keys: str, preempt: bool) -> Exit:
    async with until_signalled() as stop:
        with _presses(display, keys) as presses:
            typer.echo(f"{keys} takes the browser in front over, and gives it back. Ctrl-C ends this.")
            while await _pressed(presses, stop):
                try:
                    browser_id = await asyncio.to_thread(browser_in_front, folder / DESKTOP, display)
                    await _taken(folder, request_at_desk(folder, browser_id, preempt=preempt), presses, keys, stop)
                except HandoffError as error:
                    presses.require()
                    show_error(error)
    return Exit.INTERRUPTED


async def _pressed(presses: "_Presses", stop: asyncio.Event) -> bool:
    """Wait for a press; False where this is to end."""
    press, stopped = asyncio.create_task(presses.next()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((press, stopped), return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            await press
        return not stop.is_set()
    finally:
        for task in (press, stopped):
            task.cancel()
        await asyncio.gather(press, stopped, return_exceptions=True)


async def _taken(folder: Path, request: TakeoverRequest, presses: "_Presses", keys: str, stop: asyncio.Event) -> None:
    """Take a browser over, until the next press gives it back."""

    async def until_pressed(begun: TakeoverBegun) -> str:
        typer.echo(f"You have the browser, for {begun.expires_in_seconds:.0f} s at most: {begun.takeover_id}")
        typer.echo(f"Press {keys} to give it back.")
        await presses.next()
        return ""

    client = TakeoverClient(await connect(folder))
    typer.echo(told(await control(client, folder, request, until_pressed, stop)))


def browser_in_front(folder: Path, display: Display) -> str:
    """The browser whose window has the focus; else the only one of the desktop.

    Args:
        folder: The folder of the desktop.
        display: Where it is looked for.

    Raises:
        Refused: `runner_unavailable`: the desktop of this folder is not on this display. `surface_not_found`,
            `surface_ambiguous`: no browser is there, or several and none has the focus. `handoff_unsupported`.
    """
    if desktop_id(display) != read_serving(folder).desktop_id:
        raise _elsewhere(display)
    browsers = {record.browser.pid: record.browser_id for record in find_hosts(folder / "browsers")}
    with contextlib.closing(X11Windows(display)) as windows:
        if why := windows.why_not():
            raise _unsure(why)
        window = windows.focused()
        in_front = None if window is None else browsers.get(windows.pid_of(window) or 0)
    if in_front is None and len(browsers) != 1:
        raise _which(len(browsers))
    return in_front or next(iter(browsers.values()))


class _Presses:
    """Presses as they come. What comes while nobody waits for one counts for nothing."""

    def __init__(self, keys: Hotkey) -> None:
        self._keys = keys
        self._came = asyncio.Event()
        self._lost: HandoffError | None = None

    def read(self) -> None:
        """Something has come."""
        try:
            if self._keys.pressed():
                self._came.set()
        except HandoffError as error:
            self._lose(error)

    async def next(self) -> None:
        """Wait for a press from now on.

        Raises:
            HandoffError: None can come any more.
        """
        self.require()
        self._came.clear()
        try:
            self._keys.forget()  # so that what an agent pressed before it had to wait gives nothing back
        except HandoffError as error:
            self._lose(error)
        await self._came.wait()
        self.require()

    def require(self) -> None:
        """See that presses can come.

        Raises:
            HandoffError: None can.
        """
        if self._lost is not None:
            raise self._lost

    def _lose(self, error: HandoffError) -> None:
        asyncio.get_running_loop().remove_reader(self._keys.fileno())
        self._lost = error
        self._came.set()


@contextlib.contextmanager
def _presses(display: Display, keys: str) -> Iterator[_Presses]:
    with contextlib.closing(Hotkey(display, keys)) as grabbed:
        presses = _Presses(grabbed)
        asyncio.get_running_loop().add_reader(grabbed.fileno(), presses.read)
        try:
            yield presses
        finally:
            asyncio.get_running_loop().remove_reader(grabbed.fileno())


def _elsewhere(display: Display) -> HandoffError:
    return make_error(
        ErrorCode.RUNNER_UNAVAILABLE,
        f"The desktop of this state folder is not the display {display.name}.",
        holds="Nothing was taken over.",
        do_next="Start the hotkey on the display of the runner, or name its state folder with --state.",
    )


def _unsure(why: str) -> HandoffError:
    return make_error(
        ErrorCode.HANDOFF_UNSUPPORTED,
        f"It cannot be told whose window is in front: {why}.",
        holds="Nothing was taken over.",
        do_next="Use `handoff takeover BROWSER` on the machine with the desktop.",
    )


def _which(count: int) -> HandoffError:
    if not count:
        return make_error(
            ErrorCode.SURFACE_NOT_FOUND,
            "No browser of an agent is on this desktop.",
            holds="Nothing was taken over.",
            do_next="Press again when one is open.",
        )
    return make_error(
        ErrorCode.SURFACE_AMBIGUOUS,
        f"{count} browsers are on this desktop, and none of them has the focus.",
        holds="Nothing was taken over.",
        do_next="Click into the one that you mean, and press again.",
        browsers=count,
    )
