"""`handoff takeover`: take a browser over from its agent, and give it back. `handoff takeover status` only reads."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.cli.controlling import control, request_at_desk, told
from user_handoff.cli.exits import Exit, plain, print_json
from user_handoff.cli.signals import until_signalled
from user_handoff.cli.temporal import connect
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.takeover import MAX_TAKEOVER_SECONDS, TakeoverBegun, TakeoverEnd, TakeoverSummary

STATUS: Final = "status"

Why = Annotated[str, typer.Option("--why", help="For the agent: why you take over. Never a password or a code.")]
Seconds = Annotated[
    float, typer.Option("--seconds", min=1, max=MAX_TAKEOVER_SECONDS, help="It ends after so long at the latest.")
]
Preempt = Annotated[
    bool, typer.Option("--preempt", help="Cut off what the agent does now, where it does not end by itself in 5 s.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(takeover)


def takeover(
    browser: Annotated[
        str, typer.Argument(metavar="BROWSER|status", help="The browser's id; or `status`: who has what.")
    ],
    why: Why = "",
    seconds: Seconds = MAX_TAKEOVER_SECONDS,
    preempt: Preempt = False,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Take a browser over from its agent, at the desktop that it lives on, and give it back.

    Enter, or `done`, gives it back; other words are a note for the agent. Ctrl-C gives it back without a word. It ends
    by itself 30 s after this command has died. Exit code 0 where it was given back, 1 where it ended otherwise.
    """
    folder = options.state_folder(state)
    if browser == STATUS:
        show_status(asyncio.run(_status(folder)), as_json)
        return
    raise typer.Exit(take_control(folder, browser, why, seconds, preempt, as_json))


def take_control(folder: Path, browser: str, why: str, seconds: float, preempt: bool, as_json: bool) -> Exit:
    """Take a browser over, and stay until it is given back.

    Raises:
        HandoffError: It was refused; nothing is held.
    """

    async def body() -> Exit:
        request = request_at_desk(folder, browser, why, seconds, preempt)
        async with until_signalled() as stop:
            client = TakeoverClient(await connect(folder))
            summary = await control(client, folder, request, lambda begun: _until_said(begun, as_json), stop)
            if as_json:
                print_json(summary.model_dump(mode="json"))
            else:
                typer.echo(told(summary))
            if stop.is_set():
                return Exit.INTERRUPTED
            return Exit.OK if summary.how is TakeoverEnd.RETURNED else Exit.FAILED

    return asyncio.run(body())


async def _until_said(begun: TakeoverBegun, as_json: bool) -> str:
    """Say that they have it, and wait for the line that gives it back."""
    if as_json:
        print_json(begun.model_dump(mode="json"))
    else:
        typer.echo(f"You have the browser, for {begun.expires_in_seconds:.0f} s at most: {begun.takeover_id}")
        typer.echo("Press Enter to give it back; words before that are a note for the agent. Ctrl-C: without a word.")
    said = await _line()
    return "" if said.lower() == "done" else said


async def _line() -> str:
    """The next line of the standard input; its end is no word of anybody."""
    said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()
    handle = sys.stdin.fileno()
    kept = b""

    def read() -> None:
        nonlocal kept
        part = os.read(handle, 4096)
        kept += part
        if not part or b"\n" in kept:
            loop.remove_reader(handle)
        if b"\n" in kept and not said.done():
            said.set_result(kept.partition(b"\n")[0].decode(errors="replace").strip()[:1_000])

    with contextlib.suppress(OSError, ValueError):  # a file, or nothing: it says nothing
        loop.add_reader(handle, read)
    try:
        return await said
    finally:
        loop.remove_reader(handle)


async def _status(folder: Path) -> list[TakeoverSummary]:
    return await TakeoverClient(await connect(folder)).takeovers()


def show_status(found: list[TakeoverSummary], as_json: bool, say: Callable[[str], None] = typer.echo) -> None:
    """Tell who has which browser. Nothing is changed by that."""
    if as_json:
        print_json([summary.model_dump(mode="json") for summary in found])
    elif not found:
        say("Nobody has taken a browser over.")
    else:
        for summary in found:
            until = f" until {summary.expires_at.astimezone():%H:%M:%S}" if summary.expires_at else ""
            why = f": {summary.why}" if summary.why else ""
            say(plain(f"{summary.takeover_id}  {summary.state}{until}  {summary.by} ({summary.role}){why}"))
