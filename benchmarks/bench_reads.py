"""What an authenticated read costs by REST: a session is asked for by 10 and by 50 clients at once."""

import asyncio
import tempfile
import time
from pathlib import Path

from benchmarks.numbers import Times
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.parts import Command
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.client.access import Access
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, PostMessage

COUNT = 2_000
"""Requests for each number of clients."""

CLIENTS = (10, 50)
OWNER = "agent:reads"
_WARM_UP = 100
_UNBOUNDED = {"HANDOFF_REQUESTS_PER_SECOND": "100000"}


async def measure(count: int = COUNT) -> dict[str, float]:
    """Requests in a second, and milliseconds of one, through a gateway with its worker, and Temporal beside it."""
    with tempfile.TemporaryDirectory(prefix="reads-") as folder:
        state = Path(folder)
        engine = EmbeddedTemporal(state, port=0, ui_port=None)
        await engine.start()
        server = Command("server", ["--port", "0"], state=state, env=embedded_environment(engine.address) | _UNBOUNDED)
        try:
            await server.start()
            key, session_id = await _prepared(engine.address)
            port = int(str(server.facts()["gateway_url"]).rpartition(":")[2])
            request = _request(f"/v1/sessions/{session_id}", key)
            await _load(port, request, _WARM_UP, 2)
            found: dict[str, float] = {"count": count}
            for clients in CLIENTS:
                times, seconds = await _load(port, request, count, clients)
                found[f"per_second_{clients}"] = round(len(times.seconds) / seconds, 1)
                found |= {f"ms_p{p}_{clients}": times.milliseconds(p) for p in (50, 95)}
            return found
        finally:
            await server.stop()
            await engine.stop()


async def _prepared(address: str) -> tuple[str, str]:
    """A key, and a session of its principal."""
    client = HandoffClient(await connect_temporal(address, "default"))
    view = await client.open_session("s_reads", OWNER)
    await client.post_message(view.session_id, PostMessage(message_id="m_1", text="Sign in"))
    return await Access(client).create_key(OWNER, SCOPES_OF_A_HANDOFF), view.session_id


def _request(path: str, key: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode()


async def _load(port: int, request: bytes, count: int, clients: int) -> tuple[Times, float]:
    """Let so many clients share so many requests. They do little but send and read, since they share this machine."""
    times, left = Times(), iter(range(count))

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for _ in left:
                with times.one():
                    writer.write(request)
                    await _answer(reader)
        finally:
            writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return times, time.perf_counter() - began


async def _answer(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.splitlines()
    if " 200 " not in f"{status} ":
        raise RuntimeError(f"a read was answered by {status}")
    (length,) = (line.partition(":")[2] for line in lines if line.lower().startswith("content-length:"))
    await reader.readexactly(int(length))
