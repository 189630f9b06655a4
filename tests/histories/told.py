"""The scenes of handoffs of which people and programs are told: with a server of their own, that tells them."""

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio.client import Client, WorkflowHandle

from tests.receiver import SECRET, Receiver, receiving
from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoff, Handoffs
from user_handoff.activities.notifying.notifying import Notifying
from user_handoff.activities.notifying.settings import NotifySettings
from user_handoff.contract.ids import delivery_workflow_id, gone_endpoint_id
from user_handoff.contract.names import Workflows
from user_handoff.worker.server import server_worker

Handle = WorkflowHandle[Any, Any]
Play = Callable[[Handoffs, Receiver, NotifySettings], Awaitable[Handle]]


async def _told(h: Handoffs, receiver: Receiver, settings: NotifySettings) -> Handle:
    """By three channels, of which one fails; reminded once, and answered before the next."""
    handoff, _ = await h.begin()
    await _until_told(handoff, 5)
    await h.finished(handoff)
    return handoff.handle


async def _told_refused(h: Handoffs, receiver: Receiver, settings: NotifySettings) -> Handle:
    handoff = await h.start(owner="agent:other")
    await handoff.outcome()
    return handoff.handle


async def _delivery(h: Handoffs, receiver: Receiver, settings: NotifySettings) -> Handle:
    receiver.answers = [500, 500]
    handoff, _ = await h.begin(timeout_seconds=1)
    await h.finished(handoff)
    delivery: Handle = h.client.get_workflow_handle(delivery_workflow_id(handoff.id))
    await delivery.result()
    return delivery


async def _gone_endpoint(h: Handoffs, receiver: Receiver, settings: NotifySettings) -> Handle:
    receiver.answer = lambda received: 410 if received.path == "/audit" else 204
    handoff, _ = await h.begin()
    await handoff.close()
    await h.client.get_workflow_handle(delivery_workflow_id(handoff.id)).result()
    gone: Handle = h.client.get_workflow_handle(gone_endpoint_id(settings.endpoints[0].key))
    await gone.signal(Workflows.ENABLE)
    await gone.result()
    return gone


SCENES: dict[str, Play] = {
    "told": _told,
    "told_refused": _told_refused,
    "delivery": _delivery,
    "gone_endpoint": _gone_endpoint,
}


async def play(client: Client, name: str, max_cached_workflows: int) -> Handle:
    """Play one scene, and return the handle of the workflow whose history is meant."""
    desktop = FakeDesktop()
    async with receiving() as receiver:
        settings = _settings(receiver)
        notifying = Notifying(settings, lambda: "https://handoff.example", say=lambda _: None, schedule=(0.1,) * 7)
        worker = server_worker(client, notifying=notifying, max_cached_workflows=max_cached_workflows)
        async with worker, desktop.serving(client):
            return await SCENES[name](await Handoffs.open(client, desktop), receiver, settings)


def _settings(receiver: Receiver) -> NotifySettings:
    return NotifySettings.model_validate(
        {
            "channels": [
                {"name": "console", "kind": "console", "link": True},
                {"name": "desk", "kind": "webhook", "url": f"{receiver.base_url}/desk", "secrets": [SECRET]},
                {"name": "phone", "kind": "apprise", "url": "json://127.0.0.1:1/nobody"},
            ],
            "endpoints": [
                {"name": "audit", "url": f"{receiver.base_url}/audit", "secrets": [SECRET]},
                {"name": "full", "url": f"{receiver.base_url}/full", "secrets": [SECRET], "details": True},
            ],
            "reminders": [1.5, 300],
        }
    )


async def _until_told(handoff: Handoff, count: int) -> None:
    await until(handoff.summary, 60, wanted=lambda now: len(now.told) >= count)
