"""`handoff up`: everything on one machine, started in order, kept running, ended in order."""

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from user_handoff.cli.checks import require
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.notify import CHANNELS, CONSOLE, NotifyOptions, without_ours
from user_handoff.cli.parts import Command, Kept, Say, keep
from user_handoff.cli.ports import LOOPBACK, require_free
from user_handoff.cli.state_files import codec_origins, webhook_secret
from user_handoff.cli.temporal import UP_FILE, configured, embedded_environment, running_up
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.state import exclusive, private_folder, write_private
from user_handoff.desktop.states.sealing import KEYS_VARIABLE

RUNNER_SECONDS = 45.0
"""How long the runner has to close its browsers, revoke their holds and end its display."""


@dataclass(frozen=True, slots=True)
class UpSettings:
    """What `handoff up` was asked for.

    Attributes:
        state: The state folder.
        port: Where the embedded Temporal listens.
        ui_port: Where its web UI listens.
        gateway_host: The address the gateway listens on.
        gateway_port: The gateway's port.
        public_url: What people's links begin with; None: the gateway's own address.
        virtual: A private virtual display; None: where the environment has no display.
        display: The X display to use; None: the one of the environment.
        client_id: The lasting name of this desktop machine.
        sandbox: Chromium's own sandbox.
        ready_file: Where else to write what `up.json` says.
        notify: Whom to tell that a person is needed; the console where nothing says otherwise.
    """

    state: Path
    port: int = 7233
    ui_port: int = 8233
    gateway_host: str = "127.0.0.1"
    gateway_port: int = 8700
    public_url: str | None = None
    virtual: bool | None = None
    display: str | None = None
    client_id: str | None = None
    sandbox: bool = True
    ready_file: Path | None = None
    notify: NotifyOptions = field(default_factory=NotifyOptions)

    def server_arguments(self) -> list[str]:
        """The arguments of `handoff server`."""
        found = ["--host", self.gateway_host, "--port", str(self.gateway_port)]
        quiet = not self.notify.channels and CHANNELS not in os.environ
        notify = replace(self.notify, channels=(CONSOLE,)) if quiet else self.notify
        found += notify.arguments()
        return [*found, "--public-url", self.public_url] if self.public_url else found

    def runner_arguments(self) -> list[str]:
        """The arguments of `handoff runner`."""
        found = ["--virtual"] if self.virtual else []
        found += ["--display", self.display] if self.display else []
        found += ["--client-id", self.client_id] if self.client_id else []
        return found if self.sandbox else [*found, "--no-sandbox"]


async def run_up(settings: UpSettings, stop: asyncio.Event, say: Say) -> None:
    """Start everything, keep it running until `stop` is set, and end it: the runner, the server, then Temporal.

    Args:
        settings: What was asked for.
        stop: Set it to end.
        say: Called with each line for the console.

    Raises:
        HandoffError: Something cannot be started here; what was started was ended again.
    """
    state = private_folder(settings.state)
    with exclusive(state / "up.lock", _already_running(state)):
        _preflight(settings)
        webhook_secret(state)
        async with contextlib.AsyncExitStack() as stack:
            starting = _start(settings, stack, say)
            parts = await _unless(stop, starting)
            if parts is None:
                return
            stack.callback((state / UP_FILE).unlink, missing_ok=True)
            record = _Record(settings, parts)
            record.write()
            _announce(record.content(), say)
            keeping = [asyncio.create_task(keep(part, record.and_say(say))) for part in parts]
            try:
                await _unless(stop, _first_end(keeping))
            finally:
                for task in keeping:
                    task.cancel()
                await asyncio.gather(*keeping, return_exceptions=True)
                say("Ending: the runner first, Temporal last.")
    say("Ended.")


def _preflight(settings: UpSettings) -> None:
    """Refuse before anything is started; each part checks again by itself."""
    require(settings.state, virtual=settings.virtual, display=settings.display, sandbox=settings.sandbox)
    require_free(settings.gateway_port, "the gateway", "--gateway-port", settings.gateway_host)


