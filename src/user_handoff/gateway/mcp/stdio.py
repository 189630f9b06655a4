"""MCP by standard input and output, for a program that starts its tools itself."""

from typing import Any

from mcp.server.stdio import stdio_server

from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.client.desktop import DesktopClient
from user_handoff.gateway.mcp.server import McpServer
from user_handoff.gateway.toolbox import Caller, Toolbox
from user_handoff.gateway.tools.callers import caller_of


async def serve_stdio(client: HandoffClient, token: str, base_url: str) -> None:
    """Serve one agent until its input ends.

    Args:
        client: Where handoffs are asked and answered.
        token: The key or grant of the agent, looked at again for every message.
        base_url: What people's links begin with.

    Raises:
        HandoffError: The token lets nobody in.
    """
    access = Access(client)

    async def authenticate(request: Any) -> Caller:
        return await caller_of(access, token)

    await authenticate(None)
    server = McpServer(Toolbox(DesktopClient(client.temporal), access, base_url), authenticate)
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.sdk.run(incoming, outgoing, server.sdk.create_initialization_options())
    finally:
        server.watches.close()
        await access.aclose()
