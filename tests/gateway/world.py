"""A real Temporal server and worker, a desktop in memory, and a gateway on a real port."""

import asyncio
import contextlib
import re
import secrets
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import httpx
from temporalio.client import Client

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs, start_server
from user_handoff.client import HandoffClient
from user_handoff.contract.boundary import Boundary, Category
from user_handoff.contract.handoff import BeginReceipt, HandoffState, Summary
from user_handoff.gateway.app import create_app
from user_handoff.gateway.links import issue_link
from user_handoff.gateway.serving import serve
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.worker.server import server_worker

SECRET = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"
OLD_SECRET = f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"

WALL = Boundary(
    rule_id="sign-in-password",
    category=Category.AUTHENTICATION,
    page_id="p1",
    url="https://portal.example/login",
    reason='textbox "Password"',
)


@dataclass
class World:
    """Handoffs, seen by a client."""

    temporal: Client
    client: HandoffClient
    handoffs: Handoffs
    stop: Callable[[], Awaitable[None]]
    """Ends the workers and the server for good."""

    @property
    def desktop(self) -> FakeDesktop:
        return self.handoffs.desktop

    async def held(self, **more: object) -> BeginReceipt:
        """A handoff that a desktop holds."""
        request = await self.handoffs.request(**{"boundary": WALL, **more})
        return await self.client.begin(request)

    async def until(self, handoff_id: str, *states: HandoffState) -> Summary:
        return await until(
            lambda: self.client.summary(handoff_id), 20, wanted=lambda now: now.state in states, what=f"{states}"
        )


@dataclass
class Site:
    """A gateway on a port of its own."""

    base_url: str
    world: World

    async def link(self, handoff_id: str) -> str:
        return await issue_link(self.world.client, self.base_url, handoff_id)

    async def entered(self, link: str, http: httpx.AsyncClient) -> str:
        """Get in by a link as a browser without scripts does, with its button; the link again."""
        page = (await http.get(link)).text
        answer = await http.post(f"{link}/enter", data={"step": "enter", "entry": entry_of(page)})
        assert answer.status_code in (200, 303), answer.text
        return link

    async def recover(self, handoff_id: str) -> Summary:
        """Let the agent look again, and wait for the end."""
        await self.world.until(handoff_id, HandoffState.RECOVERING)
        self.world.desktop.look(handoff_id)
        return await self.world.until(handoff_id, HandoffState.COMPLETED)

    async def held(self, http: httpx.AsyncClient | None = None, /, **more: object) -> tuple[str, str]:
        """The id of a held handoff, and a person's link to it, by which a client has entered already."""
        receipt = await self.world.held(**more)
        link = await self.link(receipt.handoff_id)
        return receipt.handoff_id, await self.entered(link, http) if http else link


def entry_of(page: str) -> str:
    """What the button of an entry page sends."""
    found = re.search(r'name="entry" value="([^"]+)"', page)
    assert found is not None, page
    return found[1]


@contextlib.asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    async with contextlib.AsyncExitStack() as stack:
        env = await start_server()
        stack.push_async_callback(env.shutdown)
        desktop = FakeDesktop()
        await stack.enter_async_context(server_worker(env.client))
        await stack.enter_async_context(desktop.serving(env.client))
        handoffs = await Handoffs.open(env.client, desktop)
        yield World(env.client, HandoffClient(env.client), handoffs, stack.aclose)


@contextlib.asynccontextmanager
async def open_site(world: World, **fields: object) -> AsyncIterator[Site]:
    stop, port = asyncio.Event(), asyncio.get_running_loop().create_future()
    settings = GatewaySettings.model_validate({"webhook_secrets": (SECRET, OLD_SECRET), **fields})
    app = create_app(world.client, settings)
    serving = asyncio.create_task(serve(app, "127.0.0.1", int(str(fields.get("port", 0))), stop, ready=port.set_result))
    try:
        yield Site(f"http://127.0.0.1:{await port}", world)
    finally:
        stop.set()
        await serving
