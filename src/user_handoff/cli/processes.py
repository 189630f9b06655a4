"""What `handoff server` and `handoff runner` run until a signal ends them."""

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError
from temporalio.client import Client
from temporalio.service import RPCError

from user_handoff.activities.notifying.notifying import Notifying
from user_handoff.cli.notify import NotifyOptions, notifying
from user_handoff.cli.people import SESSION_VARIABLE, sign_in_settings
from user_handoff.cli.state_files import (
    CODEC_ORIGINS_VARIABLE,
    CODEC_TOKEN_VARIABLE,
    Part,
    codec_origins,
    webhook_secret,
)
from user_handoff.cli.temporal import connect, require_search_attributes
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.ids import runner_workflow_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.runner import RunnerInfo, RunnerView
from user_handoff.desktop.start import DesktopSettings
from user_handoff.gateway.app import create_app
from user_handoff.gateway.serving import listen, serve
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.worker.runner import run_runner
from user_handoff.worker.server import server_worker

log = logging.getLogger(__name__)

PATIENCE = timedelta(seconds=10)
"""A runner that no server worker has taken in for so long says so."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `handoff server` was asked for.

    Attributes:
        state: The state folder: the status file, and the webhook secret where the environment has none.
        host: The address the gateway listens on.
        port: The gateway's port; 0 takes a free one.
        public_url: What people's links begin with; None: the gateway's own address.
        worker: Run the workflows.
        gateway: Serve people's pages and webhooks.
        search_attributes: See to it that the namespace knows our search attributes.
        notify: Whom the worker tells, as far as the command line says.
    """

    state: Path
    host: str
    port: int
    public_url: str | None = None
    worker: bool = True
    gateway: bool = True
    search_attributes: bool = True
    notify: NotifyOptions = field(default_factory=NotifyOptions)

    @property
    def part(self) -> str:
        """The name of its status file: worker and gateway alone are parts of their own."""
        return "server" if self.worker and self.gateway else "worker" if self.worker else "gateway"


async def run_server_part(settings: ServerSettings, stop: asyncio.Event, say: Callable[[str], None]) -> None:
    """Run the server worker, the gateway or both, until `stop` is set.

    Raises:
        HandoffError: It cannot be started.
    """
    part = Part(settings.state, settings.part)
    with part.running():
        gateway = _gateway_settings(settings) if settings.gateway else None
        facts: dict[str, Any] = {}
        base_url = gateway.base_url if gateway else settings.public_url or ""
        tell = notifying(settings.notify, lambda: str(facts.get("gateway_url", base_url))) if settings.worker else None
        client = await connect(settings.state)
        if settings.worker and settings.search_attributes:
            added = await require_search_attributes(client)
            if added:
                say(f"Search attributes added to namespace {client.namespace}: {', '.join(added)}")
        works: list[tuple[str, Work]] = []
        if settings.worker:
            works.append(("worker", lambda ready: _work(client, tell, stop, ready)))
        if gateway is not None:
            works.append(("gateway", lambda ready: _serve(client, gateway, stop, ready, facts)))
        await _together(works, stop, lambda: _server_ready(part, facts, say))


Work = Callable[[asyncio.Event], Awaitable[None]]


async def _together(works: list[tuple[str, Work]], stop: asyncio.Event, on_ready: Callable[[], None]) -> None:
    """Run all until `stop` is set; the end of one ends the others.

    None is cancelled: a worker that is cut off while it starts keeps the process for a minute.
    """
    ready = [asyncio.Event() for _ in works]
    running = [asyncio.create_task(_ends_all(work(event), stop)) for (_, work), event in zip(works, ready, strict=True)]
    try:
        for event in ready:
            await _first(event, stop)
        if not stop.is_set():
            on_ready()
        await stop.wait()
    finally:
        stop.set()
        ends = await asyncio.gather(*running, return_exceptions=True)
    for end in ends:
        if end is not None:
            raise end


async def _ends_all(work: Awaitable[None], stop: asyncio.Event) -> None:
    try:
        await work
    finally:
        stop.set()


async def _first(*events: asyncio.Event) -> None:
    tasks = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _server_ready(part: Part, facts: dict[str, Any], say: Callable[[str], None]) -> None:
    part.ready(**facts)
    say(f"handoff {part.name} is ready{': ' + facts['gateway_url'] if facts else ''}.")


