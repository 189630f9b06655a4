"""The `handoff` command."""

import asyncio
import io
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from user_handoff.cli import (
    agents,
    browsers,
    cdp,
    evidence,
    handoffs,
    hotkey,
    keys,
    opening,
    options,
    permit,
    relay,
    takeover,
    watching,
)
from user_handoff.cli.exits import Exit, exit_code, leave, show_error, show_unexpected
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.redact import log_to

app = typer.Typer(
    name="handoff",
    help="Hand a live browser from an AI agent to a person, and take it back. Exit codes: 0 done, 1 failed, "
    "2 wrong usage, 3 refused and nothing done, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Main = Callable[[asyncio.Event], Awaitable[None]]


def run() -> NoReturn:
    """Run the command line, and end the process with an exit code; an error is told in sentences."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # whatever the terminal cannot show
    leave(_run())


def _run() -> int:
    try:
        app(prog_name="handoff")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else Exit.FAILED
    except HandoffError as error:
        show_error(error, as_json="--json" in sys.argv)
        return exit_code(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        if os.environ.get("HANDOFF_TRACEBACK"):
            raise
        show_unexpected(error)
        return Exit.FAILED
    return Exit.OK


def _say(line: str) -> None:
    typer.echo(line)


def _log() -> None:
    log_to()


def _until_signalled(main: Main) -> None:
    from user_handoff.cli.signals import until_signalled

    async def body() -> None:
        async with until_signalled() as stop:
            await main(stop)

    asyncio.run(body())


def _virtual(virtual: bool, display: str | None) -> bool | None:
    """True or False where it was chosen; None leaves the choice to the desktop."""
    if virtual and display:
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            "--virtual and --display exclude each other.",
            holds="Nothing was started.",
            do_next="Give one of them.",
        )
    return True if virtual else False if display else None


@app.command()
def up(
    state: options.State = None,
    virtual: options.Virtual = False,
    display: options.DisplayName = None,
    port: Annotated[int, typer.Option(help="The embedded Temporal's port.")] = 7233,
    ui_port: Annotated[int, typer.Option(help="The port of its web UI.")] = 8233,
    gateway_port: Annotated[int, typer.Option(help="The gateway's port.")] = 8700,
    host: options.GatewayHost = "127.0.0.1",
    public_url: options.PublicUrl = None,
    client_id: options.ClientId = None,
    no_sandbox: options.NoSandbox = False,
    notify: options.Notify = None,
    notify_link: options.NotifyLink = None,
    remind: options.Remind = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Write addresses and process ids here too (JSON, 0600) when all is ready.")
    ] = None,
) -> None:
    """Start everything on this machine: Temporal and its web UI, the server, the gateway and a runner.

    With an address configured (TEMPORAL_ADDRESS, TEMPORAL_PROFILE or Temporal's configuration file) that server is
    used, and none is started.
    """
    from user_handoff.cli.notify import NotifyOptions
    from user_handoff.cli.up import UpSettings, run_up

    settings = UpSettings(
        state=options.state_folder(state),
        port=port,
        ui_port=ui_port,
        gateway_host=host,
        gateway_port=gateway_port,
        public_url=public_url,
        virtual=_virtual(virtual, display),
        display=display,
        client_id=client_id,
        sandbox=not no_sandbox,
        ready_file=None if ready_file is None else ready_file.absolute(),
        notify=NotifyOptions(tuple(notify or ()), tuple(notify_link or ()), tuple(remind or ())),
    )
    _until_signalled(lambda stop: run_up(settings, stop, _say))


@app.command()
def server(
    state: options.State = None,
    host: options.GatewayHost = "127.0.0.1",
    port: Annotated[
        int, typer.Option(envvar="HANDOFF_GATEWAY_PORT", help="The gateway's port; 0 takes a free one.")
    ] = 8700,
    public_url: options.PublicUrl = None,
    worker: Annotated[bool, typer.Option(help="Run the workflows.")] = True,
    gateway: Annotated[bool, typer.Option(help="Serve people's pages and webhooks.")] = True,
    search_attribute_check: Annotated[
        bool, typer.Option(help="See to it that the namespace knows our search attributes.")
    ] = True,
    notify: options.Notify = None,
    notify_link: options.NotifyLink = None,
    remind: options.Remind = None,
    console_fd: options.ConsoleFd = None,
) -> None:
    """Run the workflows and the gateway against a Temporal server."""
    from user_handoff.cli.notify import NotifyOptions
    from user_handoff.cli.processes import ServerSettings, run_server_part

    if not (worker or gateway):
        raise typer.BadParameter("--no-worker and --no-gateway together leave nothing to run")
    _log()
    settings = ServerSettings(
        options.state_folder(state),
        host,
        port,
        public_url,
        worker,
        gateway,
        search_attribute_check,
        NotifyOptions(tuple(notify or ()), tuple(notify_link or ()), tuple(remind or ()), console_fd),
    )
    _until_signalled(lambda stop: run_server_part(settings, stop, _say))


@app.command()
def runner(
    state: options.State = None,
    virtual: options.Virtual = False,
    display: options.DisplayName = None,
    client_id: options.ClientId = None,
    no_sandbox: options.NoSandbox = False,
    allow_launch: options.AllowLaunch = None,
    policy: options.Policy = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="At the end leave display, browsers and holds for the next runner.")
    ] = False,
) -> None:
    """Serve this machine's desktop: its browsers, and what a person does in them."""
    from user_handoff.cli.processes import run_runner_part
    from user_handoff.cli.state_files import DESKTOP
    from user_handoff.desktop.start import DesktopSettings
    from user_handoff.desktop.view.settings import ViewSettings

    _log()
    folder = options.state_folder(state)
    settings = DesktopSettings(
        folder=folder / DESKTOP,
        client_id=client_id,
        display=display,
        virtual=_virtual(virtual, display),
        sandbox=not no_sandbox,
        launch=tuple(allow_launch or ()),
        keep_on_stop=keep,
        view=ViewSettings.of(),
        policy=None if policy is None else policy.expanduser().absolute(),
    )
    _until_signalled(lambda stop: run_runner_part(folder, settings, stop, _say))


@app.command()
def doctor(
    state: options.State = None,
    virtual: options.Virtual = False,
    display: options.DisplayName = None,
    port: Annotated[int, typer.Option(help="The embedded Temporal's port.")] = 7233,
    ui_port: Annotated[int, typer.Option(help="The port of its web UI.")] = 8233,
    gateway_port: Annotated[int, typer.Option(help="The gateway's port.")] = 8700,
    no_sandbox: options.NoSandbox = False,
    as_json: options.Json = False,
) -> None:
    """Check everything that could stop `handoff up`, and say how to mend it. Takes the same options."""
    from user_handoff.cli import doctor as checkup
    from user_handoff.cli.findings import show

    settings = checkup.DoctorSettings(
        state=options.state_folder(state),
        virtual=_virtual(virtual, display),
        display=display,
        sandbox=not no_sandbox,
        ports=checkup.ports(port, ui_port, gateway_port),
    )
    raise typer.Exit(show(asyncio.run(checkup.examine(settings)), as_json=as_json))


@app.command()
def status(state: options.State = None, as_json: options.Json = False) -> None:
    """Show what this machine's desktop holds: its display, browsers, holds and effects in flight."""
    from user_handoff.cli import status as desk

    found = desk.read_status(options.state_folder(state))
    typer.echo(desk.as_json(found) if as_json else "\n".join(desk.lines(found)))


@app.command()
def health(
    part: Annotated[
        Literal["server", "worker", "gateway", "runner"],
        typer.Argument(help="Which: server is worker and gateway in one process."),
    ],
    state: options.State = None,
) -> None:
    """Exit with 0 where a part on this state folder is ready, else with 1. For health checks."""
    from user_handoff.cli.state_files import Part

    status = Part(options.state_folder(state), part).status()
    typer.echo(f"{part}: {status['status']}")
    raise typer.Exit(Exit.OK if status["status"] == "ready" else Exit.FAILED)


handoffs.register(app)
watching.register(app)
takeover.register(app)
hotkey.register(app)
opening.register(app)
agents.register(app)
keys.register(app)
browsers.register(app)
cdp.register(app)
evidence.register(app)
relay.register(app)
permit.register(app)

if __name__ == "__main__":
    run()
