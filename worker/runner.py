"""The desktop runner: one desktop, and the workers that poll its queues."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError
from temporalio.worker import PollerBehaviorAutoscaling, Worker

from user_handoff.activities.desktop import DesktopActivities
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.ids import runner_workflow_id
from user_handoff.contract.names import DESKTOPS_QUEUE, SERVER_QUEUE, Workflows
from user_handoff.contract.runner import Capabilities, RunnerInfo, RunnerView
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.start import DesktopSettings, running_desktop
from user_handoff.worker.doors import watch_grants

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 30.0
_LOOK_SECONDS = 1.0
"""How often it is looked whether other browsers live here: who wants to take one over picks from what was told."""


async def run_runner(client: Client, settings: DesktopSettings, stop: asyncio.Event, ready: asyncio.Event) -> None:
    """Serve a desktop until told to stop; then close its browsers, revoking their holds, and its virtual display.

    Args:
        client: Connected to the Temporal namespace.
        settings: Which desktop, and how.
        stop: Set to end.
        ready: Set by this function once the desktop's queue is polled.

    Raises:
        SetupError: The desktop cannot be started here, or its display has ended (`no_display`); nothing is left.
    """
    async with contextlib.AsyncExitStack() as stack:
        # The workers outlive the desktop by a moment, so that a guard can still say how its hold ended.
        workers = await stack.enter_async_context(_Workers.around(client))
        desktop = await stack.enter_async_context(running_desktop(settings))
        await workers.serve(desktop)
        presence = asyncio.create_task(_presence(client, desktop, settings))
        stack.callback(presence.cancel)
        grants = asyncio.create_task(watch_grants(client, desktop))
        stack.callback(grants.cancel)
        log.info("desktop %s is ready on queue %s", desktop.identity.desktop_id, desktop.identity.queue)
        ready.set()
        await _either(stop, desktop.lost)
        lost = desktop.lost.is_set()
    if lost:
        raise SetupError(
            ErrorCode.NO_DISPLAY,
            "The display of this desktop has ended, and its browsers with it.",
            holds="Their holds were revoked.",
            do_next="Start the runner again: it starts or finds a display, as a new desktop.",
        )


async def _either(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


class _Workers:
    """The two workers of a desktop."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stack = contextlib.AsyncExitStack()

    @classmethod
    @contextlib.asynccontextmanager
    async def around(cls, client: Client) -> AsyncIterator["_Workers"]:
        workers = cls(client)
        async with workers._stack:
            yield workers

    async def serve(self, desktop: Desktop) -> None:
        activities = DesktopActivities(desktop)
        for queue, functions in (
            (desktop.identity.queue, activities.on_own_queue()),
            (DESKTOPS_QUEUE, activities.on_shared_queue()),
        ):
            worker = Worker(
                self._client,
                task_queue=queue,
                activities=functions,
                activity_task_poller_behavior=PollerBehaviorAutoscaling(),
                graceful_shutdown_timeout=timedelta(seconds=2),
            )
            await self._stack.enter_async_context(worker)


async def beat(client: Client, info: RunnerInfo) -> WorkflowHandle[Any, RunnerView]:
    """Say what a runner is and has: its presence begins with the first time, and is renewed by each that follows.

    Raises:
        RPCError: It could not be told.
    """
    return await client.start_workflow(
        Workflows.RUNNER,
        info,
        id=runner_workflow_id(info.client_id),
        task_queue=SERVER_QUEUE,
        result_type=RunnerView,
        start_signal=Workflows.HEARTBEAT,
        start_signal_args=[info],
    )


async def _presence(client: Client, desktop: Desktop, settings: DesktopSettings) -> None:
    while True:
        told = desktop.browsers.ids
        try:
            info = runner_info(desktop, virtual=settings.virtual is not False)
            await beat(client, info)
        except RPCError as error:
            log.warning("the presence of this desktop could not be told: %s", error.status.name)
        await _until_due(desktop, told)


async def _until_due(desktop: Desktop, told: tuple[str, ...]) -> None:
    """Wait for the next beat, or until other browsers live here than was told."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            while desktop.browsers.ids == told:  # noqa: ASYNC110  (one look each second, whoever opens or closes)
                await asyncio.sleep(_LOOK_SECONDS)


def runner_info(desktop: Desktop, *, virtual: bool) -> RunnerInfo:
    """What a runner says of itself."""
    exact, reason = desktop.capability
    return RunnerInfo(
        client_id=desktop.identity.client_id,
        desktop_id=desktop.identity.desktop_id,
        queue=desktop.identity.queue,
        version=version("user-handoff"),
        capabilities=Capabilities(
            browser_user_handoff=exact, surface_backend="x11" if exact else "none", virtual=virtual, reason=reason
        ),
        browsers=desktop.browsers.ids,
        view_address=desktop.view.address,
    )
