"""A real server, a desktop in memory, a gateway on a real port, and clients of the SDK on it."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client
from temporalio.client import Client as Temporal

from tests.waiting import until
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF
from user_handoff.gateway.app import create_app
from user_handoff.gateway.serving import serve
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.testing import Control, InMemoryDesktop, Page, ScriptedPerson

OWNER = "agent:mcp"
INVOICES_URL = "https://portal.example/invoices"
LOGIN = Page("https://portal.example/login", [Control("textbox", "Password")])
INVOICES = Page(INVOICES_URL, [Control("button", "Export"), Control("heading", "Invoices")], behind=LOGIN)
OPEN = Page("https://open.example/", [Control("button", "Go"), Control("textbox", "Name")])


@dataclass
class Agent:
    """A client of the SDK, and what it was told."""

    client: Client
    changes: list[str] = field(default_factory=list)

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that succeeds; its structured result."""
        called = await self.client.call_tool(name, arguments)
        assert not called.is_error, called.content
        assert isinstance(called.structured_content, dict)
        return dict(called.structured_content["result"])

    async def do(self, action: str, **arguments: Any) -> dict[str, Any]:
        """One action of control_browser."""
        return await self.tool("control_browser", do={"action": action, **arguments})

    async def refused(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that fails; its structured error."""
        called = await self.client.call_tool(name, arguments)
        assert called.is_error, called.structured_content
        assert isinstance(called.structured_content, dict)
        assert set(called.structured_content) == {"code", "what", "holds", "do_next", "details"}
        return called.structured_content

    async def tools(self) -> list[str]:
        """The tools that are listed now."""
        return [tool.name for tool in (await self.client.list_tools(cache_mode="bypass")).tools]

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Be told of changes: with the older protocol a client is by itself."""
        if self.client.protocol_version < "2026":
            yield
            return

        async def listen(subscription: Any) -> None:
            async for _ in subscription:
                """Each was told to the handler of messages too."""

        async with self.client.listen(tools_list_changed=True) as subscription:
            listener = asyncio.create_task(listen(subscription))
            try:
                yield
            finally:
                listener.cancel()
                await asyncio.wait({listener})

    async def told(self, count: int) -> None:
        """Wait until the list was said to have changed so many times."""
        await until(lambda: len(self.changes) >= count)


@dataclass
class Stage:
    """All of it."""

    temporal: Temporal
    desktop: InMemoryDesktop
    base_url: str
    handoffs: HandoffClient
    access: Access
    requests: RequestsClient

    def meets(self, person: ScriptedPerson) -> None:
        """Who answers the handoffs that follow."""
        self.desktop._people[:] = [person]

    async def key(self, name: str = OWNER, scopes: Sequence[Any] = SCOPES_OF_A_HANDOFF) -> str:
        """A key of a principal."""
        return await self.access.create_key(name, scopes)

    async def session(self, owner: str = OWNER) -> str:
        """An open session."""
        session_id = new_id("s")
        await self.handoffs.open_session(session_id, owner)
        return session_id

    async def grant(self, session_id: str, **options: Any) -> str:
        """A token for one session."""
        token, _ = await self.access.issue_grant(session_id, OWNER, **options)
        return token

    @contextlib.asynccontextmanager
    async def agent(self, secret: str, *, address: bool = False, mode: str = "auto") -> AsyncIterator[Agent]:
        """A client with a key or grant, as a bearer or in the address."""
        path = f"/agent/{secret}" if address else "/mcp"
        headers = {} if address else {"authorization": f"Bearer {secret}"}
        changes: list[str] = []

        async def on_message(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                changes.append(message.method)

        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=120)) as http:
            transport = streamable_http_client(f"{self.base_url}{path}", http_client=http)
            async with Client(transport, mode=mode, message_handler=on_message) as client:
                yield Agent(client, changes)


@contextlib.asynccontextmanager
async def open_stage(temporal: Temporal) -> AsyncIterator[Stage]:
    """Start it; end it."""
    handoffs = HandoffClient(temporal)
    access = Access(handoffs)
    desktop = InMemoryDesktop(temporal, pages=[INVOICES, LOGIN, OPEN])
    async with desktop, open_gateway(temporal, access) as base_url:
        yield Stage(temporal, desktop, base_url, handoffs, access, RequestsClient(handoffs))


@contextlib.asynccontextmanager
async def open_gateway(temporal: Temporal, access: Access | None = None, **settings: Any) -> AsyncIterator[str]:
    """A gateway on a port of its own; its address."""
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    app = create_app(HandoffClient(temporal), GatewaySettings.model_validate({"port": port, **settings}), access)
    serving = asyncio.create_task(serve(app, "127.0.0.1", port, stop, ready=ready.set_result))
    try:
        yield f"http://127.0.0.1:{await ready}"
    finally:
        stop.set()
        await serving
