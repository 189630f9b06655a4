"""What a person has sent to a session, until its agent has read it or its time is over."""

from datetime import timedelta

from temporalio import workflow

from user_handoff.contract.failures import to_failure
from user_handoff.contract.names import Workflows
from user_handoff.contract.requests import (
    AdmitWriter,
    InboxView,
    OpenInbox,
    PublishReply,
    ReadRequest,
    ReadResult,
    ReceiptRequest,
    RequestReceipt,
    Written,
)
from user_handoff.workflows.box import Box

KEPT = timedelta(days=1)
"""How long an inbox without anything to keep stays."""

_ADMIT = "Remember the SHA-256 of a key that lets a person write requests."
_WRITE = "A person saves, sends or withdraws a request. Needs the hash of a key to write; it reads nothing."
_READ = "The oldest request that nobody has read. The same read id again returns the same one."
_EXPECT = "A reply to this handoff or message is to be published here."
_SEEN = "The agent has got the reply to this handoff or message already."
_REPLIED = "A person has replied to a handoff or message of this session."


@workflow.defn(name=Workflows.INBOX)
class InboxWorkflow:
    """The requests of one session. Those who write and those who read need different keys."""

    @workflow.init
    def __init__(self, opened: OpenInbox | Box) -> None:
        self._box = opened if isinstance(opened, Box) else Box(session_id=opened.session_id)
        self._stirred = 0

    @workflow.run
    async def run(self, opened: OpenInbox | Box) -> None:
        """Live while there is anything to keep, and a day longer."""
        while not workflow.info().is_continue_as_new_suggested():
            if not await self._stirs():
                return
            self._box.expire(workflow.now())
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(self._box)

    @workflow.update(name=Workflows.ADMIT, description=_ADMIT)
    def admit(self, writer: AdmitWriter) -> None:
        """Remember a key."""
        self._box.admit(writer, workflow.now())
        self._stirred += 1

    @admit.validator
    def _check_admit(self, writer: AdmitWriter) -> None:
        if refusal := self._box.admit_refusal(writer, workflow.now()):
            raise to_failure(refusal)

    @workflow.update(name=Workflows.WRITE, description=_WRITE)
    def write(self, written: Written) -> RequestReceipt:
        """Save, send or withdraw."""
        self._stirred += 1
        return self._box.write(written, workflow.now())

    @write.validator
    def _check_write(self, written: Written) -> None:
        if refusal := self._box.write_refusal(written, workflow.now()):
            raise to_failure(refusal)

    @workflow.update(name=Workflows.READ, description=_READ)
    def read(self, read: ReadRequest) -> ReadResult:
        """Hand the oldest one over."""
        self._stirred += 1
        return self._box.read(read, workflow.now())

    @workflow.query(name=Workflows.VIEW, description="How much there is to read, and never a text.")
    def view(self) -> InboxView:
        """Tell."""
        return self._box.view()

    @workflow.query(name=Workflows.RECEIPT, description="Where a request stands, for whoever wrote it.")
    def receipt(self, ask: ReceiptRequest) -> RequestReceipt | None:
        """Tell; None for every other key."""
        return self._box.receipt(ask.request_id, ask.writer_sha256, workflow.now())

    @workflow.signal(name=Workflows.EXPECT, description=_EXPECT)
    def expect(self, about: str) -> None:
        """Note it."""
        self._box.expect(about)
        self._stirred += 1

    @workflow.signal(name=Workflows.SEEN, description=_SEEN)
    def seen(self, about: str) -> None:
        """Note it."""
        self._box.seen(about)
        self._stirred += 1

    @workflow.signal(name=Workflows.REPLIED, description=_REPLIED)
    def replied(self, reply: PublishReply) -> None:
        """Publish it."""
        self._box.replied(reply, f"reply_{workflow.uuid4().hex[:16]}", workflow.now())
        self._stirred += 1

    async def _stirs(self) -> bool:
        """Wait until something comes or expires; False where there was nothing to keep for a day."""
        seen, due = self._stirred, self._box.due()
        timeout = KEPT if due is None else max(due - workflow.now(), timedelta(milliseconds=1))
        try:
            await workflow.wait_condition(
                lambda: self._stirred != seen or workflow.info().is_continue_as_new_suggested(),
                timeout=timeout,
                timeout_summary="until this inbox is forgotten" if due is None else "until a request expires",
            )
        except TimeoutError:
            return due is not None
        return True
