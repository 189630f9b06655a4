"""The commands of an operator for browsers, on whichever desktop they are: list and close."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from user_handoff.cli import options, tables
from user_handoff.cli.asking import ask
from user_handoff.cli.completing import browser_ids
from user_handoff.cli.exits import plain, print_json
from user_handoff.client.browsers import BrowserClient
from user_handoff.contract.browser import BrowserInfo

T = TypeVar("T")

HEADS = ("browser", "state", "idle left", "owner", "session", "desktop")

browsers = typer.Typer(
    name="browsers",
    help="List and close the browsers of all desktops that are online. Whoever reaches Temporal may.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.add_typer(browsers)


@browsers.command("list")
def list_(state: options.State = None, as_json: options.Json = False) -> None:
    """List the browsers of all desktops, and who has them. One that was just opened comes after about two seconds."""
    found = _ask(state, lambda client: client.open_browsers())
    if as_json:
        print_json([info.model_dump(mode="json", exclude={"pages"}) for info in found])
    elif not found:
        typer.echo("No desktop that is online has a browser.")
    else:
        typer.echo("\n".join(tables.columns([HEADS, *map(_row, found)])))


@browsers.command()
def close(
    browser: Annotated[str, typer.Argument(metavar="BROWSER", help="The browser's id.", autocompletion=browser_ids)],
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Close a browser whose agent is gone, so that its desktop has room for another.

    It is refused while a handoff or a takeover has the browser: `handoff close ID` ends a handoff with its browser.
    """
    _ask(state, lambda client: client.close_unless_held(browser))
    if as_json:
        print_json({"browser_id": browser, "closed": True})
    else:
        typer.echo(f"Closed: {browser}. Its agent, if it comes back, is told `browser_gone`.")


def _row(info: BrowserInfo) -> tuple[str, ...]:
    state = f"{info.state} by {info.held_by.id}" if info.held_by else info.state
    left = tables.minutes(int(info.idle_seconds_left))
    return info.browser_id, state, left, plain(info.owner), info.session_id, info.client_id


def _ask(state: Path | None, call: Callable[[BrowserClient], Awaitable[T]]) -> T:
    return ask(state, lambda client: call(BrowserClient(client.temporal)))
