"""The worker of the server queue: our workflows, and the activities that need no desktop."""

import asyncio
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import PollerBehaviorAutoscaling, Worker

from user_handoff.activities.notifying.notifying import Notifying, NotifyingActivities
from user_handoff.activities.notifying.settings import NotifySettings
from user_handoff.activities.server import Notifier, ServerActivities
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.names import SERVER_QUEUE
from user_handoff.plugin import with_our_converter, with_our_modules
from user_handoff.worker.nexus import HandoffServiceHandler
from user_handoff.workflows.claims import ClaimWorkflow
from user_handoff.workflows.delivery import DeliveryWorkflow, GoneEndpointWorkflow
from user_handoff.workflows.handoff import HandoffWorkflow
from user_handoff.workflows.inbound import WellFormed
from user_handoff.workflows.keys import KeysWorkflow
from user_handoff.workflows.principal import PrincipalWorkflow
from user_handoff.workflows.requests import InboxWorkflow
from user_handoff.workflows.runner import RunnerWorkflow
from user_handoff.workflows.session import SessionWorkflow
from user_handoff.workflows.takeover import TakeoverWorkflow

WORKFLOWS = (
    HandoffWorkflow,
    TakeoverWorkflow,
    SessionWorkflow,
    PrincipalWorkflow,
    RunnerWorkflow,
    InboxWorkflow,
    KeysWorkflow,
    ClaimWorkflow,
    DeliveryWorkflow,
    GoneEndpointWorkflow,
)


def server_worker(
    client: Client,
    notifier: Notifier | None = None,
    *,
    notifying: Notifying | None = None,
    max_cached_workflows: int = 1000,
) -> Worker:
    """A worker of the server queue, to run with ``async with`` or ``run()``; several may run at once.

    Args:
        client: A connected client; its data converter is taught our models where it is the default one.
        notifier: A way of your own to tell a person that a handoff waits; None: there is none.
        notifying: The configured ways to tell people and programs; None: there are none.
        max_cached_workflows: How many workflows stay in memory between their tasks.
    """
    client = with_our_converter(client)
    notifying = notifying or Notifying(NotifySettings(), lambda: "")
    return Worker(
        client,
        task_queue=SERVER_QUEUE,
        workflows=WORKFLOWS,
        activities=[
            *ServerActivities(client, notifier, notifying.settings).all(),
            *NotifyingActivities(client, notifying).all(),
        ],
        nexus_service_handlers=[HandoffServiceHandler()],
        workflow_runner=with_our_modules(None),
        interceptors=[WellFormed()],
        workflow_failure_exception_types=[HandoffError],
        max_cached_workflows=max_cached_workflows,
        # The default pollers starve a begin when many come at once.
        workflow_task_poller_behavior=PollerBehaviorAutoscaling(),
        activity_task_poller_behavior=PollerBehaviorAutoscaling(),
        # After a worker's death, signals wait this long for it before another worker gets them.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        graceful_shutdown_timeout=timedelta(seconds=5),
    )


async def run_server_worker(
    client: Client,
    *,
    stop: asyncio.Event,
    notifier: Notifier | None = None,
    notifying: Notifying | None = None,
) -> None:
    """Work until told to stop.

    Args:
        client: A connected client.
        stop: Ends the worker, within about five seconds, once it is set.
        notifier: A way of your own to tell a person; None: there is none.
        notifying: The configured ways to tell people and programs; None: there are none.
    """
    async with server_worker(client, notifier, notifying=notifying):
        await stop.wait()
