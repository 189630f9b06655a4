"""What needs no desktop: may this agent hand over, tell a person, and the holds of a desktop that was replaced."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowQueryRejectedError, WorkflowUpdateFailedError
from temporalio.common import QueryRejectCondition
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.activities.notifying.settings import NotifySettings
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import from_failure, to_failure
from user_handoff.contract.handoff import LinkGrant, Notice, Revocation, RevokeReason
from user_handoff.contract.ids import principal_workflow_id, session_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Activities, SearchAttributes, Workflows
from user_handoff.contract.runner import RevokeDesktop
from user_handoff.contract.session import (
    SCOPES_OF_A_HANDOFF,
    Authorize,
    Authorized,
    CurrentRequest,
    CurrentSession,
    MessageState,
    SessionChange,
    SessionView,
)

logger = logging.getLogger(__name__)

Notifier = Callable[[Notice], Awaitable[LinkGrant | None]]
"""Tells a person, and returns the hash of the link that it made for them, or None where it made none.

It may be called again for the same handoff after a failure; only the link of the last call counts.
"""


class ServerActivities:
    """The activities of the server queue.

    Args:
        client: For asking sessions and for signalling handoffs. Its data converter must know our models.
        notifier: Who tells a person; None: nobody does.
        settings: Whom else this server tells, and how; what is asked of it is what workflows are told.
    """

    def __init__(
        self, client: Client, notifier: Notifier | None = None, settings: NotifySettings | None = None
    ) -> None:
        self._client = client
        self._notifier = notifier
        self._settings = settings or NotifySettings()

    def all(self) -> Sequence[Callable[..., Any]]:
        """Everything that a worker of the server queue registers."""
        return [self.authorize, self.notify, self.revoke_desktop, self.tell_principal, self.current_session]

    @activity.defn(name=Activities.AUTHORIZE)
    async def authorize(self, ask: Authorize) -> Authorized:
        """Refuse unless the message is open, in an open session, of this owner, who was granted what it takes."""
        if refusal := _refusal(ask, await self._view(ask.session_id)):
            # Programs are told of a refusal, too.
            raise to_failure(refusal, *([self._authorized()] if self._settings.endpoints else []))
        return self._authorized()

    @activity.defn(name=Activities.NOTIFY)
    async def notify(self, notice: Notice) -> LinkGrant | None:
        """Tell a person. The link stays here: what goes back into history is its hash."""
        return await self._notifier(notice) if self._notifier else None

    @activity.defn(name=Activities.REVOKE_DESKTOP)
    async def revoke_desktop(self, replaced: RevokeDesktop) -> int:
        """Signal every open handoff of that machine; those of another desktop ignore it. Returns how many were told."""
        query = (
            f"WorkflowType = '{Workflows.HANDOFF}' AND ExecutionStatus = 'Running'"
            f" AND {SearchAttributes.CLIENT} = '{replaced.client_id}'"
        )
        revocation = Revocation(reason=RevokeReason.RUNNER_REPLACED, desktop_id=replaced.desktop_id)
        told = 0
        async for found in self._client.list_workflows(query):
            handle = self._client.get_workflow_handle(found.id, run_id=found.run_id)
            try:
                await handle.signal(Workflows.REVOKE, revocation)
                told += 1
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:  # ended meanwhile
                    raise
        logger.info("desktop %s was replaced; %d handoffs were told", replaced.desktop_id, told)
        return told

    @activity.defn(name=Activities.TELL_PRINCIPAL)
    async def tell_principal(self, change: SessionChange) -> None:
        """Tell what keeps a principal's sessions, which begins with the first of them."""
        await self._client.start_workflow(
            Workflows.PRINCIPAL,
            id=principal_workflow_id(change.owner),
            task_queue=SERVER_QUEUE,
            start_signal=Workflows.TELL,
            start_signal_args=[change],
        )

    @activity.defn(name=Activities.CURRENT_SESSION)
    async def current_session(self, ask: CurrentRequest) -> CurrentSession:
        """The exact session that a principal means by `current`."""
        principal = self._client.get_workflow_handle(principal_workflow_id(ask.owner))
        try:
            # The key names the one answer, so a lost one is given again.
            found: CurrentSession = await principal.execute_update(
                Workflows.CURRENT, ask, id=f"current.{ask.key}", result_type=CurrentSession
            )
            return found
        except WorkflowUpdateFailedError as failure:
            raise to_failure(from_failure(failure) or _no_session()) from failure
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise to_failure(_no_session()) from error
            raise

    def _authorized(self) -> Authorized:
        told = self._settings
        return Authorized(
            notifies=self._notifier is not None,
            channels=tuple(channel.info for channel in told.channels),
            reminders=told.reminders,
            endpoints=tuple(endpoint.info for endpoint in told.endpoints),
        )

    async def _view(self, session_id: str) -> SessionView | None:
        handle = self._client.get_workflow_handle(session_workflow_id(session_id))
        try:
            view: SessionView = await handle.query(
                Workflows.VIEW,
                result_type=SessionView,
                # One that was ended by force never said that it is closed.
                reject_condition=QueryRejectCondition.NOT_COMPLETED_CLEANLY,
            )
            return view
        except WorkflowQueryRejectedError:
            return None
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise


def _no_session() -> HandoffError:
    return make_error(
        ErrorCode.SESSION_NOT_FOUND,
        "This principal has no open session.",
        holds="Nothing was done.",
        do_next="Open one.",
    )


def _refusal(ask: Authorize, view: SessionView | None) -> HandoffError | None:
    def refuse(code: ErrorCode, what: str, do_next: str, **more: str) -> HandoffError:
        return make_error(
            code,
            what,
            holds="Nothing is held.",
            do_next=do_next,
            session_id=ask.session_id,
            message_id=ask.message_id,
            **more,
        )

    if view is None:
        return refuse(ErrorCode.SESSION_NOT_FOUND, "There is no such session.", "Open one.")
    if view.owner != ask.owner:
        return refuse(ErrorCode.NOT_OWNER, "The session is somebody else's.", "Use a session of your own.")
    if view.closed:
        return refuse(ErrorCode.SESSION_CLOSED, "The session is closed.", "Open another.")
    missing = ", ".join(scope for scope in SCOPES_OF_A_HANDOFF if scope not in view.scopes)
    if missing:
        what = f"The session lacks {missing}, which a handoff needs."
        return refuse(ErrorCode.MISSING_SCOPE, what, "Open a session that is granted that.", missing=missing)
    message = next((m for m in view.messages if m.message_id == ask.message_id), None)
    if message is None or message.state is not MessageState.OPEN:
        return refuse(ErrorCode.MESSAGE_NOT_OPEN, "The session has no open message of this id.", "Post a message.")
    return None
