"""The life of one takeover: a person has the browser, gives it back, and the agent looks. It has a start and an end.

The desktop decides: its lease and its clocks end a takeover, whether this workflow runs or not. What is here is what
others can read and ask. A heartbeat never comes here.
"""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.handoff import RevokeReason
from user_handoff.contract.names import SearchAttributes, Workflows
from user_handoff.contract.takeover import (
    GiveBack,
    ReturnTakeover,
    TakeoverBegun,
    TakeoverEnd,
    TakeoverNow,
    TakeoverRequest,
    TakeoverState,
    TakeoverSummary,
)
from user_handoff.workflows.takeover_desk import TakeoverDesk

_BEGIN = "Wait until the person has the browser. Asking again changes nothing."
_GIVE_BACK = "The person gives the browser back; the agent has to look before it acts."
_CANCEL = "The person wants nothing after all. The browser goes back in the same order."
_SUMMARY = "Who took the browser over, why, until when, and what became of it."

_UNSURE = (ErrorCode.RUNNER_LOST, ErrorCode.FAILED, ErrorCode.OUTCOME_UNKNOWN)
"""Refusals after which the person may have the browser all the same."""


@workflow.defn(name=Workflows.TAKEOVER)
class TakeoverWorkflow:
    """One takeover of one browser. To cancel it is to give the browser back."""

    @workflow.init
    def __init__(self, request: TakeoverRequest) -> None:
        self._desk = TakeoverDesk(request)
        self._begun: TakeoverBegun | None = None
        self._refusal: HandoffError | None = None
        self._wanted: ReturnTakeover | None = None
        self._returning: asyncio.Task[Any] | None = None
        self._failed: HandoffError | None = None
        self._summary = TakeoverSummary(
            takeover_id=request.takeover_id,
            browser_id=request.browser_id,
            state=TakeoverState.REQUESTED,
            role=request.role,
            by=request.by,
            cause=request.cause,
            why=request.why,
            requested_at=workflow.now(),
            client_id=request.client_id,
            queue=request.queue,
        )

    @workflow.run
    async def run(self, request: TakeoverRequest) -> TakeoverSummary:
        """Live until the agent has looked, or the browser is gone."""
        workflow.upsert_search_attributes(
            [
                SearchAttributeKey.for_keyword(SearchAttributes.BROWSER).value_set(request.browser_id),
                SearchAttributeKey.for_keyword(SearchAttributes.CLIENT).value_set(request.client_id),
            ]
        )
        await self._begin()
        guard: asyncio.Task[Any] | None = None
        while not self._summary.state.ended:
            guard = guard or asyncio.create_task(self._desk.guard(self._summary.state))
            await self._until_something(guard)
            if guard.done():
                self._on_guarded(guard.result())
                guard = None
            if self._returning is not None and self._returning.done():
                self._on_returned(self._returning.result())
            if self._wanted is not None and self._returning is None and self._summary.state is TakeoverState.HELD:
                self._failed = None
                self._returning = asyncio.create_task(self._desk.give_back(self._wanted))
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self._summary

    async def _begin(self) -> None:
        answer = await self._desk.begin()
        if isinstance(answer, HandoffError):
            self._refusal = answer
            self._enter(TakeoverState.REFUSED, code=answer.code, message=answer.what)
            if answer.code in _UNSURE:
                await self._desk.give_back(self._desk.return_as("cancelled", ""))
            return
        self._begun = answer
        self._enter(TakeoverState.HELD, began_at=workflow.now(), expires_at=answer.expires_at)

    async def _until_something(self, guard: "asyncio.Task[Any]") -> None:
        def stirred() -> bool:
            wanted = self._wanted is not None and self._returning is None
            returned = self._returning is not None and self._returning.done()
            return guard.done() or returned or (wanted and self._summary.state is TakeoverState.HELD)

        try:
            await workflow.wait_condition(stirred)
        except asyncio.CancelledError:
            self._want("cancelled")

    def _on_guarded(self, now: TakeoverNow | HandoffError) -> None:
        if isinstance(now, HandoffError):
            self._enter(TakeoverState.ENDED, how=TakeoverEnd.REVOKED, reason=str(RevokeReason.RUNNER_LOST))
        else:
            self._stands(now)

    def _on_returned(self, now: TakeoverNow | HandoffError) -> None:
        self._returning, self._wanted = None, None
        if isinstance(now, HandoffError):
            self._failed = now
        elif not self._summary.state.ended:
            self._stands(now)

    def _stands(self, now: TakeoverNow) -> None:
        facts = {name: getattr(now, name) for name in ("how", "reason", "seconds", "changes")}
        self._enter(now.state, **{name: value for name, value in facts.items() if value is not None})

    def _enter(self, state: TakeoverState, **facts: Any) -> None:
        self._summary = self._summary.model_copy(update={"state": state, **facts})
        how = f", {self._summary.how}" if self._summary.how else ""
        workflow.set_current_details(f"## Takeover of `{self._summary.browser_id}`: {state}{how}")

    def _want(self, how: str, note: str = "") -> None:
        # What is said once it is over is told to no agent, and stands in no summary.
        if self._wanted is None and self._summary.state in (TakeoverState.REQUESTED, TakeoverState.HELD):
            self._wanted = self._desk.return_as(how, note)
            self._summary = self._summary.model_copy(update={"note": note})

    async def _given_back(self) -> TakeoverSummary:
        await workflow.wait_condition(
            lambda: self._summary.state not in (TakeoverState.REQUESTED, TakeoverState.HELD) or self._failed is not None
        )
        failed, self._failed = self._failed, None
        if failed is not None and self._summary.state is TakeoverState.HELD:
            raise to_failure(failed)
        return self._summary

    @workflow.update(name=Workflows.BEGIN, description=_BEGIN)
    async def begin(self) -> TakeoverBegun:
        """Wait for it: the receipt, or the refusal as a typed failure."""
        await workflow.wait_condition(lambda: self._summary.state is not TakeoverState.REQUESTED)
        if self._begun is None:
            raise to_failure(self._refusal or _over(self._summary))
        return self._begun

    @workflow.update(name=Workflows.GIVE_BACK, description=_GIVE_BACK)
    async def give_back(self, give_back: GiveBack | None = None) -> TakeoverSummary:
        """Give it back; asked again, what became of it."""
        self._want("returned", give_back.note if give_back else "")
        return await self._given_back()

    @workflow.signal(name=Workflows.GIVE_BACK, description=_GIVE_BACK)
    def give_back_signal(self, give_back: GiveBack | None = None) -> None:
        """The same without a receipt."""
        self._want("returned", give_back.note if give_back else "")

    @workflow.update(name=Workflows.CANCEL, description=_CANCEL)
    async def cancel(self) -> TakeoverSummary:
        """Give it back without a word."""
        self._want("cancelled")
        return await self._given_back()

    @workflow.signal(name=Workflows.CANCEL, description=_CANCEL)
    def cancel_signal(self) -> None:
        """The same without a receipt."""
        self._want("cancelled")

    @workflow.query(name=Workflows.SUMMARY, description=_SUMMARY)
    def summary(self) -> TakeoverSummary:
        """Tell, also after the end."""
        return self._summary


def _over(summary: TakeoverSummary) -> HandoffError:
    return make_error(
        ErrorCode.LEASE_LOST,
        "This takeover is over.",
        holds="Nothing more is typed under it.",
        do_next="Take the browser over anew.",
        takeover_id=summary.takeover_id,
    )
