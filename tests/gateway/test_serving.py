"""Running the gateway."""

import asyncio
import socket

import httpx
import pytest
from starlette.applications import Starlette

from tests.gateway.world import Site, World, open_site
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.gateway.serving import listen, serve


async def test_a_taken_port_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"Port {port} .* is taken") as caught:
            await serve(Starlette(), "127.0.0.1", port, asyncio.Event())
    assert caught.value.code is ErrorCode.PORT_TAKEN and caught.value.do_next


async def test_an_address_of_another_machine_is_said() -> None:
    with pytest.raises(SetupError, match=r"cannot listen on 192\.0\.2\.1"):
        await serve(Starlette(), "192.0.2.1", 0, asyncio.Event())


async def test_no_message_waits_for_others_to_be_sent_along() -> None:
    """Nagle's algorithm would hold each second small part of a picture back for 40 ms."""
    at_once = asyncio.get_running_loop().create_future()

    async def look(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at_once.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = listen("127.0.0.1", 0)
    async with await asyncio.start_server(look, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname())
        assert await at_once == 1
        writer.close()


async def test_it_ends_when_told_and_frees_its_port(world: World) -> None:
    async with open_site(world) as site, httpx.AsyncClient(timeout=30) as http:
        assert (await http.get(f"{site.base_url}/healthz")).json() == {"status": "ok"}
    socket.create_server(("127.0.0.1", httpx.URL(site.base_url).port or 0)).close()


async def test_two_gateways_answer_for_the_same_handoff(site: Site, world: World) -> None:
    """A19: a gateway keeps nothing, so another one goes on."""
    async with open_site(world) as other, httpx.AsyncClient(timeout=30) as http:
        # Cookies of one host are sent to each of its ports, as a reverse proxy's one address is for all gateways.
        _, link = await site.held(http)
        page = await http.get(link.replace(site.base_url, other.base_url))
    assert page.status_code == 200 and "Sign in at portal.example" in page.text
