"""Sessions, and the messages under which a person can be asked, as programs outside a workflow use them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Literal, TypeVar

from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from user_handoff.client.calls import ask
from user_handoff.client.connection import with_pydantic
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import new_id, principal_workflow_id, session_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.session import (
    CURRENT,
    SCOPES_OF_A_HANDOFF,
    CurrentRequest,
    CurrentSession,
    Message,
    MessageState,
    OpenSession,
    PostMessage,
    ReplyMessage,
    ResolveMessage,
    Scope,
    SessionRow,
    SessionRows,
    SessionView,
)

PATIENCE_SECONDS: Final = 30.0
"""How long a call goes on asking while Temporal, or the worker that runs handoffs, does not answer."""

T = TypeVar("T")


class SessionClient:
    """Sessions by name, over a Temporal client."""

    def __init__(
        self, temporal: Client, *, task_queue: str = SERVER_QUEUE, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Use a connected client.

        Args:
            temporal: Its data converter must be temporalio's default, the pydantic one, or derived from that.
            task_queue: Where our workflows run.
            patience_seconds: How long one call goes on asking while nothing answers.

        Raises:
            Refused: ``invalid_request``: the client's payload converter loses our models.
        """
        self.temporal = with_pydantic(temporal)
        self._task_queue = task_queue
        self._patience = patience_seconds

    async def open_session(
        self, session_id: str, owner: str, scopes: Sequence[Scope] = SCOPES_OF_A_HANDOFF
    ) -> SessionView:
        """Start a session, which is the owner's `CURRENT` one then; opening it again changes nothing.

        Args:
            session_id: Its id, of your own.
            owner: The principal.
            scopes: What the principal was granted. A handoff needs all of them.

        Raises:
            Refused: ``session_closed``: this id was used for a session that ended; or ``invalid_request``.
        """
        if session_id == CURRENT:
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"No session can be called {CURRENT}.",
                holds="Nothing was started.",
                do_next="Open it under an id of its own.",
            )
        opened = OpenSession(session_id=session_id, owner=owner, scopes=tuple(scopes))
        workflow_id, update_id = session_workflow_id(session_id), f"open.{new_id('x')}"

        async def call() -> SessionView:
            start: WithStartWorkflowOperation[Any, SessionView] = WithStartWorkflowOperation(
                Workflows.SESSION,
                opened,
                id=workflow_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
            view: SessionView = await self.temporal.execute_update_with_start_workflow(
                Workflows.OPEN, start_workflow_operation=start, id=update_id, result_type=SessionView
            )
            return view

        try:
            return await self._again(call, workflow_id, receipt=True)
        except WorkflowAlreadyStartedError as error:
            raise make_error(
                ErrorCode.SESSION_CLOSED,
                "A session of this id has ended.",
                holds="Nothing was started.",
                do_next="Open a session under a new id.",
                session_id=session_id,
            ) from error

    async def post_message(self, session_id: str, message: PostMessage, *, owner: str | None = None) -> Message:
        """Post a question or todo; the same message id again changes nothing, and returns what stands under it.

        Args:
            session_id: Which session; `CURRENT` for the owner's newest one.
            message: The message.
            owner: Whose session; needed for `CURRENT` alone.

        Raises:
            Refused: ``session_not_found`` or ``session_closed``; or ``secret_question``: it asks a person to write a
                secret down.
        """
        exact = await self.exact_session(session_id, owner, message.message_id)
        return await self._told(exact, Workflows.POST, message, f"post.{message.message_id}", Message)

    async def reply_message(self, session_id: str, reply: ReplyMessage) -> Message:
        """Keep a person's words about an open message; the first reply stands, and is in what is returned.

        It proves nothing and resolves nothing.

        Raises:
            Refused: ``session_not_found`` or ``message_not_open``.
        """
        return await self._told(session_id, Workflows.REPLY, reply, f"reply.{new_id('x')}", Message)

    async def resolve_message(
        self,
        session_id: str,
        message_id: str,
        state: Literal[MessageState.ANSWERED, MessageState.CLOSED] = MessageState.ANSWERED,
    ) -> Message:
        """Say that a message is done with; the first resolution stands.

        Raises:
            Refused: ``session_not_found`` or ``message_not_open``.
        """
        resolve = ResolveMessage(message_id=message_id, state=state)
        return await self._told(session_id, Workflows.RESOLVE, resolve, f"resolve.{new_id('x')}", Message)

    async def close_session(self, session_id: str) -> SessionView:
        """End a session: no handoff can begin under it, and no grant lets anyone into it. Closed again, it stays so.

        Raises:
            Refused: ``session_not_found``.
        """
        try:
            return await self._told(session_id, Workflows.CLOSE, None, f"close.{new_id('x')}", SessionView)
        except HandoffError as error:
            if error.code is not ErrorCode.SESSION_NOT_FOUND:
                raise
        return await self.session(session_id)

    async def exact_session(self, session_id: str, owner: str | None, key: str) -> str:
        """The exact id of a session: where it is `CURRENT`, that of the owner's newest open one.

        Args:
            session_id: An exact id, which is returned as it is, or `CURRENT`.
            owner: The principal.
            key: What it is for, such as a message's id: the same key gets the same session again.

        Raises:
            Refused: ``session_not_found``: the principal has none open; or ``invalid_request``.
        """
        if session_id != CURRENT:
            return session_id
        if owner is None:
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"{CURRENT} means a principal's session, and no principal was named.",
                holds="Nothing was done.",
                do_next="Name the owner, or the exact session.",
            )
        handle = self.temporal.get_workflow_handle(principal_workflow_id(owner))
        request = CurrentRequest(owner=owner, key=key)
        found: CurrentSession = await self._again(
            lambda: handle.execute_update(Workflows.CURRENT, request, id=f"current.{key}", result_type=CurrentSession),
            handle.id,
        )
        return found.session_id

    async def session(self, session_id: str) -> SessionView:
        """Who owns a session, and its messages.

        Raises:
            Refused: ``session_not_found``.
        """
        handle = self.temporal.get_workflow_handle(session_workflow_id(session_id))
        return await self._again(lambda: handle.query(Workflows.VIEW, result_type=SessionView), handle.id)

    async def sessions_of(self, owner: str) -> tuple[SessionRow, ...]:
        """The sessions of a principal that are kept, the newest first: of more than 200, those that ended first go.

        Raises:
            SetupError: ``temporal_unreachable``.
        """
        handle = self.temporal.get_workflow_handle(principal_workflow_id(owner))
        try:
            found: SessionRows = await self._again(
                lambda: handle.query(Workflows.VIEW, result_type=SessionRows), handle.id
            )
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND:
                return ()
            raise
        return found.rows

    async def again(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call that changes nothing, again and again while connections are lost.

        Raises:
            SetupError: ``temporal_unreachable``.
        """
        return await self._again(call, "")

    async def _told(self, session_id: str, name: str, arg: object, update_id: str, result: type[T]) -> T:
        handle = self.temporal.get_workflow_handle(session_workflow_id(session_id))
        args = [] if arg is None else [arg]
        return await self._again(
            lambda: handle.execute_update(name, args=args, id=update_id, result_type=result), handle.id, receipt=True
        )

    async def _again(
        self, call: Callable[[], Awaitable[T]], workflow_id: str, *, receipt: bool = False, bounded: bool = True
    ) -> T:
        return await ask(call, workflow_id, patience_seconds=self._patience, receipt=receipt, bounded=bounded)
