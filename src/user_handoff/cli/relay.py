"""`handoff relay`: the desktop's gate before another server of the Model Context Protocol."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from user_handoff.cli import options
from user_handoff.cli.signals import until_signalled
from user_handoff.contract.redact import log_to

if TYPE_CHECKING:
    from user_handoff.relay.http import HttpRelay

Client = Annotated[
    str,
    typer.Option("--client", metavar="ID", help="The machine whose desktop it is, as `handoff relay` is to find it."),
]
Browser = Annotated[
    str | None,
    typer.Option("--browser", metavar="ID", help="The one browser that the server drives. Default: the whole desktop."),
]
Tools = Annotated[
    str | None,
    typer.Option("--tools", metavar="FILE", help="Which tools act: a file, or playwright-mcp or chrome-devtools-mcp."),
]


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(context_settings={"allow_interspersed_args": False})(relay)


def relay(
    client: Client,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="Starts the server, behind a --.")
    ] = None,
    browser: Browser = None,
    state: options.State = None,
    tools: Tools = None,
    cut_off: Annotated[
        bool, typer.Option("--cut-off", help="End the server where a call of it keeps a person waiting for control.")
    ] = False,
    url: Annotated[str | None, typer.Option("--url", help="A server that is reached by streamable HTTP.")] = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen for it; port 0 takes a free one.")
    ] = "127.0.0.1:0",
) -> None:
    """Put the desktop's gate before an MCP server: started by a command, or reached by --url.

    While a person has control, calls are answered busy (-32050) at once, and never reach the server.
    """
    from user_handoff.desktop.desk import Desk
    from user_handoff.relay.tools import Judge, read_list

    if (command is None) == (url is None):
        raise typer.BadParameter("give either a command behind a --, or --url")
    if cut_off and url is not None:
        raise typer.BadParameter("--cut-off is for a server that the relay has started")
    desk = Desk(state and options.state_folder(state), client)
    judge = Judge(None if tools is None else read_list(tools))
    if command is not None:
        from user_handoff.relay.stdio import StdioRelay

        between = StdioRelay(desk, judge, browser, command, cut_off=cut_off)
        log_to()
        raise typer.Exit(between.run())
    from user_handoff.relay.http import HttpRelay

    before = HttpRelay(desk, judge, browser, str(url))
    log_to()
    asyncio.run(_serve(before, listen))


async def _serve(relay: "HttpRelay", listen: str) -> None:
    from user_handoff.relay.http import serve_http

    async with until_signalled() as stop:
        await serve_http(relay, listen, stop, lambda line: typer.echo(line, err=True))
