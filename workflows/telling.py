"""Whom a handoff tells of its changes: the UI, the list of handoffs, who asked, session, person and programs."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import FailureError

from user_handoff.contract.access import SignedIn
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import HandoffEvent, HandoffState
from user_handoff.contract.ids import session_workflow_id
from user_handoff.contract.names import EVENT_SIGNAL, SearchAttributes, Workflows
from user_handoff.workflows.desk import Desk
from user_handoff.workflows.news import Newsroom
from user_handoff.workflows.notices import Notices
from user_handoff.workflows.record import Record
from user_handoff.workflows.shown import details

_TO_THE_PARENT = (HandoffState.HELD, HandoffState.RECOVERING, HandoffState.EXPIRED)
"""What the workflow that asked acts on. How it ends is the result of its child, and needs no word."""

_PASSING = (HandoffState.FINISHING, HandoffState.RECOVERING)
"""States between an answer and the end; who lists handoffs asks each for its summary anyway."""

_STATE = SearchAttributeKey.for_keyword(SearchAttributes.STATE)


class Telling:
    """Tells what a record says.

    Attributes:
        lean: Passing states are not told to the list of handoffs: each word is an event.
        news: What programs are told.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._background: set[asyncio.Task[None]] = set()
        self.lean = True
        self.news = Newsroom(record)

    def began(self) -> None:
        """Say what can be searched for."""
        request = self._record.request
        workflow.upsert_search_attributes(
            [
                _STATE.value_set(self._record.state),
                SearchAttributeKey.for_keyword(SearchAttributes.BROWSER).value_set(request.browser_id),
                SearchAttributeKey.for_keyword(SearchAttributes.SESSION).value_set(request.session_id),
                SearchAttributeKey.for_keyword(SearchAttributes.CLIENT).value_set(request.client_id),
            ]
        )
        self.news.entered()
        self.show()

    def entered(self) -> None:
        """Say that there is another state."""
        state = self._record.state
        if not (self.lean and state in _PASSING):
            workflow.upsert_search_attributes([_STATE.value_set(state)])
        self.news.entered()
        self.show()
        if state in _TO_THE_PARENT and (state is not HandoffState.HELD or self._record.request.tell_held):
            self.parent()

    def show(self) -> None:
        """Renew what the UI shows."""
        workflow.set_current_details(details(self._record))

    def parent(self) -> None:
        """Tell the workflow that asked, if one did."""
        if workflow.info().parent:
            self._in_background(self._tell_parent())

    async def session(self) -> None:
        """Tell the session that a person has signed in. Before the end: who reads that, has it told already."""
        request = self._record.request
        handle = workflow.get_external_workflow_handle(session_workflow_id(request.session_id))
        try:
            await handle.signal(Workflows.SIGNED_IN, SignedIn(handoff_id=self._record.handoff_id))
        except FailureError as error:
            workflow.logger.info("The session has ended: %s", type(error).__name__)

    def person(self, desk: Desk) -> None:
        """Tell a person, in every way that was configured."""
        if desk.configured.notifies:
            self._in_background(self._notify(desk))
        if desk.configured.channels:
            self._in_background(Notices(self._record, desk.configured, self.show).run())

    async def _tell_parent(self) -> None:
        record, parent = self._record, workflow.info().parent
        assert parent is not None
        over = record.state.ended or record.state is HandoffState.EXPIRED
        event = HandoffEvent(
            handoff_id=record.handoff_id,
            state=record.state,
            pages=record.finish_receipt.pages if record.finish_receipt else (),
            outcome=record.outcome() if over else None,
        )
        try:
            await workflow.get_external_workflow_handle(parent.workflow_id).signal(EVENT_SIGNAL, event)
        except FailureError as error:
            workflow.logger.info("The workflow that asked is gone: %s", type(error).__name__)

    async def _notify(self, desk: Desk) -> None:
        assert self._record.deadline is not None
        link = await desk.notify(self._record.deadline)
        if isinstance(link, HandoffError):
            workflow.logger.warning("Nobody could be told: %s", link.code)
        elif link is not None:
            self._record.add_link(link)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
