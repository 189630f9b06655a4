"""`handoff cdp-url`: a door by which another program drives a browser by CDP, behind its gate."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from user_handoff.cli import options
from user_handoff.cli.asking import ask
from user_handoff.cli.exits import plain, print_json
from user_handoff.client.doors import DoorClient
from user_handoff.contract.doors import DoorOpened, DoorView

T = TypeVar("T")

_UNITS = {"s": 1, "m": 60, "h": 3_600}


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("cdp-url")(cdp_url)


def cdp_url(
    browser: Annotated[str, typer.Argument(metavar="BROWSER", help="The browser's id.")],
    grant: Annotated[
        str | None,
        typer.Option(
            "--grant",
            metavar="ID",
            help="The grant of the browser's session by which the program gets in: the session needs the scope "
            "browser:cdp, and the door closes with the grant's time. Default: you let it in.",
        ),
    ] = None,
    tcp: Annotated[
        bool, typer.Option("--tcp", help="Open a loopback port too, for programs that know no Unix sockets.")
    ] = False,
    expires: Annotated[str, typer.Option("--expires", metavar="TIME", help="Such as 90s, 15m or 8h.")] = "15m",
    name: Annotated[str, typer.Option("--name", metavar="WHO", help="Who it is for, as --list shows it.")] = "",
    list_: Annotated[bool, typer.Option("--list", help="List the doors that are open, and open none.")] = False,
    revoke: Annotated[
        str | None,
        typer.Option("--revoke", metavar="DOOR", help="Close this door now, and cut off who came by it."),
    ] = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Print an address at which a program drives a browser by CDP, once: it lets in whoever has it.

    The program is refused while a person has the browser, and sees nothing of what they do.
    """
    if list_ or revoke is not None:
        found = _ask(state, lambda client: client.close_door(browser, revoke) if revoke else client.doors(browser))
        _list(found.doors, as_json)
        return
    seconds = seconds_of(expires)
    token, opened = _ask(
        state,
        lambda client: client.open_door(browser, name=name, tcp=tcp, expires_in_seconds=seconds, grant_id=grant),
    )
    addresses = addresses_of(opened, token)
    if as_json:
        print_json({**opened.model_dump(mode="json"), **addresses})
        return
    typer.echo(addresses["websocket" if tcp else "unix"])
    if tcp:
        typer.echo(addresses["http"])
    typer.echo(
        f"Door {opened.door_id} closes at {opened.expires_at:%H:%M:%S} UTC. Files for pages: {opened.uploads}", err=True
    )


def addresses_of(opened: DoorOpened, token: str) -> dict[str, str]:
    """What clients take: `unix` for Playwright, `websocket` and `http` for others where there is a port."""
    found = {"unix": f"ws+unix://{opened.socket}:/agent/{token}"}
    if opened.port is not None:
        found["http"] = f"http://127.0.0.1:{opened.port}/{token}"
        found["websocket"] = f"ws://127.0.0.1:{opened.port}/{token}/devtools/browser/{opened.browser_id}"
    return found


def seconds_of(text: str) -> float:
    """Read a time such as ``15m``.

    Raises:
        BadParameter: It is none.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no time such as 90s, 15m or 8h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _list(doors: tuple[DoorView, ...], as_json: bool) -> None:
    if as_json:
        print_json([door.model_dump(mode="json") for door in doors])
    elif not doors:
        typer.echo("No door is open.")
    for door in () if as_json else doors:
        where = "port and socket" if door.tcp else "socket"
        until = f"{door.expires_at:%H:%M:%S} UTC"
        grant = f"  grant {door.grant_id}" if door.grant_id else ""
        typer.echo(
            f"{door.door_id}  {plain(door.name) or '-'}  {where}  until {until}  {door.connected} connected{grant}"
        )


def _ask(state: Path | None, call: Callable[[DoorClient], Awaitable[T]]) -> T:
    return ask(state, lambda client: call(DoorClient(client.temporal)))
