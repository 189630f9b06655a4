"""A real Temporal server, a desktop in memory, and a receiver on a real port."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from temporalio.client import Client

from tests.receiver import SECRET, Receiver, receiving
from tests.workflows.conftest import client, server
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoff, Handoffs
from user_handoff.activities.notifying.notifying import Notifying
from user_handoff.activities.notifying.settings import Channel, Endpoint, NotifySettings
from user_handoff.contract.ids import delivery_workflow_id
from user_handoff.worker.server import server_worker

__all__ = ["client", "server"]

BASE_URL = "https://handoff.example"


@dataclass
class Newsroom:
    """A server that tells whom a test wants it to."""

    client: Client
    receiver: Receiver
    lines: list[str] = field(default_factory=list)
    """What was written on the console."""

    @contextlib.asynccontextmanager
    async def telling(self, *, schedule: tuple[float, ...] = (0.1,) * 7, **settings: Any) -> AsyncIterator[Handoffs]:
        notifying = Notifying(NotifySettings(**settings), lambda: BASE_URL, say=self.lines.append, schedule=schedule)
        desktop = FakeDesktop()
        async with server_worker(self.client, notifying=notifying), desktop.serving(self.client):
            yield await Handoffs.open(self.client, desktop)

    def apprise(self, name: str = "phone", *, link: bool = False, path: str = "/notify") -> Channel:
        url = f"json://{self.receiver.base_url.removeprefix('http://')}{path}"
        return Channel.model_validate({"name": name, "kind": "apprise", "url": url, "link": link})

    def webhook(self, name: str = "desk", *, link: bool = False) -> Channel:
        url = f"{self.receiver.base_url}/{name}"
        return Channel.model_validate({"name": name, "kind": "webhook", "url": url, "secrets": [SECRET], "link": link})

    def endpoint(self, name: str = "audit", **more: Any) -> Endpoint:
        url = f"{self.receiver.base_url}/{name}"
        return Endpoint.model_validate({"name": name, "url": url, "secrets": [SECRET], **more})

    async def delivered(self, handoff: Handoff) -> None:
        """Wait for the end of the delivery of a handoff's news."""
        await self.client.get_workflow_handle(delivery_workflow_id(handoff.id)).result()

    def of(self, name: str) -> list[str]:
        """The types of what one receiver was sent."""
        return [r.json["type"] for r in self.receiver.requests if r.path == f"/{name}"]


CONSOLE = Channel(name="console", kind="console")

Types = Callable[[], list[str]]


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def newsroom(client: Client, receiver: Receiver) -> Newsroom:
    return Newsroom(client, receiver)
