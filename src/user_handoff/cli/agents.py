"""The command for an agent that starts its tools itself."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Final

import typer

from user_handoff.cli import options
from user_handoff.cli.asking import gateway_url
from user_handoff.cli.temporal import connect
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, make_error

TOKEN_VARIABLE: Final = "HANDOFF_TOKEN"  # noqa: S105  the name of a variable, not a token


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(mcp)


def mcp(state: options.State = None, public_url: options.PublicUrl = None) -> None:
    """Serve one agent by MCP on standard input and output; its key or grant is in HANDOFF_TOKEN."""
    folder = options.state_folder(state)
    token = os.environ.pop(TOKEN_VARIABLE, "")
    if not token:
        raise make_error(
            ErrorCode.UNAUTHORIZED,
            f"{TOKEN_VARIABLE} is not set.",
            holds="Nothing was started.",
            do_next="Set it to a key (handoff keys create) or to a grant of a session.",
        )
    # Input is read in a thread that cannot be cancelled; nothing is held here that would have to be given back.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve(folder, token, gateway_url(folder, public_url)))


async def _serve(folder: Path, token: str, base: str) -> None:
    from user_handoff.gateway.mcp.stdio import serve_stdio

    await serve_stdio(HandoffClient(await connect(folder)), token, base)
