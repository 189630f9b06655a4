"""A real Temporal server, as a user's own tests start it: without anything of ours."""

import asyncio
import contextlib
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.testing import agents
from user_handoff.contract.ids import new_id
from user_handoff.plugin import HandoffPlugin
from user_handoff.testing import Control, InMemoryDesktop, Page, ScriptedPerson

LOGIN = Page("https://portal.example/login", [Control("textbox", "Password"), Control("button", "Sign in")])
INVOICES = Page(
    "https://portal.example/invoices",
    [
        Control("heading", "Invoices"),
        Control("button", "Export", downloads=b"number\n1\n2\n"),
        Control("button", "Details", opens="https://portal.example/details"),
    ],
    title="Invoices",
    behind=LOGIN,
)
OPEN = Page("https://portal.example/open", [Control("link", "Next", leads_to="https://portal.example/details?id=1")])
DETAILS = Page("https://portal.example/details", [Control("heading", 'The "details"')])
QUEUE = "agents"


@pytest.fixture(scope="package")
async def client() -> AsyncIterator[Client]:
    binary = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    options = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000"]
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=binary, dev_server_extra_args=options, plugins=[HandoffPlugin()]
    ) as env:
        yield env.client


@dataclass
class Agents:
    """Runs agents on a desktop in memory."""

    client: Client

    @contextlib.asynccontextmanager
    async def on(
        self, *person: ScriptedPerson, pages: Sequence[Page] = (INVOICES, OPEN, DETAILS)
    ) -> AsyncIterator[InMemoryDesktop]:
        async with (
            InMemoryDesktop(self.client, pages=pages, person=person) as desktop,
            Worker(self.client, task_queue=QUEUE, workflows=agents.ALL),
        ):
            yield desktop

    async def run(self, agent: Any, *args: Any) -> Any:
        async with asyncio.timeout(30):
            return await self.client.execute_workflow(agent, args=args, id=new_id("a"), task_queue=QUEUE)


@pytest.fixture
def agent(client: Client) -> Agents:
    return Agents(client)
