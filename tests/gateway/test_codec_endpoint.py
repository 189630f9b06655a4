"""The codec endpoint, asked as Temporal's web UI and its command line ask."""

import asyncio
import dataclasses
import json
import logging
import shutil
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from pydantic import ValidationError
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client

from tests.gateway.world import Site, World, open_site
from user_handoff.client import HandoffClient
from user_handoff.codec import EncryptionCodec, KeyRing
from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.gateway.app import create_app
from user_handoff.gateway.codec import BODY_BYTES
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.plugin import HandoffPlugin

UI = "http://127.0.0.1:8233"
TOKEN = "t" * 32
CODEC = EncryptionCodec(KeyRing.generate("k1"))
PLAIN = Payload(metadata={"encoding": b"json/plain"}, data=b'"canary"')


async def encrypting(world: World) -> Client:
    target = world.temporal.service_client.config.target_host
    return await Client.connect(target, plugins=[HandoffPlugin(codec=CODEC)])


@pytest.fixture(scope="module")
async def codec_world(world: World) -> World:
    """The same handoffs, seen by a client that encrypts."""
    return dataclasses.replace(world, client=HandoffClient(await encrypting(world)))


@pytest.fixture(scope="module")
async def codec_site(codec_world: World) -> AsyncIterator[Site]:
    async with open_site(codec_world, codec_origins=(UI,)) as opened:
        yield opened


@pytest.fixture(scope="module")
async def guarded(codec_world: World) -> AsyncIterator[Site]:
    async with open_site(codec_world, codec_origins=(UI,), codec_token=TOKEN) as opened:
        yield opened


async def body_of(*payloads: Payload) -> Any:
    return MessageToDict(Payloads(payloads=payloads))


async def sealed() -> Any:
    return await body_of(*await CODEC.encode([PLAIN]))


async def ask(site: Site, path: str, body: Any, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": "application/json", "x-namespace": "default"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as http:
        return await http.post(path, content=content, headers=named)


def refused(response: httpx.Response, status: int, code: ErrorCode) -> None:
    assert response.status_code == status, response.text
    assert response.json()["code"] == code
    assert "canary" not in response.text and b64encode(PLAIN.data).decode() not in response.text


async def test_there_is_no_codec_endpoint_unless_one_is_asked_for(site: Site) -> None:
    assert (await ask(site, "/codec/decode", await sealed())).status_code == 404


async def test_the_web_ui_is_shown_what_is_encrypted(codec_site: Site) -> None:
    """E10: as its page asks, with an origin of its own."""
    response = await ask(codec_site, "/codec/decode", await sealed(), origin=UI)
    assert response.status_code == 200
    assert ParseDict(response.json(), Payloads()).payloads == [PLAIN]
    assert response.headers["access-control-allow-origin"] == UI
    assert "access-control-allow-credentials" not in response.headers
    assert response.headers["cache-control"] == "no-store"


async def test_what_a_person_types_into_the_web_ui_is_encrypted(codec_site: Site) -> None:
    response = await ask(codec_site, "/codec/encode", await body_of(PLAIN), origin=UI)
    payloads = ParseDict(response.json(), Payloads()).payloads
    assert b"canary" not in payloads[0].SerializeToString()
    assert await CODEC.decode(payloads) == [PLAIN]


async def test_the_temporal_command_line_reads_a_workflow_through_it(codec_site: Site, codec_world: World) -> None:
    """E10: a real client of the protocol."""
    session_id = new_id("s")
    await codec_world.client.temporal.start_workflow(
        "Nobody", "canary", id=session_workflow_id(session_id), task_queue="nobody-polls"
    )
    program = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    assert program
    command = [
        program,
        "workflow",
        "show",
        "--workflow-id",
        session_workflow_id(session_id),
        "--output",
        "text",
        "--detailed",
    ]
    command += ["--address", codec_world.temporal.service_client.config.target_host]

    async def shown(*more: str) -> str:
        process = await asyncio.create_subprocess_exec(*command, *more, stdout=asyncio.subprocess.PIPE)
        said, _ = await process.communicate()
        assert process.returncode == 0
        return said.decode()

    assert "canary" not in await shown()
    assert "canary" in await shown("--codec-endpoint", f"{codec_site.base_url}/codec")


async def preflight(site: Site, origin: str) -> httpx.Response:
    asked = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,authorization-extras,content-type,x-namespace",
    }
    async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as http:
        return await http.options("/codec/decode", headers=asked)


