"""A client that is not Python: the SDK for TypeScript does the whole job."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.mcp.node_client import NotInstalled, installed_client
from tests.gateway.mcp.stage import INVOICES_URL, Stage
from user_handoff.contract.requests import SaveRequest
from user_handoff.testing import ScriptedPerson

ROBOT = "agent:node"
"""Nobody else's name: for some seconds the current session of a name is what another test has asked for."""


@pytest.fixture(scope="package")
async def client(pytestconfig: pytest.Config) -> Path:
    """The client with what it needs."""
    assert pytestconfig.cache is not None
    try:
        return await installed_client(pytestconfig.cache.mkdir("node"))
    except NotInstalled as why:
        pytest.skip(str(why))


@pytest.mark.timeout(300)
async def test_the_typescript_sdk_does_the_whole_job(stage: Stage, client: Path) -> None:
    """C1, C2, D1, K01, A12, B4."""
    answers = asyncio.Event()
    stage.meets(ScriptedPerson("done", waits_for=answers))
    session_id = await stage.session(ROBOT)
    writer = await stage.requests.issue_writer(session_id, ROBOT, "Robin")
    job = {"url": f"{stage.base_url}/mcp", "token": await stage.key(ROBOT), "page": INVOICES_URL}
    process = await asyncio.create_subprocess_exec(
        "node",
        str(client),
        env={**os.environ, "JOB": json.dumps(job)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.timeout(120):
        assert (line := await process.stderr.readline()) == b"held\n", line + await process.stderr.read()
        answers.set()
        assert (line := await process.stderr.readline()) == b"done\n", line + await process.stderr.read()
        await stage.requests.write(writer, SaveRequest(request_id="r1", generation=1, text="Thanks", send=True))
        seen: dict[str, Any] = json.loads(await process.stdout.read() or await process.stderr.read())
        assert await process.wait() == 0
    assert "read_person_request" not in seen["tools"]
    assert "read_person_request" in seen["later"]
    assert seen["boundary"] == "sign-in-password"
    assert seen["link"]
    assert (seen["held"]["failed"], seen["held"]["code"]) == (True, "browser_held")
    assert all(said.endswith(": waiting for a person") for said in seen["progress"])
    assert seen["progress"]
    assert (seen["after"], seen["result"], seen["outcome"]) == ("recovering", "verified", "completed")
    assert (seen["read"]["text"], seen["read"]["untrusted"]) == ("Thanks", True)
    assert seen["refused"] == "invalid_request"
