"""A session's inbox, as programs outside a workflow use it: those who write have one key, those who read another."""

import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from user_handoff.client.calls import ask
from user_handoff.client.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import inbox_workflow_id, new_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.requests import (
    WRITER_SECONDS,
    AdmitWriter,
    InboxView,
    OpenInbox,
    PublishReply,
    ReadRequest,
    ReadResult,
    ReceiptRequest,
    RequestReceipt,
    SaveRequest,
    SendRequest,
    WithdrawRequest,
    Written,
)

_TOKEN: Final = re.compile(r"hw_([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{43})")

T = TypeVar("T")


class RequestsClient:
    """What persons send to agents' sessions."""

    def __init__(self, client: HandoffClient, *, patience_seconds: float = 8) -> None:
        self._client = client
        self._patience = patience_seconds

    # --- writing ---

    async def issue_writer(
        self, session_id: str, owner: str, name: str, expires_in_seconds: float = WRITER_SECONDS
    ) -> str:
        """A new key that lets a person write to one session, and read nothing. It is shown here alone.

        Args:
            session_id: An open session.
            owner: Who must own it.
            name: Whose words they will be.
            expires_in_seconds: How long the key lasts.

        Raises:
            Refused: ``session_not_found``, ``session_closed``, ``not_owner`` or ``request_limit``.
        """
        await self._open(session_id, owner)
        token = f"hw_{session_id}.{secrets.token_urlsafe(32)}"
        writer = AdmitWriter(key_id=new_id("w"), sha256=_hash(token), name=name, expires_in_seconds=expires_in_seconds)
        workflow_id = inbox_workflow_id(session_id)

        async def call() -> None:
            start: WithStartWorkflowOperation[Any, None] = WithStartWorkflowOperation(
                Workflows.INBOX,
                OpenInbox(session_id=session_id),
                id=workflow_id,
                task_queue=SERVER_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            )
            await self._client.temporal.execute_update_with_start_workflow(
                Workflows.ADMIT, writer, start_workflow_operation=start, id=f"admit.{writer.key_id}"
            )

        await self._ask(call, workflow_id, receipt=True)
        return token

    async def write(self, token: str, what: SaveRequest | SendRequest | WithdrawRequest) -> RequestReceipt:
        """Save, send or withdraw a request. The same again returns the same receipt.

        Raises:
            Refused: ``unauthorized``, ``session_closed`` or ``request_limit``.
            Stale: ``stale_version``: the text was changed meanwhile; nothing was published.
            Gone: ``unknown_request``: it is over.
        """
        session_id = _session_of(token)
        try:
            await self._open(session_id, None)
            written = Written(writer_sha256=_hash(token), what=what)
            handle = self._client.temporal.get_workflow_handle(inbox_workflow_id(session_id))
            update_id = f"write.{new_id('x')}"
            return await self._ask(
                lambda: handle.execute_update(Workflows.WRITE, written, id=update_id, result_type=RequestReceipt),
                handle.id,
                receipt=True,
            )
        except HandoffError as error:
            raise _unauthorized() if error.code is ErrorCode.SESSION_NOT_FOUND else error from None

    async def receipt(self, token: str, request_id: str) -> RequestReceipt:
        """Where a request stands, for whoever wrote it.

        Raises:
            Refused: ``unauthorized``: it is not there, or was written with another key.
        """
        handle = self._client.temporal.get_workflow_handle(inbox_workflow_id(_session_of(token)))
        what = ReceiptRequest(request_id=request_id, writer_sha256=_hash(token))
        try:
            found: RequestReceipt | None = await self._ask(
                lambda: handle.query(Workflows.RECEIPT, what, result_type=RequestReceipt), handle.id
            )
        except HandoffError as error:
            raise _unauthorized() if error.code is ErrorCode.SESSION_NOT_FOUND else error from None
        if found is None:
            raise _unauthorized()
        return found

    # --- reading: whoever calls these has seen to it that the reader may ---

    async def view(self, session_id: str) -> InboxView:
        """How much there is to read, and never a text."""
        handle = self._client.temporal.get_workflow_handle(inbox_workflow_id(session_id))
        try:
            return await self._ask(lambda: handle.query(Workflows.VIEW, result_type=InboxView), handle.id)
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND:
                return InboxView(session_id=session_id)
            raise

    async def read(self, session_id: str, read_id: str) -> ReadResult:
        """The oldest request that nobody has read; under the same id again, the same one.

        Raises:
            Gone: ``unknown_request``: there is nothing to read.
        """
        handle = self._client.temporal.get_workflow_handle(inbox_workflow_id(session_id))
        read = ReadRequest(read_id=read_id)
        try:
            found: ReadResult = await self._ask(
                lambda: handle.execute_update(Workflows.READ, read, id=f"read.{read_id}", result_type=ReadResult),
                handle.id,
                receipt=True,
            )
        except HandoffError as error:
            if error.code is not ErrorCode.SESSION_NOT_FOUND:
                raise
            found = ReadResult(request=None, unread=0)
        if found.request is None:
            raise make_error(
                ErrorCode.UNKNOWN_REQUEST,
                "There is nothing to read.",
                holds="Nothing was changed.",
                do_next="Go on; the tool appears again when a person sends something.",
            )
        return found

    async def expect(self, session_id: str, about: str) -> None:
        """Let the reply to a handoff (its id) or a message (``message/ID``) be published here."""

        async def call() -> None:
            await self._client.temporal.start_workflow(
                Workflows.INBOX,
                OpenInbox(session_id=session_id),
                id=inbox_workflow_id(session_id),
                task_queue=SERVER_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                start_signal=Workflows.EXPECT,
                start_signal_args=[about],
            )

        await self._ask(call, inbox_workflow_id(session_id), receipt=True)

    async def seen(self, session_id: str, about: str) -> None:
        """The agent has got that reply by another way."""
        await self._signal(session_id, Workflows.SEEN, about)

    async def replied(self, session_id: str, reply: PublishReply) -> None:
        """Publish a reply that is expected; told again, it changes nothing."""
        await self._signal(session_id, Workflows.REPLIED, reply)

    async def _signal(self, session_id: str, name: str, arg: object) -> None:
        handle = self._client.temporal.get_workflow_handle(inbox_workflow_id(session_id))
        try:
            await self._ask(lambda: handle.signal(name, arg), handle.id, receipt=True)
        except HandoffError as error:
            if error.code is not ErrorCode.SESSION_NOT_FOUND:
                raise

    async def _open(self, session_id: str, owner: str | None) -> None:
        view = await self._client.session(session_id)
        if owner is not None and view.owner != owner:
            raise make_error(
                ErrorCode.NOT_OWNER,
                "This session belongs to another principal.",
                holds="Nothing was done.",
                do_next="Use a session of your own.",
                session_id=session_id,
            )
        if view.closed:
            raise make_error(
                ErrorCode.SESSION_CLOSED,
                "This session is closed.",
                holds="Nothing was done.",
                do_next="Use an open session.",
                session_id=session_id,
            )

    async def _ask(self, call: Callable[[], Awaitable[T]], workflow_id: str, *, receipt: bool = False) -> T:
        return await ask(call, workflow_id, patience_seconds=self._patience, receipt=receipt)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _session_of(token: str) -> str:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise _unauthorized()
    return match[1]


def _unauthorized() -> HandoffError:
    return make_error(
        ErrorCode.UNAUTHORIZED,
        "This key does not let anyone write here.",
        holds="Nothing was changed.",
        do_next="Have a key to write issued for this session.",
    )
