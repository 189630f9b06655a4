"""The story of the demo, step by step, on real parts."""

import asyncio
import contextlib
import os
import shutil
import time
import urllib.parse
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path

import httpx
from temporalio.client import ActivityFailureError, Client, WorkflowHandle
from temporalio.worker import Worker

from examples import person
from examples.agent import INSTRUCTIONS, QUEUE, Exported, ExportInvoices, count_rows
from examples.demo.attempts import Desk
from examples.demo.camera import desktop_picture, web_picture
from examples.demo.engine import Engine, running_engine
from examples.demo.leaks import Leak, search_files, search_text
from examples.demo.processes import Run
from examples.demo.report import Report
from examples.portal import Portal
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.contract.browser import BrowserInfo
from user_handoff.contract.handoff import Summary
from user_handoff.contract.ids import Association
from user_handoff.gateway.links import issue_link
from user_handoff.plugin import HandoffPlugin

_READ_SECONDS = 10
"""For how long a person can read what their page says at the end."""


@dataclass
class Story:
    """One run of the demo.

    Attributes:
        run: Marks the processes, and has the state folder.
        pictures: Where pictures go.
        me: True where the reader is the person.
        report: Filled in as things happen.
    """

    run: Run
    pictures: Path
    me: bool
    report: Report

    def __post_init__(self) -> None:
        self._began = time.monotonic()
        self._said: list[str] = []
        self._seen: list[str] = []
        self._token = ""

    def say(self, text: str) -> None:
        """Tell the reader one step, with the seconds since the start."""
        self._said.append(text)
        self.show(f"{time.monotonic() - self._began:5.1f}s  {text}")

    def show(self, text: str) -> None:
        """Print a line that holds what is shown once and kept nowhere, such as a link."""
        print(text, flush=True)

    async def tell(self) -> None:
        """Play the story from start to end; whatever happens, nothing is left running."""
        try:
            async with Portal.start() as portal:
                self.say(f"A portal runs at {portal.url}: password, one-time code, invoices behind them.")
                virtual = not (self.me and os.environ.get("DISPLAY"))
                async with running_engine(self.run, virtual=virtual) as engine:
                    self.say(f"`handoff up` is ready. Temporal UI: {engine.ui_url}")
                    await self._act(portal, engine)
                    self._search(portal)
                self.say("Everything was ended.")
                self._search(portal)
        finally:
            self.report.left_running = [found.command[:120] for found in await self.run.end()]
            self.report.seconds = round(time.monotonic() - self._began, 1)

    async def _act(self, portal: Portal, engine: Engine) -> None:
        client = await connect_temporal(address=engine.address, plugins=[HandoffPlugin()])
        worker = Worker(client, task_queue=QUEUE, workflows=[ExportInvoices], activities=[count_rows])
        async with worker:
            agent = await client.start_workflow(ExportInvoices.run, portal.url, id="demo-agent", task_queue=QUEUE)
            self.say("The agent's workflow started: export the invoices.")
            held = await self._until_held(HandoffClient(client), agent)
            desk = await Desk.of(client, Association.parse(held.handoff_id).browser_id)
            before = await desk.info()
            await self._while_held(client, portal, engine, held, desk)
            await self._finish(portal, agent, desk, before, HandoffClient(client), held.handoff_id)

    async def _until_held(self, handoffs: HandoffClient, agent: WorkflowHandle[ExportInvoices, Exported]) -> Summary:
        ending = asyncio.create_task(agent.result())
        try:
            async with asyncio.timeout(45):
                while not ending.done():
                    for summary in await handoffs.waiting():
                        if summary.receipt is not None:
                            return self._held(summary)
                    await asyncio.sleep(0.1)
            raise RuntimeError(f"the agent ended without a handoff: {ending.result()}")
        finally:
            ending.cancel()

    def _held(self, summary: Summary) -> Summary:
        assert summary.receipt is not None
        surface = summary.receipt.surface
        self.report.handoff_id = summary.handoff_id
        reason = summary.boundary.reason if summary.boundary else "a wall"
        self.say(f"The agent met {reason} and handed over: {summary.handoff_id}")
        self.say(
            f"Held. Window {surface.window_id:#x} of process {surface.pid}, "
            f"for {summary.receipt.expires_in_seconds:.0f} s at most."
        )
        return summary

    async def _while_held(self, client: Client, portal: Portal, engine: Engine, held: Summary, desk: Desk) -> None:
        await self._agent_tries(portal, desk)
        link = await issue_link(HandoffClient(client), engine.gateway_url, held.handoff_id)
        self._token = link.rsplit("/", 1)[1]
        run_id = (await client.get_workflow_handle(held.handoff_id).describe()).run_id
        path = f"{urllib.parse.quote(held.handoff_id, safe='')}/{run_id}/user-metadata"
        ui = f"{engine.ui_url}/namespaces/default/workflows/{path}"
        self.show(f"        The person's page: {link}")
        self.show(f"        In Temporal's UI:  {ui}")
        await self._keep_picture(desktop_picture(engine.display.environment(), self.pictures / "desktop-held.png"))
        async with asyncio.TaskGroup() as group:
            if not self.me:
                # A link lets in one browser: the picture has one of its own, which the person would be told of.
                shown = await issue_link(HandoffClient(client), engine.gateway_url, held.handoff_id)
                group.create_task(self._keep_picture(web_picture(shown, self.pictures / "page.png", height=800)))
            group.create_task(self._keep_picture(web_picture(ui, self.pictures / "temporal-ui.png", height=1500)))
            if self.me:
                self._ask_reader(portal, engine)
            else:
                await self._play_person(portal, engine, held, desk)
        if not self.me:
            await self._answer(link)

    async def _agent_tries(self, portal: Portal, desk: Desk) -> None:
        page = await desk.snapshot()
        self._seen.append(page.text)
        for attempt in await desk.try_effects(portal.url, page):
            self.say(f"The agent tries to {attempt.what}: {f'refused, {attempt.code}' if attempt.code else 'DONE'}")
            if attempt.code:
                self.report.refusals.append(attempt.code)
        if portal.state()["touches"] or "GET /windows" in portal.state()["requests"]:
            self.report.problems.append("An effect of the agent reached the portal while it was held.")
        self.report.effects_refused_while_held = len(self.report.refusals)

    async def _keep_picture(self, taking: Awaitable[Path]) -> None:
        path = await taking
        self.report.pictures.append(str(path))
        self.say(f"Picture: {path}")

    def _ask_reader(self, portal: Portal, engine: Engine) -> None:
        self.show("\n        You are the person. Open the person's page, and in the browser's window sign in with:")
        self.show(f"          user name  {portal.username}\n          password   {portal.password}")
        self.show(f"          code       {portal.code}")
        if engine.display.rfb_socket:
            self.show("        The page shows the window, which has a display of its own: press Take control to type.")
        self.show("        Then press Done on the page.\n")

    async def _play_person(self, portal: Portal, engine: Engine, held: Summary, desk: Desk) -> None:
        assert held.receipt is not None
        self.say("The person signs in at that window, by native keyboard and mouse only.")
        hands = asyncio.create_task(
            person.sign_in(engine.display.environment(), held.receipt.surface.window_id, portal)
        )
        try:
            self.report.secrets_where += _told(search_text(portal.planted, "processes", self.run.texts()))
            while not hands.done():
                with contextlib.suppress(ActivityFailureError):  # the page may be between two documents
                    self._seen.append((await desk.snapshot()).text)
                await asyncio.wait({hands}, timeout=0.2)
            await hands
        finally:
            hands.cancel()
            await asyncio.wait({hands})
        self.say("The portal let the person in.")

    async def _answer(self, link: str) -> None:
        async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
            page = await browser.get(link)
            page.raise_for_status()
            entry = page.text.split('name="entry" value="')[1].split('"')[0]
            (await browser.post(f"{link}/enter", data={"step": "enter", "entry": entry})).raise_for_status()
            answer = await browser.post(f"{link}/reply", data={"answer": "done", "note": "signed in"})
            answer.raise_for_status()
        self.say("The person answered Done on their page.")

    async def _finish(
        self,
        portal: Portal,
        agent: WorkflowHandle[ExportInvoices, Exported],
        desk: Desk,
        before: BrowserInfo,
        handoffs: HandoffClient,
        handoff_id: str,
    ) -> None:
        outcome = await handoffs.result(handoff_id)
        self.report.outcome, self.report.verified = str(outcome.result), outcome.verified
        facts = "; ".join(outcome.observation.facts) if outcome.observation else "nothing"
        self.say(f"Taken back, and checked: {outcome.result} ({facts}).")
        exported = await agent.result()
        self.report.exported_rows = exported.rows
        self.say(f"The agent went on in the same browser and exported {exported.rows} invoices.")
        after = await desk.info()
        self._seen.append((await desk.snapshot()).text)
        self.report.same_browser = before.pid == after.pid and {p.page_id for p in before.pages} <= {
            p.page_id for p in after.pages
        }
        picture = await desk.picture()
        await self._keep_picture(asyncio.to_thread(shutil.copyfile, picture.path, self.pictures / "invoices.png"))
        if self.me:
            self.say(f"The person's page says what the agent found. All of this ends in {_READ_SECONDS} s.")
            await asyncio.sleep(_READ_SECONDS)

    def _search(self, portal: Portal) -> None:
        wanted = {**portal.planted, "link": (self._token,) if self._token else ()}
        roots = [self.run.state, self.run.state.parent / "up.log"]
        leaks = search_files(wanted, roots)
        if self.report.handoff_id and not search_files({"control": (INSTRUCTIONS,)}, roots):
            self.report.problems.append("The search is blind: it does not even find the instructions in the history.")
        leaks += search_text(wanted, "what was printed", "\n".join(self._said))
        for number, text in enumerate(self._seen):
            leaks += search_text(wanted, f"snapshot {number}", text)
        known = set(self.report.secrets_where)
        self.report.secrets_where += [text for text in _told(leaks) if text not in known]
        self.report.secrets_found = len(self.report.secrets_where)


def _told(leaks: list[Leak]) -> list[str]:
    return [f"{leak.kind} in {leak.where}" for leak in leaks]
