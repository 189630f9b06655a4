"""The server that a program starts itself, on standard input and output."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.gateway.mcp.stage import OPEN, Agent, Stage

COMMAND = ["-P", "-m", "user_handoff.cli.main", "mcp"]


def _environment(stage: Stage, token: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")}
    address = stage.temporal.service_client.config.target_host
    return kept | {"TEMPORAL_ADDRESS": address, "TEMPORAL_CONFIG_FILE": os.devnull, "HANDOFF_TOKEN": token}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_drives_a_browser_through_pipes(stage: Stage, tmp_path: Path, mode: str) -> None:
    token = await stage.grant(await stage.session())
    server = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "--state", str(tmp_path)], env=_environment(stage, token)
    )
    async with Client(server, mode=mode) as client:
        agent = Agent(client)
        assert "control_browser" in await agent.tools()
        browser_id = (await agent.do("open", url=OPEN.url))["browser_id"]
        assert "Go" in (await agent.do("snapshot", browser_id=browser_id))["text"]
        assert (await agent.refused("wait", handoff_id="handoff/b/s/m"))["code"] == "unknown_handoff"
        await agent.do("close_browser", browser_id=browser_id)


@pytest.mark.parametrize("token", ["", f"hk_k.{'A' * 43}"])
async def test_without_a_key_or_grant_it_says_so_and_ends(stage: Stage, tmp_path: Path, token: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *COMMAND,
        "--state",
        str(tmp_path),
        env=_environment(stage, token),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert "[unauthorized]" in err.decode()
    assert "Traceback" not in err.decode()
    assert (process.returncode, out) == (3, b"")
