"""What the command line makes of the keys and the codec endpoint that the environment names."""

import asyncio
import contextlib
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.cli.conftest import SECONDS, Handoff, clean_environment, command
from tests.waiting import until
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.state_files import Part
from user_handoff.codec import KEYS_VARIABLE, KeyRing

KEYS = KeyRing.generate("k1").text
UI = "http://127.0.0.1:8233"


def environment(engine: EmbeddedTemporal, **more: str) -> dict[str, str]:
    return clean_environment(TEMPORAL_ADDRESS=engine.address, **more)


@contextlib.asynccontextmanager
async def gateway(engine: EmbeddedTemporal, state: Path, **more: str) -> AsyncIterator[str]:
    """The address of a gateway of its own, while it runs."""
    process = await asyncio.create_subprocess_exec(
        *command("server", "--no-worker", "--port", "0", "--state", str(state)),
        env=environment(engine, **more),
        stderr=subprocess.DEVNULL,
    )
    try:
        part = Part(state, "gateway")
        await until(lambda: part.status()["status"] == "ready", SECONDS, what="the gateway is ready")
        yield str(part.status()["gateway_url"])
    finally:
        process.terminate()
        await process.wait()


async def test_the_gateway_decodes_for_the_origins_that_the_environment_names(
    temporal: EmbeddedTemporal, state: Path
) -> None:
    """E10."""
    async with (
        gateway(
            temporal, state, HANDOFF_CODEC_KEYS=KEYS, HANDOFF_CODEC_UI_ORIGINS=f"http://other.example, {UI}"
        ) as url,
        httpx.AsyncClient(base_url=url, timeout=30) as http,
    ):
        allowed = await http.post("/codec/decode", json={"payloads": []}, headers={"origin": UI})
        refused = await http.post("/codec/decode", json={"payloads": []}, headers={"origin": "http://evil.example"})
    assert (allowed.status_code, refused.status_code) == (200, 403)


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"HANDOFF_CODEC_UI_ORIGINS": UI}, "codec_keys_invalid"),
        ({"HANDOFF_CODEC_KEYS": "nonsense"}, "codec_keys_invalid"),
        ({"HANDOFF_CODEC_KEYS": KEYS, "HANDOFF_CODEC_UI_ORIGINS": "*"}, "invalid_request"),
        (
            {"HANDOFF_CODEC_KEYS": KEYS, "HANDOFF_CODEC_UI_ORIGINS": UI, "HANDOFF_CODEC_TOKEN": "short"},
            "invalid_request",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_and_no_secret_quoted(
    temporal: EmbeddedTemporal, state: Path, handoff: Handoff, more: dict[str, str], code: str
) -> None:
    """B7."""
    done = handoff("server", "--port", "0", "--state", str(state), env=environment(temporal, **more))
    assert done.returncode != 0 and code in done.stderr
    assert KEYS.partition(":")[2] not in done.stderr + done.stdout


async def test_the_embedded_server_gets_no_keys_and_its_web_ui_the_address_of_the_codec(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B7."""
    monkeypatch.setenv(KEYS_VARIABLE, KEYS)
    engine = EmbeddedTemporal(state, port=0, ui_port=0, codec_endpoint="http://127.0.0.1:8700/codec")
    await engine.start()
    try:
        process = psutil.Process(engine.pid)
        assert not [name for name in process.environ() if name.startswith("HANDOFF_")]
        async with httpx.AsyncClient(timeout=30) as http:
            settings = (await http.get(f"{engine.ui_url}/api/v1/settings")).json()
    finally:
        await engine.stop()
    assert settings["Codec"]["Endpoint"] == "http://127.0.0.1:8700/codec"
