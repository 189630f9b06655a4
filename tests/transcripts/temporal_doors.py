"""The doors of Temporal: workflows of one's own, a program with a client, and another namespace through Nexus."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio import activity
from temporalio.api.nexus.v1 import EndpointSpec, EndpointTarget
from temporalio.api.operatorservice.v1 import CreateNexusEndpointRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from tests.e2e.stack import Stack
from tests.transcripts.agents import ENDPOINT, INSTRUCTIONS, OWNER, QUEUE, SIGNED_IN, Agent, Parent, Remote
from tests.transcripts.person import Robin
from tests.transcripts.steps import Log, Step
from tests.waiting import until
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract import browser as b
from user_handoff.contract.handoff import HandoffRequest, HandoffState, Summary
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import SERVER_QUEUE
from user_handoff.contract.session import PostMessage
from user_handoff.plugin import HandoffPlugin

NAMESPACE = "agents"


async def agent_workflow(stack: Stack) -> list[Step]:
    """An agent that is a workflow, with our API for it."""
    async with Worker(stack.client, task_queue=QUEUE, workflows=[Agent]):
        return await _with_person(stack, stack.client, Agent)


async def parent_workflow(stack: Stack) -> list[Step]:
    """A parent that has the handoff as its child, and knows nothing but names."""
    async with Worker(stack.client, task_queue=QUEUE, workflows=[Parent]):
        return await _with_person(stack, stack.client, Parent)


async def nexus(stack: Stack) -> list[Step]:
    """An agent in a namespace of its own."""
    async with _elsewhere(stack) as client:
        return await _with_person(stack, client, Remote)


async def program(stack: Stack) -> list[Step]:
    """A program without a workflow."""
    client, robin, log = DesktopClient(stack.client), Robin(stack), Log("program", time.time)
    session_id, browser_id = new_id("s"), new_id("b")
    await log.ask("open_session(session_id, owner)", client.open_session(session_id, OWNER))
    claim = await log.ask("claim()", client.claim(), lambda found: found.desktop_id)
    spec = b.OpenBrowser(browser_id=browser_id, session_id=session_id, owner=OWNER, url=f"{stack.portal.url}/invoices")
    info = await log.ask("open_browser(queue, spec)", client.open_browser(claim.queue, spec))
    page = b.SnapshotRequest(browser_id=browser_id)
    wall = await log.ask("snapshot(queue, page)", client.snapshot(claim.queue, page))
    message = PostMessage(message_id=new_id("m"), text=INSTRUCTIONS)
    await log.ask("post_message(session_id, message)", client.post_message(session_id, message))
    request = _request(info, wall, message.message_id)
    receipt = await log.ask("begin(request): starts the Handoff workflow", client.begin(request))
    effect = b.Navigate(browser_id=browser_id, effect_id=new_id("e"), url=f"{stack.portal.url}/")
    await log.refused("navigate(queue, effect)", client.navigate(claim.queue, effect))
    async with asyncio.TaskGroup() as group:
        group.create_task(robin.comes_for(receipt.handoff_id))
        ending = group.create_task(client.result(receipt.handoff_id))
        await log.ask("summary(handoff_id), until it is recovering", _recovering(client, receipt.handoff_id))
        for each in (await log.ask("info(queue, browser_id)", client.info(claim.queue, browser_id))).pages:
            one = page.model_copy(update={"page_id": each.page_id})
            await log.ask("snapshot(queue, each page)", client.snapshot(claim.queue, one))
        await log.ask("result(handoff_id), asked since it was held", ending)
    fresh = await client.snapshot(claim.queue, page)
    export = fresh.find(role="button", name="Export")
    download = b.Download(browser_id=browser_id, effect_id=new_id("e"), element_id=export)
    await log.ask('download(queue, find(role="button", name="Export"))', client.download(claim.queue, download))
    await log.ask("close_browser(queue, browser_id)", client.close_browser(claim.queue, browser_id), lambda _: "closed")
    return [*log.steps, *robin.steps]


class OwnActivities:
    """What a worker of another namespace does to a browser at home."""

    def __init__(self, home: DesktopClient) -> None:
        self._home = home

    @activity.defn
    async def open_at_the_wall(self, portal: str) -> HandoffRequest:
        """Open a session, a browser and a message, and look."""
        session_id, browser_id, message = new_id("s"), new_id("b"), PostMessage(message_id="m_1", text=INSTRUCTIONS)
        await self._home.open_session(session_id, OWNER)
        claim = await self._home.claim()
        spec = b.OpenBrowser(browser_id=browser_id, session_id=session_id, owner=OWNER, url=f"{portal}/invoices")
        info = await self._home.open_browser(claim.queue, spec)
        wall = await self._home.snapshot(claim.queue, b.SnapshotRequest(browser_id=browser_id))
        await self._home.post_message(session_id, message)
        return _request(info, wall, message.message_id)

    @activity.defn
    async def act(self, queue: str, effect: b.Navigate) -> b.EffectReceipt:
        """Go somewhere."""
        return await self._home.act(queue, effect)

    @activity.defn
    async def look_everywhere(self, request: HandoffRequest) -> str:
        """Look at each page, which ends the recovery."""
        pages = (await self._home.info(request.queue, request.browser_id)).pages
        for page in pages:
            look = b.SnapshotRequest(browser_id=request.browser_id, page_id=page.page_id)
            await self._home.snapshot(request.queue, look)
        return f"looked at {len(pages)} page"

    @activity.defn
    async def export(self, request: HandoffRequest) -> b.DownloadReceipt:
        """Export the invoices."""
        page = await self._home.snapshot(request.queue, b.SnapshotRequest(browser_id=request.browser_id))
        export = page.find(role="button", name="Export")
        effect = b.Download(browser_id=request.browser_id, effect_id=new_id("e"), element_id=export)
        return await self._home.download(request.queue, effect)

    @activity.defn
    async def close(self, request: HandoffRequest) -> None:
        """Close the browser."""
        await self._home.close_browser(request.queue, request.browser_id)

    def all(self) -> list[Any]:
        """Each of them."""
        return [self.open_at_the_wall, self.act, self.look_everywhere, self.export, self.close]


async def _with_person(stack: Stack, client: Client, agent: type[Any]) -> list[Step]:
    robin = Robin(stack)
    async with asyncio.TaskGroup() as group:
        group.create_task(robin.comes_when_called())
        steps: list[Step] = await client.execute_workflow(
            agent.run, stack.portal.url, id=new_id("agent"), task_queue=QUEUE
        )
    return [*steps, *robin.steps]


@contextlib.asynccontextmanager
async def _elsewhere(stack: Stack) -> AsyncIterator[Client]:
    home = stack.client
    await home.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=Duration(seconds=86_400))
    )
    target = EndpointTarget(worker=EndpointTarget.Worker(namespace=home.namespace, task_queue=SERVER_QUEUE))
    spec = EndpointSpec(name=ENDPOINT, target=target)
    await home.operator_service.create_nexus_endpoint(CreateNexusEndpointRequest(spec=spec))
    client = await _connected(stack)
    own = OwnActivities(DesktopClient(home))
    async with Worker(client, task_queue=QUEUE, workflows=[Remote], activities=own.all()):
        yield client


async def _connected(stack: Stack) -> Client:
    async def connected() -> Client | None:
        with contextlib.suppress(RPCError):  # a namespace is known everywhere a moment after it was made
            client = await Client.connect(stack.engine.address, namespace=NAMESPACE, plugins=[HandoffPlugin()])
            await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=NAMESPACE))
            return client
        return None

    return await until(connected, 60)


def _request(info: b.BrowserInfo, wall: b.Snapshot, message_id: str) -> HandoffRequest:
    return HandoffRequest(
        browser_id=info.browser_id,
        session_id=info.session_id,
        message_id=message_id,
        client_id=info.client_id,
        desktop_id=info.desktop_id,
        queue=info.queue,
        owner=OWNER,
        instructions=INSTRUCTIONS,
        boundary=wall.boundary,
        verify=SIGNED_IN,
    )


async def _recovering(client: DesktopClient, handoff_id: str) -> Summary:
    before = (HandoffState.HELD, HandoffState.FINISHING)
    return await until(lambda: client.summary(handoff_id), 60, wanted=lambda now: now.state not in before)
