"""The life of one handoff: held by a desktop, answered by a person, taken back by an exact fence, and checked."""

from temporalio import workflow

from user_handoff.contract.entering import OpenedLink, UseLink
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.failures import to_failure
from user_handoff.contract.handoff import (
    BeginReceipt,
    CloseReceipt,
    FinishReceipt,
    FinishRequest,
    HandoffRequest,
    HandoffState,
    LinkGrant,
    Outcome,
    Reply,
    ReplyReceipt,
    Revocation,
    RevokeReason,
    Summary,
)
from user_handoff.contract.names import Workflows
from user_handoff.workflows.life import Life

_BEGIN = "Wait until the browser is held. The handoff begins by itself; asking again changes nothing."
_REPLY = "A person's answer: done, could_not or declined, with a note. It proves nothing: the outcome is observed."
_FINISH = "Take the browser back. Needs the exact fence of the begin receipt."
_CLOSE = "Close the browser, and the hold with it. Works whenever the browser is held."
_REVOKE = "The desktop is gone: the hold has ended without its fence."
_LINK = "Remember the SHA-256 of a link that was shown to a person."
_USE_LINK = "A browser tab attaches, finalizes or takes over by a link, of which only hashes are told."
_OPEN_LINK = "The summary and the state of one link, by its hash. Looking changes nothing."
_SUMMARY = "What is asked, by whom, until when, and what became of it."


@workflow.defn(name=Workflows.HANDOFF)
class HandoffWorkflow:
    """One handoff of one browser, for one message of one session.

    Messages only note what is wanted, so a signal and an update of the same name do the same. To cancel it is to close
    it: a hold ends by its fence or with its browser, and never because nobody is left who asked.
    """

    @workflow.init
    def __init__(self, request: HandoffRequest) -> None:
        self._life = Life(request)
        self._record = self._life.record

    @workflow.run
    async def run(self, request: HandoffRequest) -> Outcome:
        """Live until the hold has ended."""
        self._life.start()
        while not self._record.state.ended:
            await self._life.step()
        await self._life.leave()
        return self._record.outcome()

    @workflow.update(name=Workflows.BEGIN, description=_BEGIN)
    async def begin(self, request: HandoffRequest | None = None) -> BeginReceipt:
        """Wait for the hold: the receipt, or the refusal as a typed failure."""
        await workflow.wait_condition(lambda: self._record.state is not HandoffState.REQUESTED)
        if self._record.receipt is None:
            raise to_failure(self._record.refusal or self._record.not_held())
        return self._record.receipt

    @begin.validator
    def _check_begin(self, request: HandoffRequest | None = None) -> None:
        if request is not None and request.owner != self._record.request.owner:
            raise to_failure(self._record.not_yours())

    @workflow.signal(name=Workflows.BEGIN, description=_BEGIN)
    def begin_signal(self, request: HandoffRequest | None = None) -> None:
        """Nothing to do: the handoff begins by itself. Here so that signal-with-start can start it."""

    @workflow.update(name=Workflows.REPLY, description=_REPLY)
    async def reply(self, reply: Reply) -> ReplyReceipt:
        """Take a person's answer; one that comes before the hold is kept for it."""
        self._life.take_reply(reply)
        await workflow.wait_condition(lambda: self._record.state is not HandoffState.REQUESTED)
        return self._record.reply_receipt(reply)

    @workflow.signal(name=Workflows.REPLY, description=_REPLY)
    def reply_signal(self, reply: Reply) -> None:
        """The same without a receipt."""
        self._life.take_reply(reply)

    @workflow.update(name=Workflows.FINISH, description=_FINISH)
    async def finish(self, finish: FinishRequest) -> FinishReceipt:
        """Take the browser back; asked again, the same receipt."""
        attempt = len(self._life.finishes)
        self._life.take_finish(finish)
        await workflow.wait_condition(
            lambda: bool(self._record.finish_receipt or len(self._life.finishes) > attempt or self._record.state.ended)
        )
        if self._record.finish_receipt:
            return self._record.finish_receipt
        failed = self._life.finishes[attempt] if len(self._life.finishes) > attempt else None
        raise to_failure(failed if isinstance(failed, HandoffError) else self._record.not_held())

    @finish.validator
    def _check_finish(self, finish: FinishRequest) -> None:
        if refusal := self._record.finish_refusal(finish):
            raise to_failure(refusal)

    @workflow.signal(name=Workflows.FINISH, description=_FINISH)
    def finish_signal(self, finish: FinishRequest) -> None:
        """The same without a receipt; a wrong fence is ignored."""
        self._life.take_finish(finish)

    @workflow.update(name=Workflows.CLOSE, description=_CLOSE)
    async def close(self) -> CloseReceipt:
        """Close the browser."""
        self._life.take_close()
        await workflow.wait_condition(lambda: self._record.state.ended or self._life.close_error is not None)
        if self._record.state is not HandoffState.CLOSED:
            raise to_failure(self._life.close_error or self._record.refusal or self._record.not_held())
        return CloseReceipt(handoff_id=self._record.handoff_id, state=self._record.state)

    @workflow.signal(name=Workflows.CLOSE, description=_CLOSE)
    def close_signal(self) -> None:
        """The same without a receipt."""
        self._life.take_close()

    @workflow.signal(name=Workflows.REVOKE, description=_REVOKE)
    def revoke(self, revoked: RevokeReason | Revocation) -> None:
        """End the hold from outside."""
        if isinstance(revoked, RevokeReason):
            revoked = Revocation(reason=revoked)
        if revoked.desktop_id in (None, self._record.request.desktop_id):
            self._life.revoke_wanted = self._life.revoke_wanted or revoked.reason

    @workflow.update(name=Workflows.ADD_LINK, description=_LINK)
    def add_link(self, link: LinkGrant) -> None:
        """Remember a link."""
        self._record.add_link(link)

    @add_link.validator
    def _check_link(self, link: LinkGrant) -> None:
        if not (self._record.takes_links and self._record.links.has_room_for(link)):
            raise to_failure(self._record.no_more_links())

    @workflow.signal(name=Workflows.ADD_LINK, description=_LINK)
    def add_link_signal(self, link: LinkGrant) -> None:
        """The same without a receipt."""
        self._record.add_link(link)

    @workflow.update(name=Workflows.USE_LINK, description=_USE_LINK)
    def use_link(self, use: UseLink) -> None:
        """Take a step by a link. A refused one leaves nothing in history."""
        self._record.links.take(use, workflow.now())

    @use_link.validator
    def _check_use(self, use: UseLink) -> None:
        refusal = self._record.not_held() if self._record.state.ended else None
        if refusal := refusal or self._record.links.refusal(use, workflow.now()):
            raise to_failure(refusal)

    @workflow.query(name=Workflows.OPEN_LINK, description=_OPEN_LINK)
    def open_link(self, sha256: str) -> OpenedLink | None:
        """Tell whoever shows a link, also after the end."""
        return self._record.opened(sha256)

    @workflow.query(name=Workflows.SUMMARY, description=_SUMMARY)
    def summary(self) -> Summary:
        """Tell, also after the end."""
        return self._record.summary()
