"""The real parts in processes of their own, so that a test can kill any of them."""

import contextlib
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest
from temporalio.client import ActivityFailureError, Client, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

from examples import person
from examples.agent import QUEUE, Exported, ExportInvoices, count_rows
from examples.portal import Portal
from tests.waiting import until
from user_handoff.cli.engine import EmbeddedTemporal
from user_handoff.cli.parts import Command
from user_handoff.cli.temporal import embedded_environment
from user_handoff.client import HandoffClient
from user_handoff.contract.browser import (
    BrowserInfo,
    BrowserRequest,
    EffectReceipt,
    Navigate,
    OpenBrowser,
    Snapshot,
    SnapshotRequest,
)
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.failures import from_failure
from user_handoff.contract.handoff import (
    Answer,
    BeginReceipt,
    HandoffRequest,
    HandoffState,
    Reply,
    ReplyReceipt,
    Summary,
)
from user_handoff.contract.ids import Association, new_id
from user_handoff.contract.names import Activities
from user_handoff.contract.session import PostMessage
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.plugin import HandoffPlugin

R = TypeVar("R")
OWNER = "agent:e2e"


@dataclass
class Stack:
    """Temporal on its database file, `handoff server`, `handoff runner`, an agent's worker and a portal."""

    state: Path
    engine: EmbeddedTemporal
    server: Command
    runner: Command
    client: Client
    handoffs: HandoffClient
    portal: Portal

    @property
    def display(self) -> dict[str, str]:
        """The environment of somebody at the desk."""
        record = read_record(self.state / "desktop")
        assert record is not None
        return record.display(self.state / "desktop").environment()

    @property
    def keeper(self) -> ProcessIdentity:
        """The process that keeps the virtual display."""
        record = read_record(self.state / "desktop")
        assert record is not None
        return record.keeper

    async def start_agent(self) -> WorkflowHandle[ExportInvoices, Exported]:
        """Let the agent meet the wall."""
        return await self.client.start_workflow(
            ExportInvoices.run, self.portal.url, id=new_id("agent"), task_queue=QUEUE
        )

    async def begin(self, browser: dict[str, Any] | None = None, **options: Any) -> tuple[HandoffRequest, BeginReceipt]:
        """Open a browser and hand it over, as a program without a workflow of its own does: see `request`."""
        asked = await self.request(browser, **options)
        return asked, await self.handoffs.begin(asked)

    async def request(self, browser: dict[str, Any] | None = None, **options: Any) -> HandoffRequest:
        """Open a browser, and what it takes to hand it over.

        Args:
            browser: Fields of `OpenBrowser`.
            options: Fields of `HandoffRequest`.
        """
        facts = self.runner.facts()
        session_id, message_id, browser_id = new_id("s"), new_id("m"), new_id("b")
        await self.handoffs.open_session(session_id, OWNER)
        await self.handoffs.post_message(session_id, PostMessage(message_id=message_id, text="Sign in"))
        spec = {"browser_id": browser_id, "session_id": session_id, "owner": OWNER, "url": f"{self.portal.url}/login"}
        await self.ask(Activities.OPEN_BROWSER, OpenBrowser.model_validate(spec | (browser or {})), BrowserInfo)
        request = {
            "browser_id": browser_id,
            "session_id": session_id,
            "message_id": message_id,
            "owner": OWNER,
            "instructions": "Sign in",
            **{name: str(facts[name]) for name in ("client_id", "desktop_id", "queue")},
        }
        return HandoffRequest.model_validate(request | options)

    async def held(self) -> Summary:
        """The one handoff that a person is waited for, once it is held."""

        async def held() -> Summary | None:
            return next((each for each in await self.handoffs.waiting() if each.state is HandoffState.HELD), None)

        return await until(held, 40)

    async def sign_in(self, summary: Summary) -> None:
        """The person signs in, by native input at the exact window."""
        assert summary.receipt is not None
        await person.sign_in(self.display, summary.receipt.surface.window_id, self.portal)

    async def answer(self, summary: Summary, answer: Answer = Answer.DONE) -> ReplyReceipt:
        """The person says how it went."""
        return await self.handoffs.reply(summary.handoff_id, Reply(answer=answer, by="robin"), new_id("r"))

    async def browser(self, summary: Summary) -> BrowserInfo:
        """The browser of a handoff, as its desktop knows it."""
        assert summary.receipt is not None
        browser_id = Association.parse(summary.handoff_id).browser_id
        return await self.ask(Activities.BROWSER_INFO, BrowserRequest(browser_id=browser_id), BrowserInfo)

    async def ask(self, name: str, request: object, result: type[R], *, seconds: float = 30) -> R:
        """Call an activity of the desktop, once."""
        answer: R = await self.client.execute_activity(
            name,
            args=[request],
            id=new_id("a"),
            task_queue=str(self.runner.facts()["queue"]),
            result_type=result,
            schedule_to_close_timeout=timedelta(seconds=seconds),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
        return answer

    async def type_only(self, summary: Summary) -> None:
        """The person types user name and password, and does not send them."""
        assert summary.receipt is not None
        await person.act("only-type", self.display, summary.receipt.surface.window_id, self.portal)

    async def look(self, summary: Summary) -> Snapshot:
        """What an agent sees of the page."""
        browser_id = Association.parse(summary.handoff_id).browser_id
        return await self.ask(Activities.SNAPSHOT, SnapshotRequest(browser_id=browser_id), Snapshot)

    async def look_again(self, handoff_id: str) -> None:
        """The agent's look that ends the recovery: not before the browser is back with it."""
        summary = await until(
            lambda: self.handoffs.summary(handoff_id), 30, wanted=lambda seen: seen.state is HandoffState.RECOVERING
        )
        await self.look(summary)

    async def refusal_of_an_effect(self, summary: Summary) -> ErrorCode:
        """The code with which an agent's effect on the page is refused."""
        browser_id = Association.parse(summary.handoff_id).browser_id
        effect = Navigate(browser_id=browser_id, effect_id=new_id("e"), url=self.portal.url)
        with pytest.raises(ActivityFailureError) as refused:
            await self.ask(Activities.NAVIGATE, effect, EffectReceipt)
        error = from_failure(refused.value)
        assert error is not None
        return error.code

    async def close(self, summary: Summary) -> None:
        """Close the browser, so that the next test has room."""
        request = BrowserRequest(browser_id=Association.parse(summary.handoff_id).browser_id)
        await self.ask(Activities.CLOSE_BROWSER, request, type(None))

    async def kill(self, part: Command) -> None:
        """Kill a part as a crash would."""
        assert part.pid is not None
        psutil.Process(part.pid).kill()
        await part.wait()


@contextlib.asynccontextmanager
async def running_stack(state: Path) -> AsyncIterator[Stack]:
    """Start all of it, and end all of it."""
    engine = EmbeddedTemporal(state, port=0, ui_port=0)
    server, runner = server_command(state, engine.address), runner_command(state, engine.address)
    async with contextlib.AsyncExitStack() as stack:
        for part in (engine, server, runner):
            stack.push_async_callback(part.stop)
            await part.start()
        portal = await stack.enter_async_context(Portal.start())
        client = await Client.connect(engine.address, plugins=[HandoffPlugin()])
        pool = stack.enter_context(ThreadPoolExecutor())
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=QUEUE,
                workflows=[ExportInvoices],
                activities=[count_rows],
                activity_executor=pool,
            )
        )
        yield Stack(state, engine, server, runner, client, HandoffClient(client), portal)


def server_command(state: Path, address: str) -> Command:
    """`handoff server` against the Temporal server at an address."""
    return Command("server", ["--port", "0"], state=state, env=embedded_environment(address))


def runner_command(state: Path, address: str) -> Command:
    """`handoff runner` likewise."""
    options = ["--virtual", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    return Command("runner", options, state=state, env=embedded_environment(address))


def secrets_left(stack: Stack) -> list[Any]:
    """Where any of the portal's secrets is found below the state folder."""
    from examples.demo.leaks import search_files

    return list(search_files(stack.portal.planted, [stack.state]))
