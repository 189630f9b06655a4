"""Agents that are workflows. Each returns what it asked, and what came."""

import asyncio
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from tests.transcripts.steps import Log, Step
    from user_handoff.contract import browser as b
    from user_handoff.contract.conditions import AllOf, Element, Url
    from user_handoff.contract.failures import from_failure
    from user_handoff.contract.handoff import HandoffEvent, HandoffRequest, HandoffState, Outcome, Summary
    from user_handoff.contract.ids import session_workflow_id
    from user_handoff.contract.names import DESKTOPS_QUEUE, EVENT_SIGNAL, SERVER_QUEUE, Activities, Workflows
    from user_handoff.contract.runner import DesktopClaim
    from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, OpenSession, PostMessage
    from user_handoff.workflows.agent import Desktop, Session
    from user_handoff.workflows.browser import mint
    from user_handoff.workflows.nexus import RemoteHandoffs

T = TypeVar("T")

QUEUE = "transcripts"
ENDPOINT = "user-handoff"
OWNER = "agent:transcripts"
INSTRUCTIONS = "Sign in to the portal."
SIGNED_IN = AllOf(Url("**/invoices"), Element(role="heading", name="Invoices"))
_ONCE = RetryPolicy(maximum_attempts=1)


@workflow.defn
class Agent:
    """Uses `user_handoff.workflows.agent`."""

    @workflow.run
    async def run(self, portal: str) -> list[Step]:
        log = Log("agent", workflow.time)
        session = await log.ask("Session.open(owner)", Session.open(owner=OWNER), lambda s: s.session_id)
        desktop = await log.ask("Desktop.claim()", Desktop.claim(), lambda d: d.desktop_id)
        url = f"{portal}/invoices"
        opening = desktop.open_browser(url, session=session)
        browser = await log.ask(f'desktop.open_browser("{url}", session)', opening, lambda found: found.browser_id)
        page = await log.ask("browser.snapshot()", browser.snapshot())
        asking = browser.begin_handoff(session, page.boundary, instructions=INSTRUCTIONS, verify=SIGNED_IN)
        handoff = await log.ask(
            "browser.begin_handoff(session, boundary, instructions, verify)", asking, lambda found: found.handoff_id
        )
        await log.ask("handoff.held()", handoff.held(), lambda _: "a person has the browser")
        await log.refused(f'browser.navigate("{portal}/")', browser.navigate(f"{portal}/"))
        outcome = await log.ask(
            "handoff.outcome(), which looks at each page when the person is done", handoff.outcome()
        )
        outcome.require_verified()
        page = await log.ask("browser.snapshot()", browser.snapshot())
        export = page.find(role="button", name="Export")
        await log.ask('browser.download(page.find(role="button", name="Export"))', browser.download(export))
        await log.ask("browser.close()", browser.close(), lambda _: "closed")
        return log.steps


