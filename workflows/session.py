"""An agent session: its owner, and the messages under which a person can be asked."""

from datetime import timedelta

from temporalio import workflow

from user_handoff.contract.access import (
    Audit,
    AuditBatch,
    GrantView,
    IssueGrant,
    RevokeGrant,
    SessionAccess,
    SignedIn,
)
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.failures import to_failure
from user_handoff.contract.markdown import code, literal
from user_handoff.contract.names import Activities, Workflows
from user_handoff.contract.secret_questions import secret_refusal
from user_handoff.contract.session import (
    Message,
    MessageState,
    OpenSession,
    PostMessage,
    ReplyMessage,
    ResolveMessage,
    SessionChange,
    SessionView,
)
from user_handoff.workflows.grants import Carried, Grants

MAX_MESSAGES = 200
"""A session that has so many refuses the next one: nothing is pushed out silently."""

_OPEN = "Wait until the session is known as its owner's newest."
_POST = "Ask a person something. Posting the same message id again changes nothing."
_REPLY = "A person's words about a message. The first reply stands; it proves nothing, and resolves nothing."
_RESOLVE = "Say that a message is answered or closed. Nothing else does: no reply to a handoff, and no end of it."
_GRANT = "Let an agent in, for a while, by the SHA-256 of a token. The same grant id again changes nothing."
_REVOKE = "Take a grant back. Taking it back again changes nothing."
_SIGNED_IN = "A person has signed in: what was granted before has to be granted again."
_AUDIT = "The last calls of this session, in order, without what a person typed."
_CLOSE = "End the session. No handoff can begin under it afterwards."


