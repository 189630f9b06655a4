"""What one handoff knows of itself: the state behind its query, its outcome and its page in the UI."""

from dataclasses import dataclass, field
from datetime import datetime

from temporalio import workflow

from user_handoff.contract.boundary import CONFIRM, Category
from user_handoff.contract.conditions import Completion, Observation
from user_handoff.contract.entering import OpenedLink
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import (
    Answer,
    BeginReceipt,
    FinishReceipt,
    FinishRequest,
    HandoffRequest,
    HandoffState,
    LinkGrant,
    Outcome,
    Reply,
    ReplyReceipt,
    Result,
    RevokeReason,
    Summary,
)
from user_handoff.contract.links import no_link_any_more
from user_handoff.contract.notices import Told
from user_handoff.workflows.links import Links


@dataclass
class Record:
    """The state of one handoff; changed by its workflow alone."""

    request: HandoffRequest
    handoff_id: str
    requested_at: datetime
    state: HandoffState = HandoffState.REQUESTED
    result: Result | None = None
    reason: RevokeReason | None = None
    message: str = ""
    refusal: HandoffError | None = None
    receipt: BeginReceipt | None = None
    deadline: datetime | None = None
    expired: bool = False
    reply: Reply | None = None
    finish_receipt: FinishReceipt | None = None
    observation: Observation | None = None
    observed: bool = False
    told: list[Told] = field(default_factory=list)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = Links(self.request.person)

    def end(
        self, state: HandoffState, result: Result, *, reason: RevokeReason | None = None, message: str = ""
    ) -> None:
        """Note the end. A handoff that expired stays expired, whatever became of its hold."""
        self.state = state
        self.result = Result.EXPIRED if self.expired else result
        self.reason = reason
        self.message = message

    @property
    def answers(self) -> bool:
        """True while a person's answer counts."""
        return self.state in (HandoffState.REQUESTED, HandoffState.HELD)

    @property
    def takes_links(self) -> bool:
        """True while whoever enters by a link finds more than an end."""
        return not self.state.ended and self.state is not HandoffState.EXPIRED

    @property
    def signed_in(self) -> bool:
        """True where a person was seen to have signed in: what was granted before is for another auth context."""
        boundary = self.request.boundary
        return self.result is Result.VERIFIED and boundary is not None and boundary.category is Category.AUTHENTICATION

    @property
    def turn_over(self) -> bool:
        """True where what was asked for to end the person's turn is there."""
        if self.said_result() is not None:
            return True
        said = self.reply is not None
        match self.request.completion:
            case Completion.PERSON:
                return said
            case Completion.OBSERVED:
                return self.observed
            case Completion.EITHER:
                return said or self.observed
            case Completion.BOTH:
                return said and self.observed

    @property
    def confirmed(self) -> bool:
        """True where a person has said done to what an agent wants to submit."""
        asked = self.request.boundary
        return asked is not None and asked.rule_id == CONFIRM and self.said_done

    @property
    def said_done(self) -> bool:
        """True where a person has said that it is done."""
        return self.reply is not None and self.reply.answer is Answer.DONE

    def take_reply(self, reply: Reply) -> bool:
        """Keep the first answer that came in time, and say so; a later one changes nothing."""
        if self.reply is not None or not self.answers:
            return False
        self.reply = reply
        return True

    def reply_receipt(self, reply: Reply) -> ReplyReceipt:
        """What became of an answer."""
        standing = self.reply or reply
        accepted = self.reply == reply and self.refusal is None
        return ReplyReceipt(handoff_id=self.handoff_id, answer=standing.answer, accepted=accepted, state=self.state)

    def said_result(self) -> Result | None:
        """The result that a person's own word settles; None where it must be observed."""
        if self.reply is None or self.reply.answer is Answer.DONE:
            return None
        return Result.DECLINED if self.reply.answer is Answer.DECLINED else Result.FAILED

    def outcome(self) -> Outcome:
        """The outcome so far; `failed` where there is none yet, so that it never reads as success."""
        reply = self.reply
        return Outcome(
            handoff_id=self.handoff_id,
            result=self.result or (Result.EXPIRED if self.expired else Result.FAILED),
            reason=self.reason,
            code=self._code(),
            message=self.message,
            answer=reply.answer if reply else None,
            note=reply.note if reply else "",
            boundary=self.request.boundary,
            observation=self.observation,
            pages=self.finish_receipt.pages if self.finish_receipt else (),
            changes=self.finish_receipt.changes if self.finish_receipt else None,
        )

    def summary(self) -> Summary:
        """What the query tells."""
        reply = self.reply
        return Summary(
            handoff_id=self.handoff_id,
            state=self.state,
            result=self.result,
            code=self._code(),
            message=self.message,
            reason=self.reason,
            owner=self.request.owner,
            instructions=self.request.instructions,
            boundary=self.request.boundary,
            requested_at=self.requested_at,
            expires_at=self.deadline,
            receipt=self.receipt,
            answer=reply.answer if reply else None,
            note=reply.note if reply else "",
            answered_by=reply.by if reply else "",
            observation=self.observation,
            link_hashes=self.links.hashes,
            told=tuple(self.told),
            person=self.request.person,
            client_id=self.request.client_id,
            queue=self.request.queue,
        )

    def add_link(self, link: LinkGrant) -> None:
        """Remember the hash of a link, as far as there is room."""
        self.links.add(link, workflow.now())

    def opened(self, sha256: str) -> OpenedLink | None:
        """What whoever shows a link of this hash is told; None where there is no such link."""
        link = self.links.get(sha256)
        if link is None:
            return None
        return OpenedLink(summary=self.summary(), link=link, others=self.links.others(sha256))

    def no_more_links(self) -> HandoffError:
        """The refusal of one more link."""
        if not self.takes_links:
            return no_link_any_more(self.handoff_id, self.state)
        return make_error(
            ErrorCode.INVALID_REQUEST,
            f"This handoff takes no more links: it has {len(self.links.hashes)}.",
            holds="Its links are as they were.",
            do_next="Use one of those.",
            handoff_id=self.handoff_id,
        )

    def not_yours(self) -> HandoffError:
        """The refusal of another principal."""
        return make_error(
            ErrorCode.NOT_OWNER,
            "This handoff was asked for by somebody else.",
            holds="It is as it was.",
            do_next="Hand over under a message of your own session.",
            handoff_id=self.handoff_id,
        )

    def not_held(self) -> HandoffError:
        """The refusal of what needs a hold."""
        return make_error(
            ErrorCode.NOT_HELD,
            f"This handoff is {self.state}.",
            holds=self.message or "It holds nothing.",
            do_next="Read its summary.",
            handoff_id=self.handoff_id,
        )

    def finish_refusal(self, finish: FinishRequest) -> HandoffError | None:
        """Why this fence does not finish this handoff; None where it does."""
        if self.receipt is None:
            return self.not_held()
        if finish.handoff_fence != self.receipt.handoff_fence:
            return make_error(
                ErrorCode.FENCE_MISMATCH,
                "This is not the fence of this hold.",
                holds=f"The handoff is {self.state}, untouched.",
                do_next="Use the fence of the begin receipt, exactly.",
                handoff_id=self.handoff_id,
            )
        return None

    def _code(self) -> ErrorCode | None:
        return self.refusal.code if self.refusal else None