async def _start(settings: UpSettings, stack: contextlib.AsyncExitStack, say: Say) -> list[Kept]:
    parts: list[Kept] = []
    config = configured()
    if config is None:
        codec = f"http://{LOOPBACK}:{settings.gateway_port}/codec" if codec_origins() else None
        engine = EmbeddedTemporal(settings.state, port=settings.port, ui_port=settings.ui_port, codec_endpoint=codec)
        env: dict[str, str] | None = embedded_environment(engine.address)
        parts.append(engine)
    else:
        say(f"Temporal     {config['target_host']} (as configured)")
        env = None
    console = os.dup(1)  # its own standard output is a log
    stack.callback(os.close, console)
    arguments = [*settings.server_arguments(), "--console-fd", str(console)]
    # what encrypts saved states is the runner's alone
    server_env = {name: value for name, value in (os.environ if env is None else env).items() if name != KEYS_VARIABLE}
    parts.append(Command("server", arguments, state=settings.state, env=server_env, fds=(console,)))
    runner_env = without_ours(os.environ if env is None else env)
    runner = Command("runner", settings.runner_arguments(), state=settings.state, env=runner_env, grace=RUNNER_SECONDS)
    parts.append(runner)
    for part in parts:
        say(f"Starting {part.name}")
        stack.push_async_callback(part.stop)
        await part.start()
    return parts


class _Record:
    """`up.json`: addresses and process ids, for programs."""

    def __init__(self, settings: UpSettings, parts: list[Kept]) -> None:
        self._settings = settings
        self._parts = parts

    def content(self) -> dict[str, Any]:
        """What is true now."""
        me = ProcessIdentity.current()
        engine = next((p for p in self._parts if isinstance(p, EmbeddedTemporal)), None)
        config = None if engine else configured()
        facts = {p.name: p.facts() for p in self._parts if isinstance(p, Command)}
        return {
            "pid": me.pid,
            "started": me.started,
            "state": str(self._settings.state),
            "address": engine.address if engine else (config or {}).get("target_host"),
            "namespace": "default" if engine else (config or {}).get("namespace", "default"),
            "ui_url": engine.ui_url if engine else None,
            "gateway_url": facts.get("server", {}).get("gateway_url"),
            **facts.get("runner", {}),
            "processes": {p.name.lower(): p.pid for p in self._parts},
        }

    def write(self) -> None:
        """Write it, readable for this user alone."""
        content = json.dumps(self.content(), indent=2).encode()
        write_private(self._settings.state / UP_FILE, content)
        if self._settings.ready_file is not None:
            write_private(self._settings.ready_file, content)

    def and_say(self, say: Say) -> Say:
        """A `say` that also writes down the process ids, which have just changed."""

        def both(line: str) -> None:
            self.write()
            say(line)

        return both


def _announce(content: dict[str, Any], say: Callable[[str], None]) -> None:
    say(f"Temporal UI  {content['ui_url'] or 'that of your cluster'}")
    say(f"Gateway      {content['gateway_url']}")
    say(f"Queue        {content.get('queue', 'unknown')}")
    say(f"State        {content['state']}")
    say("Ready. Ctrl-C ends everything.")


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, Any]) -> Any:
    """What the work returns; None where `stop` came first, with the work cancelled and undone."""
    task, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        for pending in (task, stopping):
            pending.cancel()
        await asyncio.gather(task, stopping, return_exceptions=True)


async def _first_end(tasks: list[asyncio.Task[None]]) -> None:
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


def _already_running(state: Path) -> SetupError:
    up = running_up(state) or {}
    where = "; ".join(f"{label} {up[key]}" for label, key in _SHOWN if up.get(key))
    return SetupError(
        ErrorCode.ALREADY_RUNNING,
        f"`handoff up` runs already on the state folder {state}{f' ({where})' if where else ''}.",
        holds="The running one was left alone; nothing was started.",
        do_next="Use it, end it with Ctrl-C or SIGTERM, or name another state folder with --state.",
        pid=up.get("pid"),
    )


_SHOWN = (("process", "pid"), ("Temporal UI", "ui_url"), ("gateway", "gateway_url"))
