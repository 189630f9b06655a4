"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from user_handoff.desktop.state import STATE_VARIABLE, default_state_folder

State = Annotated[
    Path | None,
    typer.Option("--state", help=f"The state folder. Default: {STATE_VARIABLE}, else the user's own state folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Virtual = Annotated[
    bool, typer.Option("--virtual", help="Use a private virtual display. The default where there is no display.")
]
DisplayName = Annotated[
    str | None, typer.Option("--display", help="Use this X display, such as :0, with the cookie of XAUTHORITY.")
]
NoSandbox = Annotated[
    bool, typer.Option("--no-sandbox", help="Start Chromium without its sandbox. Root cannot start it otherwise.")
]
AllowLaunch = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-launch",
        envvar="HANDOFF_LAUNCH",
        metavar="PROGRAM",
        help="A program, by name or absolute path, that an agent may launch on the desktop. None by default.",
    ),
]
Policy = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        envvar="HANDOFF_POLICY",
        metavar="FILE",
        help="The policy file: where agents stop, beside the built-in stop list or in its place.",
    ),
]
ClientId = Annotated[str | None, typer.Option("--client-id", help="The lasting name of this desktop machine.")]
GatewayHost = Annotated[
    str, typer.Option("--host", envvar="HANDOFF_GATEWAY_HOST", help="The address that the gateway listens on.")
]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        "--public-url",
        envvar="HANDOFF_PUBLIC_URL",
        help="What people's links begin with, such as https://handoff.example.",
    ),
]
Notify = Annotated[
    list[str] | None,
    typer.Option(
        "--notify",
        metavar="console|none",
        help="Whom to tell that a person is needed. Addresses go into HANDOFF_NOTIFY: others read command lines.",
    ),
]
NotifyLink = Annotated[
    list[str] | None,
    typer.Option("--notify-link", metavar="NAME", help="The channel, by its name, that gets a link to the page."),
]
Remind = Annotated[
    list[float] | None,
    typer.Option(
        "--remind",
        metavar="SECONDS",
        help="Tell the person again so long after they were asked; negative (--remind=-60): before the time is up.",
    ),
]
ConsoleFd = Annotated[int | None, typer.Option("--console-fd", hidden=True)]


def state_folder(given: Path | None) -> Path:
    """The state folder that was given, else the default one, as an absolute path."""
    return (given or default_state_folder()).expanduser().absolute()