async def _work(client: Client, tell: Notifying | None, stop: asyncio.Event, ready: asyncio.Event) -> None:
    async with server_worker(client, notifying=tell):
        ready.set()
        await stop.wait()


async def _serve(
    client: Client, settings: GatewaySettings, stop: asyncio.Event, ready: asyncio.Event, facts: dict[str, Any]
) -> None:
    # Links begin with the port, so it has to be known before anything is made.
    with listen(settings.host, settings.port) as listener:
        settings = settings.on(listener.getsockname()[1])

        def on_ready(port: int) -> None:
            facts["gateway_url"] = settings.base_url
            ready.set()

        app = create_app(HandoffClient(client), settings)
        await serve(app, settings.host, settings.port, stop, ready=on_ready, listener=listener)


def _gateway_settings(settings: ServerSettings) -> GatewaySettings:
    try:
        return GatewaySettings(
            host=settings.host,
            port=settings.port,
            base_url=settings.public_url or "",
            webhook_secrets=(SecretStr(webhook_secret(settings.state)),),
            codec_origins=codec_origins(),
            codec_token=os.environ.get(CODEC_TOKEN_VARIABLE) or None,
            person_grants=os.environ.get("HANDOFF_PERSON_GRANTS") == "1",
            **_given(requests_per_second="HANDOFF_REQUESTS_PER_SECOND"),
            **sign_in_settings(settings.state),
        )
    except ValidationError as error:
        found = error.errors(include_input=False)
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg'].removeprefix('Value error, ')}" for e in found)
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"The gateway cannot be set up like this: {wrong}.",
            holds="Nothing was started.",
            do_next="Correct --host, --port, --public-url, or the variables HANDOFF_WEBHOOK_SECRET, "
            f"{CODEC_ORIGINS_VARIABLE}, {CODEC_TOKEN_VARIABLE}, {SESSION_VARIABLE}, HANDOFF_OIDC_ISSUER and "
            "HANDOFF_REQUESTS_PER_SECOND.",
        ) from None


def _given(**variables: str) -> dict[str, Any]:
    """The settings that have a variable, as it says."""
    return {name: os.environ[variable] for name, variable in variables.items() if os.environ.get(variable)}


async def run_runner_part(
    state: Path, settings: DesktopSettings, stop: asyncio.Event, say: Callable[[str], None]
) -> None:
    """Serve this machine's desktop until `stop` is set.

    Raises:
        HandoffError: It cannot be started; nothing is left running.
    """
    part = Part(state, "runner")
    with part.running():
        client = await connect(state)
        began = datetime.now(UTC)

        async def on_ready(ready: asyncio.Event) -> None:
            await _first(ready, stop)
            info = await _known(client, settings, stop, began)
            if info is None:
                return
            part.ready(client_id=info.client_id, desktop_id=info.desktop_id, queue=info.queue)
            say(f"handoff runner is ready on queue {info.queue}.")
            if not info.capabilities.browser_user_handoff:
                say(f"Browsers cannot be handed over on this desktop: {info.capabilities.reason}")

        ready = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_ends_all(run_runner(client, settings, stop, ready), stop))
                group.create_task(on_ready(ready))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None


async def _known(client: Client, settings: DesktopSettings, stop: asyncio.Event, began: datetime) -> RunnerInfo | None:
    """What the presence of this runner says, once the server worker has taken it in; None where `stop` came first."""
    told = False
    while not stop.is_set():
        if not told and datetime.now(UTC) - began > PATIENCE:
            log.warning("no server worker has taken in this runner yet: is `handoff server` running?")
            told = True
        client_id = settings.client_id or _client_id(settings.folder)
        with contextlib.suppress(RPCError):
            handle = client.get_workflow_handle(runner_workflow_id(client_id))
            view: RunnerView = await handle.query(
                Workflows.VIEW, result_type=RunnerView, rpc_timeout=timedelta(seconds=2)
            )
            if view.online and view.last_seen >= began:
                return view.info
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), 0.2)
    return None


def _client_id(folder: Path) -> str:
    return str(json.loads((folder / "client.json").read_text())["client_id"])
