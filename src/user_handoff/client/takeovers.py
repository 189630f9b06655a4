"""Taking a browser over from its agent, and giving it back, as programs of a person do it."""

from typing import Any

from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from user_handoff.client.calls import safe_id, told_by_each
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, make_error
from user_handoff.contract.ids import new_id, parse_takeover
from user_handoff.contract.names import SearchAttributes, Workflows, desktop_queue
from user_handoff.contract.takeover import GiveBack, TakeoverBegun, TakeoverRequest, TakeoverSummary, unknown_takeover


class TakeoverClient(DesktopClient):
    """Takeovers by name, over a Temporal client. A lease is renewed at its desktop, and never by the workflow."""

    async def take_over(self, request: TakeoverRequest) -> TakeoverBegun:
        """Take a browser over, and wait until its agent waits.

        The same request again is told what it was told at first, also after the end.

        Raises:
            Held: ``lease_taken``: another person acts on that desktop; or ``reservation_closed``.
            Refused: The code says why; nothing is held.
            OutcomeUnknown: No receipt came in time: make the same request again.
        """

        async def call() -> TakeoverBegun:
            start: WithStartWorkflowOperation[Any, TakeoverSummary] = WithStartWorkflowOperation(
                Workflows.TAKEOVER,
                request,
                id=request.takeover_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
            receipt: TakeoverBegun = await self.temporal.execute_update_with_start_workflow(
                Workflows.BEGIN, start_workflow_operation=start, id="begin", result_type=TakeoverBegun
            )
            return receipt

        try:
            return await self._again(call, request.takeover_id, receipt=True)
        except WorkflowAlreadyStartedError:
            return await self.begun(request.takeover_id)

    async def begun(self, takeover_id: str) -> TakeoverBegun:
        """The receipt of a takeover that was asked for before.

        Raises:
            Gone: ``unknown_takeover``: it was not.
            HandoffError: What it was refused with.
        """
        handle = self.temporal.get_workflow_handle(_checked(takeover_id))
        begin = handle.get_update_handle("begin", result_type=TakeoverBegun)
        return await self._again(begin.result, takeover_id, receipt=True)

    async def request_for(self, browser_id: str, **options: Any) -> TakeoverRequest:
        """A request for a browser, wherever it lives.

        Args:
            browser_id: Which browser.
            options: More fields of `TakeoverRequest`.

        Raises:
            Gone: ``unknown_browser``: no desktop that is online has it.
        """
        for desktop in sorted(await self.desktops(), key=lambda each: browser_id not in each.browsers):
            try:
                info = await self.info(desktop.queue, browser_id)
            except HandoffError:
                continue
            return TakeoverRequest(
                browser_id=browser_id,
                client_id=info.client_id,
                desktop_id=info.desktop_id,
                queue=desktop_queue(info.client_id, info.desktop_id),
                **options,
            )
        raise make_error(
            ErrorCode.UNKNOWN_BROWSER,
            "No desktop that is online has this browser.",
            holds="Nothing was begun.",
            do_next="Check its id: `handoff browsers list` names those of all desktops that are online.",
            browser_id=browser_id[:64],
        )

    async def give_back(self, takeover_id: str, note: str = "") -> TakeoverSummary:
        """Give the browser back; asked again, what became of it.

        Raises:
            Gone: ``unknown_takeover``.
            OutcomeUnknown: No receipt came in time: call again.
        """
        return await self._end(takeover_id, Workflows.GIVE_BACK, GiveBack(note=note))

    async def cancel(self, takeover_id: str) -> TakeoverSummary:
        """Give the browser back without a word.

        Raises:
            Gone: ``unknown_takeover``.
            OutcomeUnknown: No receipt came in time: call again.
        """
        return await self._end(takeover_id, Workflows.CANCEL, None)

    async def takeover(self, takeover_id: str) -> TakeoverSummary:
        """What holds now, also after the end.

        Raises:
            Gone: ``unknown_takeover``.
            SetupError: ``temporal_unreachable``.
        """
        handle = self.temporal.get_workflow_handle(_checked(takeover_id))
        return await self._again(lambda: handle.query(Workflows.SUMMARY, result_type=TakeoverSummary), takeover_id)

    async def takeovers(self, *, browser_id: str = "", ended: bool = False, limit: int = 50) -> list[TakeoverSummary]:
        """The takeovers that go on, newest first; what is listed lags a moment behind.

        Args:
            browser_id: Only those of this browser.
            ended: Those that have ended, too.
            limit: Look at so many at most.
        """
        terms = [f"WorkflowType = '{Workflows.TAKEOVER}'"] + ([] if ended else ["ExecutionStatus = 'Running'"])
        if browser_id:
            terms.append(f"{SearchAttributes.BROWSER} = '{safe_id(browser_id)}'")

        async def listed() -> list[str]:
            return [row.id async for row in self.temporal.list_workflows(" AND ".join(terms), limit=limit)]

        found = await told_by_each(await self._again(listed, ""), self.takeover)
        return [summary for summary in found if ended or not summary.state.ended]

    async def _end(self, takeover_id: str, name: str, arg: object) -> TakeoverSummary:
        handle = self.temporal.get_workflow_handle(_checked(takeover_id))
        args = [] if arg is None else [arg]
        update_id = f"{name}.{new_id('x')}"
        try:
            return await self._again(
                lambda: handle.execute_update(name, args=args, id=update_id, result_type=TakeoverSummary),
                takeover_id,
                receipt=True,
            )
        except Gone:
            return await self.takeover(takeover_id)


def _checked(takeover_id: str) -> str:
    try:
        parse_takeover(takeover_id)
    except ValueError as error:
        raise unknown_takeover(takeover_id) from error
    return takeover_id
