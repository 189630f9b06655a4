"""`handoff takeover`: take a browser over from its agent, and give it back. `handoff takeover status` only reads."""

import asyncio
import contextlib
import getpass
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.cli.exits import Exit, plain, print_json
from user_handoff.cli.signals import until_signalled
from user_handoff.cli.state_files import DESKTOP
from user_handoff.cli.temporal import connect
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.names import desktop_queue
from user_handoff.contract.takeover import (
    MAX_TAKEOVER_SECONDS,
    TakeoverBegun,
    TakeoverEnd,
    TakeoverRequest,
    TakeoverState,
    TakeoverSummary,
)
from user_handoff.desktop.lease.lease import HEARTBEAT_SECONDS
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.serving import read_serving

STATUS: Final = "status"
_LOOK_SECONDS: Final = 0.5
_SUBJECT: Final = "desktop"

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
        serving = read_serving(folder / DESKTOP)
        request = TakeoverRequest(
            browser_id=browser,
            client_id=serving.client_id,
            desktop_id=serving.desktop_id,
            queue=desktop_queue(serving.client_id, serving.desktop_id),
            role="desk",
            by=getpass.getuser(),
            why=why,
            seconds=seconds,
            preempt=preempt,
        )
        async with until_signalled() as stop:
            client = TakeoverClient(await connect(folder))
            begun = await client.take_over(request)
            leases = Leases(folder / DESKTOP / f"{begun.desktop_id}.leases.db")
            try:
                return await _Session(client, begun, leases, stop, as_json).run()
            finally:
                leases.close()

    return asyncio.run(body())


class _Session:
    """While this person has the browser."""

    def __init__(
        self, client: TakeoverClient, begun: TakeoverBegun, leases: Leases, stop: asyncio.Event, as_json: bool
    ) -> None:
        self._client = client
        self._begun = begun
        self._leases = leases
        self._stop = stop
        self._as_json = as_json

    async def run(self) -> Exit:
        begun = self._begun
        if self._as_json:
            print_json(begun.model_dump(mode="json"))
        else:
            typer.echo(f"You have the browser, for {begun.expires_in_seconds:.0f} s at most: {begun.takeover_id}")
            typer.echo(
                "Press Enter to give it back; words before that are a note for the agent. Ctrl-C: without a word."
            )
        words = asyncio.ensure_future(_line())
        beating = asyncio.create_task(self._beat())
        over = asyncio.create_task(self._until_over())
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((words, beating, over, stopped), return_when=asyncio.FIRST_COMPLETED)
            return await self._leave(words, stopped)
        finally:
            for task in (words, beating, over, stopped):
                task.cancel()
            await asyncio.gather(words, beating, over, stopped, return_exceptions=True)

    async def _leave(self, words: "asyncio.Future[str]", stopped: "asyncio.Task[object]") -> Exit:
        takeover_id = self._begun.takeover_id
        if words.done():
            note = "" if words.result().lower() == "done" else words.result()
            summary = await self._client.give_back(takeover_id, note)
        elif stopped.done():
            summary = await self._client.cancel(takeover_id)
        else:
            summary = await self._client.takeover(takeover_id)
        if self._as_json:
            print_json(summary.model_dump(mode="json"))
        else:
            typer.echo(plain(_told(summary)))
        if stopped.done():
            return Exit.INTERRUPTED
        return Exit.OK if summary.how is TakeoverEnd.RETURNED else Exit.FAILED

    async def _beat(self) -> None:
        """Renew the lease; the first renewal that fails is the end of it."""
        while True:
            await asyncio.sleep(min(HEARTBEAT_SECONDS, self._begun.ttl_seconds / 3))
            try:
                self._leases.renew_by_id(_SUBJECT, self._begun.lease_id)
            except HandoffError as error:
                print(plain(f"Your control is over: {error.what}"), file=sys.stderr, flush=True)  # noqa: T201
                return

    async def _until_over(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                summary = await self._client.takeover(self._begun.takeover_id)
            except HandoffError as error:
                if error.code is not ErrorCode.TEMPORAL_UNREACHABLE:
                    raise
                continue  # the lease is renewed at the desktop all the same
            if summary.state is not TakeoverState.HELD:
                return


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


def _told(summary: TakeoverSummary) -> str:
    """What became of it, for whoever had it."""
    seconds = f" after {summary.seconds:.0f} s" if summary.seconds is not None else ""
    changes = summary.changes
    parts = [f"{str(summary.how or summary.state).capitalize()}{seconds}. The agent has to look before it acts."]
    if changes is not None:
        counts = {
            "pages opened": len(changes.pages_opened),
            "pages left": len(changes.pages_left),
            "titles": len(changes.titles),
            "cookies": len(changes.cookies_added) + len(changes.cookies_removed),
        }
        parts += [f"Changed: {', '.join(f'{count} {what}' for what, count in counts.items() if count) or 'nothing'}."]
    return " ".join(parts)
