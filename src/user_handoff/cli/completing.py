"""What a shell completes: the ids of handoffs that wait and of browsers, where a server tells them at once."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Final

import typer
from temporalio.client import Client

from user_handoff.cli import options
from user_handoff.cli.temporal import connect
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.names import Workflows

SECONDS: Final = 1.5
"""Nobody waits longer for a key press."""

_MOST: Final = 50


def waiting_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of handoffs that begin so; none where no server answers at once. It says nothing, and never fails."""
    return _ids(ctx, incomplete, _handoffs)


def browser_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of browsers, likewise."""
    return _ids(ctx, incomplete, _browsers)


def _ids(ctx: typer.Context, incomplete: str, listed: Callable[[Client], Awaitable[list[str]]]) -> list[str]:
    given = ctx.params.get("state")
    folder = options.state_folder(Path(given) if given else None)

    async def found() -> list[str]:
        async with asyncio.timeout(SECONDS):
            return await listed(await connect(folder))

    try:
        return [each for each in asyncio.run(found()) if each.startswith(incomplete)]
    except Exception:  # a shell is waiting: whatever is wrong, there is nothing to complete
        return []


async def _handoffs(client: Client) -> list[str]:
    query = f"WorkflowType = '{Workflows.HANDOFF}' AND ExecutionStatus = 'Running'"
    return [row.id async for row in client.list_workflows(query, limit=_MOST)]


async def _browsers(client: Client) -> list[str]:
    return [each for desktop in await DesktopClient(client).desktops() for each in desktop.browsers][:_MOST]


HandoffId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The handoff's id: handoff/BROWSER/SESSION/MESSAGE.", autocompletion=waiting_ids),
]
