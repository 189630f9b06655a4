"""Secrets are planted everywhere at a wall, every door is used, and then they are looked for everywhere."""

import asyncio
import base64
import contextlib
import json
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from google.protobuf.json_format import MessageToJson
from temporalio.api.workflowservice.v1 import DescribeActivityExecutionRequest

from examples.demo.leaks import forms, search_files, search_text
from tests.e2e.stack import Stack
from tests.e2e.test_mcp import Agent, agent
from tests.vault import Vault
from tests.waiting import until
from user_handoff.client.access import Access
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import new_id
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF
from user_handoff.desktop.states.sealing import KEYS_VARIABLE

OWNER = "agent:canary"
SAID = "KanariInstructions"
"""Instructions are told to the person, and are kept, by design: that they are found shows that the search finds."""


@pytest.fixture
async def vault() -> AsyncIterator[Vault]:
    async with Vault().serving() as vault:
        yield vault


class Doors:
    """Everything that an agent was answered, by MCP and by REST."""

    def __init__(self, robot: Agent, http: httpx.AsyncClient) -> None:
        self._robot = robot
        self._http = http
        self.answers: list[str] = []

    async def mcp(self, action: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._robot.do(action, **arguments)
        self.answers.append(json.dumps(answer))
        return answer

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._robot.tool(name, **arguments)
        self.answers.append(json.dumps(answer))
        return answer

    async def rest(self, path: str, body: Any = None) -> dict[str, Any]:
        response = await (self._http.post(path, json=body) if body is not None else self._http.get(path))
        self.answers += [response.text, json.dumps(dict(response.headers))]
        found: dict[str, Any] = response.json()
        return found


_TYPE = """
import json, sys
from examples.keyboard import Hands
asked, hands = json.load(sys.stdin), Hands()
hands.raise_window(asked["window"])
place = hands.geometry(asked["window"])
hands.click(place.x + int(place.width * 0.93), place.y + int(place.height * 0.93))
hands.type(asked["text"])
hands.press("Return")
"""


async def types(stack: Stack, window_id: int, text: str) -> None:
    """A person clicks on the page, types what is theirs to type, and sends it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _TYPE, stdin=asyncio.subprocess.PIPE, env={**os.environ, **stack.display}
    )
    await process.communicate(json.dumps({"window": window_id, "text": text}).encode())
    assert process.returncode == 0


async def test_no_planted_secret_is_found_anywhere(stack: Stack, vault: Vault) -> None:
    """B7, K40, K41, K42: 40 secrets at a wall, used through every door; 0 found in all that is kept or answered."""
    key = await Access(stack.handoffs).create_key(OWNER, SCOPES_OF_A_HANDOFF)
    await stack.handoffs.open_session(new_id("s"), OWNER)
    headers = {"authorization": f"Bearer {key}"}
    gateway = str(stack.server.facts()["gateway_url"])
    async with (
        agent(stack, key) as robot,
        httpx.AsyncClient(base_url=gateway, headers=headers, timeout=60) as http,
    ):
        doors = Doors(robot, http)
        link = await the_whole_job(stack, vault, doors)
    planted = {name: (value,) for name, value in vault.planted.items()}
    planted |= {"key": (key,), "link": (link.rpartition("/")[2],), "state key": (os.environ[KEYS_VARIABLE],)}
    assert len(planted) >= 40
    answers = "\n".join(doors.answers)
    assert len(doors.answers) > 20
    assert search_text(planted, "answers of MCP and REST", answers) == []
    histories = await exported(stack)
    assert SAID in histories, "the search finds what is there"
    assert search_text(planted, "what Temporal's API exports", histories) == []
    files = [path for path in stack.state.rglob("*") if path.is_file() and not of_chromium(path, stack.state)]
    evidence = {"000000000001.jsonl", "head.json"}
    assert {"temporal.db", "runner.log", "server.log", *evidence} <= {path.name for path in files}
    assert search_files(planted, files) == []
    database = rows_of(stack.state / "temporal.db")
    assert any(form in database for form in forms(SAID)), "the search finds what is there"
    assert [kind for kind, (value,) in planted.items() if any(form in database for form in forms(value))] == []
    assert search_text(planted, "command lines", "\n".join(command_lines())) == []


async def the_whole_job(stack: Stack, vault: Vault, doors: Doors) -> str:
    """Everything that an agent can do at a wall, a person's part, and what comes after; the person's link."""
    opened = await doors.mcp(
        "open", url=f"{vault.url}/", rules=[{"kind": "url", "rule_id": "vault", "glob": "**/form"}]
    )
    of = {"browser_id": opened["browser_id"]}
    browser = f"/v1/browsers/{opened['browser_id']}"
    wall = await doors.mcp("snapshot", **of)
    assert "[value withheld]" in wall["text"]
    await doors.rest(f"{browser}/snapshots", {})
    await doors.rest(browser)
    await doors.mcp("screenshot", **of)
    await doors.tool("observe_computer", **of)
    assert (await doors.mcp("click", **of, element_id="old.e1"))["code"] == "stale_element"
    assert (await doors.mcp("navigate", **of, url=f"{vault.url}/away"))["code"] == "navigation_failed"
    await doors.mcp("navigate", **of, url=f"{vault.url}/")
    wall = await doors.mcp("snapshot", **of)
    begun = await doors.mcp(
        "begin_user_handoff",
        **of,
        instructions=f"Send the form, {SAID}",
        boundary=wall["boundary"],
        verify={"kind": "url", "glob": "**/echo"},
    )
    handoff_id = begun["handoff_id"]
    link = str((await doors.tool("issue_browser_url", handoff_id=handoff_id))["url"])
    doors.answers.pop()  # it is the link, by design
    await doors.rest(f"/v1/handoffs/{handoff_id}")
    for action in ("snapshot", "screenshot", "info"):
        await doors.mcp(action, **of)
    assert (await doors.mcp("click", **of, element_id="old.e1"))["code"] == "browser_held"
    assert (await doors.mcp("save_state", **of, **to_save(vault)))["code"] == "browser_held"
    assert (await doors.tool("observe_computer", **of, screenshot=True))["code"] == "desktop_held"
    async with httpx.AsyncClient(timeout=30) as anybody:
        assert (await anybody.get(link)).status_code == 200
    summary = await stack.handoffs.summary(handoff_id)
    assert summary.receipt is not None
    await types(stack, summary.receipt.surface.window_id, vault.planted["typed"])
    await until(lambda: vault.sent == [vault.planted["typed"]])
    await stack.answer(summary)
    async with asyncio.timeout(60):
        while (await doors.tool("wait", handoff_id=handoff_id))["state"] != "recovering":
            pass
    after = await doors.rest(f"{browser}/snapshots", {})
    assert "You sent [withheld] and [withheld]." in after["text"]
    await doors.mcp("screenshot", **of)
    async with asyncio.timeout(60):
        while (await doors.tool("wait", handoff_id=handoff_id))["state"] != "completed":
            pass
    summary = await stack.handoffs.summary(handoff_id)
    assert summary.state is HandoffState.COMPLETED
    doors.answers.append(summary.model_dump_json())
    saved = await doors.mcp("save_state", **of, **to_save(vault))
    assert saved["encrypted"] and saved["cookies"] == 2 and saved["indexed_db"] == 1
    other = await doors.mcp("open", url=f"{vault.url}/", state="vault")
    await doors.mcp("snapshot", browser_id=other["browser_id"])
    for browser_id in (opened["browser_id"], other["browser_id"]):
        await doors.mcp("close_browser", browser_id=browser_id)
    return link


def to_save(vault: Vault) -> dict[str, Any]:
    """What is asked to be saved."""
    probe = {"kind": "probe", "url": f"{vault.url}/answer"}
    return {"state_id": "vault", "sites": ["127.0.0.1"], "probe": probe}


def of_chromium(path: Path, state: Path) -> bool:
    """Whether it is Chromium's own: a profile keeps what every profile keeps, and is no file of this project."""
    return "profile" in path.relative_to(state).parts


async def exported(stack: Stack) -> str:
    """Every history, and every activity that no workflow asked for, as Temporal's API tells them, decoded too."""
    found: list[str] = []
    async for workflow in stack.client.list_workflows():
        handle = stack.client.get_workflow_handle(workflow.id, run_id=workflow.run_id)
        found.append((await handle.fetch_history()).to_json())
    async for activity in stack.client.list_activities(""):
        request = DescribeActivityExecutionRequest(
            namespace=stack.client.namespace,
            activity_id=activity.activity_id,
            run_id=activity.activity_run_id or "",
            include_input=True,
            include_outcome=True,
        )
        found.append(MessageToJson(await stack.client.workflow_service.describe_activity_execution(request)))
    assert len(found) > 20
    return "\n".join([*found, *(decoded for text in found for decoded in _decoded(json.loads(text)))])


def _decoded(value: Any) -> Iterator[str]:
    """What is in base64 within JSON: the data of each payload."""
    if isinstance(value, Mapping):
        if isinstance(data := value.get("data"), str):
            with contextlib.suppress(ValueError):
                yield base64.b64decode(data).decode(errors="replace")
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _decoded(each)


def rows_of(path: Path) -> bytes:
    """All that is in a database, whole values each, whatever pages of its file they are on."""
    out: list[bytes] = []
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):
                out += [cell if isinstance(cell, bytes) else str(cell).encode() for cell in row]
    return b"\n".join(out)


def command_lines() -> Iterator[str]:
    """Of every process of the machine that can be read."""
    for process in psutil.process_iter(["cmdline"]):
        yield " ".join(process.info["cmdline"] or [])
