"""What a shell completes: the ids of handoffs that wait, where a server tells them at once."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.cli.temporal import connect
from user_handoff.contract.names import Workflows

SECONDS: Final = 1.5
"""Nobody waits longer for a key press."""

_MOST: Final = 50


def waiting_ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids that begin so; none where no server answers at once. It says nothing, and never fails."""
    given = ctx.params.get("state")
    folder = options.state_folder(Path(given) if given else None)
    try:
        found = asyncio.run(_listed(folder))
    except Exception:  # a shell is waiting: whatever is wrong, there is nothing to complete
        return []
    return [handoff_id for handoff_id in found if handoff_id.startswith(incomplete)]


async def _listed(folder: Path) -> list[str]:
    async with asyncio.timeout(SECONDS):
        client = await connect(folder)
        query = f"WorkflowType = '{Workflows.HANDOFF}' AND ExecutionStatus = 'Running'"
        return [row.id async for row in client.list_workflows(query, limit=_MOST)]


HandoffId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The handoff's id: handoff/BROWSER/SESSION/MESSAGE.", autocompletion=waiting_ids),
]
