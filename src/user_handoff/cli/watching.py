"""`handoff watch`: what becomes of handoffs and takeovers, as it comes about."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options, takeover
from user_handoff.cli.changes import View, view
from user_handoff.cli.completing import waiting_ids
from user_handoff.cli.exits import Exit
from user_handoff.cli.signals import until_signalled
from user_handoff.cli.temporal import connect
from user_handoff.client import HandoffClient
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError
from user_handoff.contract.handoff import HandoffState, Result, Summary
from user_handoff.contract.takeover import MAX_TAKEOVER_SECONDS, TakeoverSummary

LOOK_SECONDS: Final = 0.5
"""How often one handoff is looked at. A look leaves nothing in its history."""

LOOK_AT_ALL_SECONDS: Final = 1.0

_PATIENCE_SECONDS: Final = 5.0

_NO_ANSWER: Final = "Temporal, or the server worker, does not answer. Holds stand meanwhile; looking again."


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(watch)


def watch(
    handoff_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="One handoff. Default: all that wait.", autocompletion=waiting_ids)
    ] = "",
    state: options.State = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line for each change.")] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Take the browser of this id over, as `handoff takeover` does.")
    ] = False,
    why: takeover.Why = "",
) -> None:
    """Tell each change of a handoff as it comes, with the time that is left, and end with its end or its time.

    Exit code 0 where its outcome was verified, 1 where it ended otherwise or its time was up. Without an id it tells of
    all handoffs and takeovers, and goes on until Ctrl-C.
    """
    if control:
        if not handoff_id:
            raise typer.BadParameter("--control needs the id of a browser")
        folder = options.state_folder(state)
        raise typer.Exit(takeover.take_control(folder, handoff_id, why, MAX_TAKEOVER_SECONDS, False, as_json))
    raise typer.Exit(asyncio.run(_watch(options.state_folder(state), handoff_id, as_json)))


async def _watch(folder: Path, handoff_id: str, as_json: bool) -> Exit:
    async def watching(told: View) -> Summary:
        client = TakeoverClient(await connect(folder)).within(_PATIENCE_SECONDS)
        return await follow(client, handoff_id, told)

    async with until_signalled() as stop:
        with view(as_json) as told:
            tasks = asyncio.create_task(watching(told)), asyncio.create_task(stop.wait())
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                last = tasks[0].result() if tasks[0].done() else None
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
    if last is None:
        return Exit.INTERRUPTED
    return Exit.OK if last.result is Result.VERIFIED else Exit.FAILED


async def follow(client: TakeoverClient, handoff_id: str, view: View) -> Summary:
    """Tell changes until the end of one handoff, or until its time is up.

    Args:
        client: Asks for them.
        handoff_id: Which; empty: all that wait, and all takeovers, without an end.
        view: Where they are told.

    Returns:
        What held then.

    Raises:
        HandoffError: There is no such handoff, or the first look got no answer. Later ones are made again.
    """
    known: dict[str, Summary] = {}
    async for found in _looks(client, handoff_id, known, view):
        for summary in found:
            before = known.get(summary.handoff_id)
            known[summary.handoff_id] = summary
            if before is None or _key(before) != _key(summary):
                view.change(summary)
            if summary.state.ended:
                del known[summary.handoff_id]
            if handoff_id and (summary.state.ended or summary.state is HandoffState.EXPIRED):
                return summary
        view.now(list(known.values()), "")
    raise AssertionError("looks have no end")


async def _looks(
    client: TakeoverClient, handoff_id: str, known: dict[str, Summary], view: View
) -> AsyncIterator[list[Summary]]:
    taken: dict[str, TakeoverSummary] = {}
    pause = LOOK_SECONDS if handoff_id else LOOK_AT_ALL_SECONDS
    looked = False
    while True:
        try:
            found = [await client.summary(handoff_id)] if handoff_id else await _all(client, known)
            if not handoff_id:
                await _tell_takeovers(client, taken, view)
        except HandoffError as error:
            if not looked or error.code is not ErrorCode.TEMPORAL_UNREACHABLE:
                raise
            view.now(list(known.values()), _NO_ANSWER)
        else:
            looked = True
            yield found
        await asyncio.sleep(pause)


async def _all(client: HandoffClient, known: dict[str, Summary]) -> list[Summary]:
    """What waits, and what has waited and goes on."""
    found = await client.waiting()
    listed = {summary.handoff_id for summary in found}
    for handoff_id in [each for each in known if each not in listed]:
        try:
            found.append(await client.summary(handoff_id))
        except Gone:
            del known[handoff_id]
    return found


async def _tell_takeovers(client: TakeoverClient, known: dict[str, TakeoverSummary], view: View) -> None:
    """Tell what has changed of those that go on, and of those that did at the last look."""
    found = await client.takeovers()
    listed = {summary.takeover_id for summary in found}
    for takeover_id in [each for each in known if each not in listed]:
        try:
            found.append(await client.takeover(takeover_id))
        except Gone:
            del known[takeover_id]
    for summary in found:
        before = known.get(summary.takeover_id)
        known[summary.takeover_id] = summary
        if before is None or (before.state, before.how) != (summary.state, summary.how):
            view.takeover(summary)
        if summary.state.ended:
            del known[summary.takeover_id]


def _key(summary: Summary) -> tuple[object, ...]:
    return summary.state, summary.answer, summary.result
