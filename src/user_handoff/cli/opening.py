"""`handoff open`: the person's page of a handoff in the browser of whoever sits here."""

import asyncio
import contextlib
import html
import os
import secrets
import sys
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from user_handoff.cli import options
from user_handoff.cli.asking import gateway_url
from user_handoff.cli.completing import HandoffId
from user_handoff.cli.exits import print_json
from user_handoff.cli.temporal import connect
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.state import private_folder, write_private
from user_handoff.gateway.links import issue_link, token_hash

ENTERED_SECONDS: Final = 20.0
"""How long a browser has to start and to enter by the link."""

_LOOK_SECONDS: Final = 0.2
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")

_PAGE: Final = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Handoff</title>'
    '<meta http-equiv="refresh" content="0; url={link}"><p><a href="{link}">Go on to the page</a></p>'
)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("open")(open_)


def open_(
    handoff_id: HandoffId,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the link alone, and start no browser. Give it to that person only.")
    ] = False,
    public_url: options.PublicUrl = None,
    state: options.State = None,
    as_json: options.Json = False,
) -> None:
    """Open the person's page of a handoff in this machine's browser, by a new link, and see that it was entered."""
    folder, base = options.state_folder(state), gateway_url(state, public_url)
    browser = None if print_ else this_browser(handoff_id)
    link = asyncio.run(_open(folder, base, handoff_id, browser))
    if as_json:
        print_json({"handoff_id": handoff_id, "opened": not print_, **({"link": link} if print_ else {})})
    else:
        typer.echo(link if print_ else "Opened. The page has what is asked, and the buttons to answer.")


async def _open(folder: Path, base: str, handoff_id: str, browser: webbrowser.BaseBrowser | None) -> str:
    client = HandoffClient(await connect(folder))
    link = await issue_link(client, base, handoff_id)
    if browser is not None:
        with _redirecting(folder, link) as address:
            # Some browsers return at once, others when they end; nothing waits for them.
            threading.Thread(target=browser.open, args=(address,), daemon=True).start()
            await _entered(client, handoff_id, token_hash(link.rpartition("/")[2]))
    return link


@contextlib.contextmanager
def _redirecting(folder: Path, link: str) -> Iterator[str]:
    """The address of a private file that leads to the link.

    A browser gets its address on its command line, which every user of the machine can read: never the link itself.
    """
    path = private_folder(folder) / f"open-{secrets.token_hex(8)}.html"
    write_private(path, _PAGE.format(link=html.escape(link)).encode())
    try:
        yield path.as_uri()
    finally:
        path.unlink(missing_ok=True)


async def _entered(client: HandoffClient, handoff_id: str, sha256: str) -> None:
    try:
        async with asyncio.timeout(ENTERED_SECONDS):
            while True:
                opened = await client.opened_link(handoff_id, sha256)
                if opened is not None and opened.link.spent:
                    return
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise make_error(
            ErrorCode.OUTCOME_UNKNOWN,
            f"A browser was started, and nobody entered the page within {ENTERED_SECONDS:.0f} s.",
            holds="The handoff goes on; the link can be entered for a few minutes, where the browser shows it.",
            do_next=f"Look at the browser and at the gateway, or run `handoff link {handoff_id}` for another link.",
            handoff_id=handoff_id,
        ) from None


def this_browser(handoff_id: str) -> webbrowser.BaseBrowser:
    """The default browser of whoever sits here.

    Raises:
        SetupError: ``program_missing``: there is none, or no display to show it on.
    """
    if sys.platform != "linux" or any(os.environ.get(name) for name in _DISPLAYS):
        with contextlib.suppress(webbrowser.Error):
            return webbrowser.get()
        raise _no_browser("No browser was found on this machine.", handoff_id)
    raise _no_browser("There is no display here on which a browser could be seen.", handoff_id)


def _no_browser(what: str, handoff_id: str) -> HandoffError:
    return make_error(
        ErrorCode.PROGRAM_MISSING,
        what,
        holds="Nothing was opened, and no link was made.",
        do_next=f"Run `handoff link {handoff_id}` and open the link elsewhere, or name a browser in BROWSER.",
        handoff_id=handoff_id,
    )