async def test_a_browser_lets_pages_of_the_configured_origin_ask_and_no_others(codec_site: Site) -> None:
    allowed = await preflight(codec_site, UI)
    assert allowed.status_code == 200 and allowed.headers["access-control-allow-origin"] == UI
    other = await preflight(codec_site, "http://127.0.0.1:8234")
    assert other.status_code == 400 and "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{UI}.evil.example", "http://localhost:8233"])
async def test_a_page_of_another_origin_is_told_nothing(codec_site: Site, origin: str) -> None:
    response = await ask(codec_site, "/codec/decode", await sealed(), origin=origin)
    refused(response, 403, ErrorCode.UNAUTHORIZED)
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "headers", [{"x_forwarded_for": "203.0.113.7"}, {"via": "1.1 proxy"}, {"host": "evil.example"}]
)
async def test_without_a_token_only_this_machine_may_ask(codec_site: Site, headers: dict[str, str]) -> None:
    """Neither who comes through a proxy, nor a page whose name was rebound to this machine."""
    refused(await ask(codec_site, "/codec/decode", await sealed(), **headers), 403, ErrorCode.UNAUTHORIZED)


@pytest.mark.parametrize("shown", [{}, {"authorization": f"Bearer {TOKEN}x"}, {"authorization": f"Basic {TOKEN}"}])
async def test_a_caller_without_the_token_is_told_nothing(guarded: Site, shown: dict[str, str]) -> None:
    response = await ask(guarded, "/codec/decode", await sealed(), origin=UI, **shown)
    refused(response, 401, ErrorCode.UNAUTHORIZED)
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_caller_with_the_token_may_ask_through_a_proxy(guarded: Site) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "x_forwarded_for": "203.0.113.7"}
    response = await ask(guarded, "/codec/decode", await sealed(), **headers)
    assert ParseDict(response.json(), Payloads()).payloads == [PLAIN]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"nonsense", b"\xff", b'{"payloads": 1}', b'{"payloads": [{"data": 1}]}', b"[" * 100_000]
)
async def test_a_body_that_is_no_payloads_message_is_refused(codec_site: Site, body: bytes) -> None:
    refused(await ask(codec_site, "/codec/decode", body), 400, ErrorCode.INVALID_REQUEST)


async def test_a_body_that_is_too_large_is_refused(codec_site: Site) -> None:
    refused(await ask(codec_site, "/codec/decode", b" " * (BODY_BYTES + 1)), 413, ErrorCode.INVALID_REQUEST)


async def test_a_payload_under_another_key_is_refused_by_its_code(codec_site: Site) -> None:
    foreign = await body_of(*await EncryptionCodec(KeyRing.generate("k2")).encode([PLAIN]))
    refused(await ask(codec_site, "/codec/decode", foreign), 400, ErrorCode.CODEC_KEY_UNKNOWN)


async def test_what_is_decoded_reaches_no_log(codec_site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """B7."""
    with caplog.at_level(logging.DEBUG):
        await ask(codec_site, "/codec/decode", await sealed())
    assert "canary" not in caplog.text and b64encode(PLAIN.data).decode() not in caplog.text


def test_an_endpoint_of_a_client_that_encrypts_nothing_is_refused(world: World) -> None:
    with pytest.raises(SetupError) as caught:
        create_app(world.client, GatewaySettings.model_validate({"codec_origins": (UI,)}))
    assert caught.value.code is ErrorCode.CODEC_KEYS_INVALID


@pytest.mark.parametrize(
    "fields",
    [
        {"codec_origins": ("*",)},
        {"codec_origins": (f"{UI}/",)},
        {"codec_origins": (UI,), "codec_token": "short"},
        {"codec_origins": (UI,), "host": "0.0.0.0"},
        {"codec_origins": (UI,), "base_url": "https://handoff.example"},
    ],
)
def test_an_endpoint_that_anybody_could_ask_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GatewaySettings.model_validate(fields)