@workflow.defn
class Parent:
    """Starts the Handoff workflow as its child and calls the desktop's activities, all by their names."""

    def __init__(self) -> None:
        self._told: set[HandoffState] = set()
        self._log = Log("parent", workflow.time)
        self._queue = DESKTOPS_QUEUE

    @workflow.signal(name=EVENT_SIGNAL)
    def told(self, event: HandoffEvent) -> None:
        """A handoff of this workflow's says where it stands."""
        self._told.add(event.state)

    @workflow.run
    async def run(self, portal: str) -> list[Step]:
        log = self._log
        session_id, message_id, browser_id = mint("s"), mint("m"), mint("b")
        of = {"browser_id": browser_id}
        await log.ask("child Session", self._open_session(session_id), lambda _: session_id)
        claim = await self._activity(Activities.CLAIM_DESKTOP, None, DesktopClaim, lambda found: found.desktop_id)
        self._queue = claim.queue
        spec = b.OpenBrowser(**of, session_id=session_id, owner=OWNER, url=f"{portal}/invoices")
        await self._activity(Activities.OPEN_BROWSER, spec, b.BrowserInfo)
        wall = await self._activity(Activities.SNAPSHOT, b.SnapshotRequest(**of), b.Snapshot)
        message = PostMessage(message_id=message_id, text=INSTRUCTIONS)
        posting = workflow.get_external_workflow_handle(session_workflow_id(session_id)).signal(Workflows.POST, message)
        await log.ask("signal post to the Session", posting, lambda _: message_id)
        request = HandoffRequest(
            **of,
            session_id=session_id,
            message_id=message_id,
            client_id=claim.client_id,
            desktop_id=claim.desktop_id,
            queue=claim.queue,
            owner=OWNER,
            instructions=INSTRUCTIONS,
            boundary=wall.boundary,
            verify=SIGNED_IN,
        )
        child: Any = await log.ask("child Handoff", self._hand_over(request), lambda _: request.handoff_id)
        await self._until(HandoffState.HELD)
        await log.refused("activity browser_navigate", self._navigate(of, portal))
        await self._until(HandoffState.RECOVERING)
        for page in (await self._activity(Activities.BROWSER_INFO, b.BrowserRequest(**of), b.BrowserInfo)).pages:
            await self._activity(Activities.SNAPSHOT, b.SnapshotRequest(**of, page_id=page.page_id), b.Snapshot)
        outcome: Outcome = await log.ask("the child's result", child)
        outcome.require_verified()
        fresh = await self._activity(Activities.SNAPSHOT, b.SnapshotRequest(**of), b.Snapshot)
        export = fresh.find(role="button", name="Export")
        download = b.Download(**of, effect_id=mint("e"), element_id=export)
        await self._activity(Activities.DOWNLOAD, download, b.DownloadReceipt)
        await self._activity(Activities.CLOSE_BROWSER, b.BrowserRequest(**of), type(None), lambda _: "closed")
        return log.steps

    async def _open_session(self, session_id: str) -> None:
        await workflow.start_child_workflow(
            Workflows.SESSION,
            OpenSession(session_id=session_id, owner=OWNER, scopes=SCOPES_OF_A_HANDOFF),
            id=session_workflow_id(session_id),
            task_queue=SERVER_QUEUE,
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
        )

    async def _hand_over(self, request: HandoffRequest) -> Any:
        return await workflow.start_child_workflow(
            Workflows.HANDOFF, request, id=request.handoff_id, task_queue=SERVER_QUEUE, result_type=Outcome
        )

    async def _until(self, state: HandoffState) -> None:
        waiting = workflow.wait_condition(lambda: state in self._told)
        await self._log.ask(f"waits for signal {EVENT_SIGNAL}", waiting, lambda _: state)

    async def _navigate(self, of: dict[str, Any], portal: str) -> None:
        effect = b.Navigate(**of, effect_id=mint("e"), url=f"{portal}/")
        try:
            await _on_desktop(self._queue, Activities.NAVIGATE, effect, b.EffectReceipt)
        except ActivityError as failure:
            raise from_failure(failure) or failure from failure

    async def _activity(self, name: str, arg: Any, result: type[T], told: Any = lambda found: found) -> T:
        return await self._log.ask(f"activity {name}", _on_desktop(self._queue, name, arg, result), told)


async def _on_desktop(queue: str, name: str, arg: Any, result: type[T]) -> T:
    found: T = await workflow.execute_activity(
        name,
        args=[] if arg is None else [arg],
        task_queue=queue,
        result_type=result,
        start_to_close_timeout=timedelta(minutes=2),
        retry_policy=_ONCE,
    )
    return found


@workflow.defn
class Remote:
    """Hands over through Nexus. The browser is driven by activities of its own worker, with `DesktopClient`."""

    @workflow.run
    async def run(self, portal: str) -> list[Step]:
        log = Log("agent", workflow.time)
        remote = RemoteHandoffs(ENDPOINT)
        request = await log.ask(
            "its own activity open_at_the_wall", _own("open_at_the_wall", portal, HandoffRequest), lambda r: r.boundary
        )
        of, queue = {"browser_id": request.browser_id}, request.queue
        receipt = await log.ask("Nexus begin(request)", remote.begin(request))
        navigate = b.Navigate(**of, effect_id=mint("e"), url=f"{portal}/")
        await log.refused("its own activity act: Navigate", _own_refused("act", [queue, navigate]))
        ending = asyncio.create_task(remote.handoff(request))
        await log.ask("Nexus summary(handoff_id), until it is recovering", _recovering(remote, receipt.handoff_id))
        await log.ask("its own activity look_everywhere", _own("look_everywhere", request, str))
        outcome = await log.ask("Nexus handoff(request), asked since it was held", ending)
        outcome.require_verified()
        await log.ask("its own activity export", _own("export", request, b.DownloadReceipt))
        await log.ask("its own activity close", _own("close", request, type(None)), lambda _: "closed")
        return log.steps


async def _recovering(remote: RemoteHandoffs, handoff_id: str) -> Summary:
    while (now := await remote.summary(handoff_id)).state is HandoffState.HELD or now.state is HandoffState.FINISHING:
        await workflow.sleep(timedelta(milliseconds=500))
    return now


async def _own(name: str, arg: Any, result: type[T]) -> T:
    found: T = await workflow.execute_activity(
        name,
        args=arg if isinstance(arg, list) else [arg],
        result_type=result,
        start_to_close_timeout=timedelta(minutes=2),
        retry_policy=_ONCE,
    )
    return found


async def _own_refused(name: str, args: list[Any]) -> None:
    try:
        await _own(name, args, b.EffectReceipt)
    except ActivityError as failure:
        raise from_failure(failure) or failure from failure