@workflow.defn(name=Workflows.SESSION)
class SessionWorkflow:
    """One agent session. Its messages are the receipts: posting an id again returns what stands under it."""

    @workflow.init
    def __init__(self, opened: OpenSession | SessionView | Carried) -> None:
        carried = opened.view if isinstance(opened, Carried) else opened
        self._opened = carried
        self._closed = False
        self._known = isinstance(carried, SessionView)
        self._grants = opened.grants if isinstance(opened, Carried) else Grants()
        self._version = carried.version if isinstance(carried, SessionView) else 0
        messages = carried.messages if isinstance(carried, SessionView) else ()
        self._messages = {message.message_id: message for message in messages}

    @workflow.run
    async def run(self, opened: OpenSession | SessionView | Carried) -> SessionView:
        """Live until closed."""
        self._show()
        tells = workflow.patched("tells-its-principal")
        if tells and not self._known:
            await self._tell_principal(True)
        self._known = True
        await workflow.wait_condition(lambda: self._closed or workflow.info().is_continue_as_new_suggested())
        await workflow.wait_condition(workflow.all_handlers_finished)
        if not self._closed:
            workflow.continue_as_new(Carried(view=self.view(), grants=self._grants))
        if tells:
            await self._tell_principal(False)
        return self.view()

    @workflow.update(name=Workflows.OPEN, description=_OPEN)
    async def open(self) -> SessionView:
        """Wait until `current` can mean this session."""
        await workflow.wait_condition(lambda: self._known)
        return self.view()

    @open.validator
    def _check_open(self) -> None:
        if self._closed:
            raise to_failure(self._refusal(ErrorCode.SESSION_CLOSED, "This session is closed."))

    @workflow.update(name=Workflows.POST, description=_POST)
    def post(self, message: PostMessage) -> Message:
        """Post a message; the one that stands under its id."""
        self._accept(message)
        return self._messages[message.message_id]

    @post.validator
    def _check_post(self, message: PostMessage) -> None:
        refusal = self._post_refusal(message)
        if refusal is None and message.message_id not in self._messages:
            refusal = secret_refusal(message, self._opened.session_id)
        if refusal:
            raise to_failure(refusal)

    @workflow.signal(name=Workflows.POST, description=_POST)
    def post_signal(self, message: PostMessage) -> None:
        """The same without a receipt; what would be refused is dropped."""
        if message.message_id in self._messages or self._post_refusal(message) is not None:
            return
        # What was accepted before this was refused stays where a history says so.
        if secret_refusal(message, "") is not None and workflow.patched("refuses-secret-questions"):
            workflow.logger.warning("A message was dropped: it asks a person to write a secret down.")
            return
        self._accept(message)

    @workflow.update(name=Workflows.RESOLVE, description=_RESOLVE)
    def resolve(self, resolve: ResolveMessage) -> Message:
        """Resolve a message; the first resolution stands."""
        self.resolve_signal(resolve)
        return self._messages[resolve.message_id]

    @resolve.validator
    def _check_resolve(self, resolve: ResolveMessage) -> None:
        if resolve.message_id not in self._messages:
            raise to_failure(
                self._refusal(ErrorCode.MESSAGE_NOT_OPEN, f"There is no message {resolve.message_id} in this session.")
            )

    @workflow.signal(name=Workflows.RESOLVE, description=_RESOLVE)
    def resolve_signal(self, resolve: ResolveMessage) -> None:
        """The same without a receipt."""
        message = self._messages.get(resolve.message_id)
        if message is not None and message.state is MessageState.OPEN:
            self._messages[message.message_id] = message.model_copy(update={"state": resolve.state})
            self._changed()

    @workflow.update(name=Workflows.REPLY, description=_REPLY)
    def reply(self, reply: ReplyMessage) -> Message:
        """Keep a reply; the message, with the reply that stands."""
        self.reply_signal(reply)
        return self._messages[reply.message_id]

    @reply.validator
    def _check_reply(self, reply: ReplyMessage) -> None:
        message = self._messages.get(reply.message_id)
        if message is None or (message.reply is None and (self._closed or message.state is not MessageState.OPEN)):
            what = f"There is no open message {reply.message_id} in this session."
            raise to_failure(self._refusal(ErrorCode.MESSAGE_NOT_OPEN, what))

    @workflow.signal(name=Workflows.REPLY, description=_REPLY)
    def reply_signal(self, reply: ReplyMessage) -> None:
        """The same without a receipt."""
        message = self._messages.get(reply.message_id)
        if message is not None and message.state is MessageState.OPEN and message.reply is None:
            self._messages[message.message_id] = message.model_copy(update={"reply": reply})
            self._changed()

    @workflow.update(name=Workflows.GRANT, description=_GRANT)
    def grant(self, grant: IssueGrant) -> GrantView:
        """Let an agent in."""
        return self._grants.issue(grant, self.view(), workflow.now())

    @grant.validator
    def _check_grant(self, grant: IssueGrant) -> None:
        if refusal := self._grants.refusal(grant, self.view(), workflow.now()):
            raise to_failure(refusal)

    @workflow.update(name=Workflows.REVOKE_GRANT, description=_REVOKE)
    def revoke_grant(self, revoke: RevokeGrant) -> GrantView:
        """Take a grant back."""
        return self._grants.revoke(revoke, workflow.now())

    @revoke_grant.validator
    def _check_revoke(self, revoke: RevokeGrant) -> None:
        if self._grants.find(revoke) is None:
            raise to_failure(self._refusal(ErrorCode.GRANT_UNKNOWN, "This session has no such grant."))

    @workflow.signal(name=Workflows.SIGNED_IN, description=_SIGNED_IN)
    def signed_in(self, signed_in: SignedIn) -> None:
        """Bind grants to the new auth context."""
        self._grants.signed_in(workflow.now())
        self._changed()

    @workflow.signal(name=Workflows.AUDIT, description=_AUDIT)
    def take_audit(self, batch: AuditBatch) -> None:
        """Note calls."""
        self._grants.take(batch)

    @workflow.query(name=Workflows.AUDIT, description=_AUDIT)
    def audit(self) -> Audit:
        """Tell, also after the end."""
        return Audit(entries=self._grants.entries)

    @workflow.query(name=Workflows.ACCESS, description="Whom the session lets in, by the hashes of their tokens.")
    def access(self) -> SessionAccess:
        """Tell, also after the end."""
        return SessionAccess(
            session_id=self._opened.session_id,
            owner=self._opened.owner,
            closed=self._closed,
            version=self._version,
            auth_version=self._grants.auth_version,
            grants=tuple(self._grants.records.values()),
        )

    @workflow.update(name=Workflows.CLOSE, description=_CLOSE)
    def close(self) -> SessionView:
        """End the session."""
        self._closed = True
        return self.view()

    @workflow.signal(name=Workflows.CLOSE, description=_CLOSE)
    def close_signal(self) -> None:
        """The same without a receipt."""
        self._closed = True

    @workflow.query(name=Workflows.VIEW, description="Who owns the session, and its messages.")
    def view(self) -> SessionView:
        """Tell, also after the end."""
        return SessionView(
            session_id=self._opened.session_id,
            owner=self._opened.owner,
            closed=self._closed,
            messages=tuple(self._messages.values()),
            scopes=self._opened.scopes,
            version=self._version,
            auth_version=self._grants.auth_version,
        )

    async def _tell_principal(self, is_open: bool) -> None:
        await workflow.execute_activity(
            Activities.TELL_PRINCIPAL,
            SessionChange(owner=self._opened.owner, session_id=self._opened.session_id, open=is_open),
            start_to_close_timeout=timedelta(seconds=15),
            summary="Tell which session is current",
        )

    def _post_refusal(self, message: PostMessage) -> HandoffError | None:
        if message.message_id in self._messages:
            return None
        if self._closed:
            return self._refusal(ErrorCode.SESSION_CLOSED, "This session is closed.")
        if len(self._messages) >= MAX_MESSAGES:
            return self._refusal(
                ErrorCode.INVALID_REQUEST, f"This session has {MAX_MESSAGES} messages and takes no more."
            )
        return None

    def _refusal(self, code: ErrorCode, what: str) -> HandoffError:
        return make_error(
            code,
            what,
            holds="Its messages are as they were.",
            do_next="Use a message of an open session.",
            session_id=self._opened.session_id,
        )

    def _accept(self, message: PostMessage) -> None:
        if message.message_id not in self._messages:
            self._messages[message.message_id] = Message(
                message_id=message.message_id, kind=message.kind, text=message.text
            )
            self._changed()

    def _changed(self) -> None:
        self._version += 1
        self._show()

    def _show(self) -> None:
        open_ = [m for m in self._messages.values() if m.state is MessageState.OPEN]
        lines = [
            f"## Session of {code(self._opened.owner)}",
            f"{len(open_)} of {len(self._messages)} messages are open.",
        ]
        lines += [f"- `{m.message_id}` ({m.kind}): {literal(m.text.splitlines()[0])}" for m in open_[:20]]
        workflow.set_current_details("\n".join(lines))
