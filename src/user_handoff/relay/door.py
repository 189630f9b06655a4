"""The gate of one connection: what passes to the server, what is answered in its place, what passes back."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from user_handoff.contract.errors import HandoffError, Held
from user_handoff.desktop.desk import Desk
from user_handoff.desktop.identity import ProcessIdentity
from user_handoff.desktop.reservation.rows import Scope
from user_handoff.relay import refusals
from user_handoff.relay.calls import Batch, Call, Calls
from user_handoff.relay.messages import Message, goes_on, invalid, refusal, require_message, tool_of
from user_handoff.relay.noting import CallNotes
from user_handoff.relay.tools import Judge, Kind

log = logging.getLogger(__name__)

_PLAIN: Final = frozenset(
    (
        "initialize",
        "ping",
        "logging/setLevel",
        "prompts/list",
        "resources/templates/list",
        "resources/unsubscribe",
        "server/discover",
        "subscriptions/listen",
        "tools/list",
    )
)
_READS: Final = frozenset(
    ("completion/complete", "prompts/get", "resources/list", "resources/read", "resources/subscribe")
)
_TELLING: Final = frozenset(("notifications/message", "notifications/progress"))
"""What a server says in words of its own; a page's may be among them."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A message for the server; a call is admitted right before it is written."""

    message: Message
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of a call, or what else the server has said.

    Attributes:
        answer: What the client gets; None: nothing.
        batch: The batch that the call was of.
        call: The call that has ended; None where none has.
    """

    answer: Message | None
    batch: Batch | None = None
    call: Call | None = None


@dataclass(slots=True)
class Looks:
    """Under which epoch a page was last looked at: after a change of control nothing is done before the next look."""

    epoch: int


class Door:
    """One connection's gate. Its methods may be called from several threads."""

    def __init__(
        self,
        desk: Desk,
        judge: Judge,
        browser_id: str | None,
        owner: ProcessIdentity | None = None,
        *,
        began: int | None = None,
        looks: Looks | None = None,
    ) -> None:
        """Open it.

        Args:
            desk: The desktop.
            judge: Knows the server's tools.
            browser_id: The one browser that the server drives; None: it may do anything on the desktop.
            owner: The process that acts: its permits end with it. None: this one.
            began: The epoch in which the server was started, as far as is known; None: now.
            looks: What others have looked at for this connection, too; None: nobody does.
        """
        self._desk = desk
        self._judge = judge
        self._browser_id = browser_id
        self._owner = owner
        self._calls = Calls()
        self._notes = CallNotes(desk, browser_id)
        self._began = desk.epoch() if began is None else began
        self._looks = looks or Looks(self._began)

    @property
    def in_flight(self) -> int:
        """How many calls the server has yet to answer."""
        return len(self._calls)

    def consider(self, message: Any, batch: Batch | None = None) -> Pass | Message | None:
        """Decide on a message of the client.

        Returns:
            What passes, or the answer in the server's place, or None: it is dropped.
        """
        try:
            return self._consider(require_message(message), batch)
        except HandoffError as error:
            if isinstance(message, dict) and "method" in message and "id" not in message:
                log.warning("a notification was dropped: %s", error.code)
                return None
            found = message.get("id") if isinstance(message, dict) else None
            return refusal(found if type(found) in (int, str) else None, error)

    def _consider(self, message: Message, batch: Batch | None) -> Pass | Message | None:
        method = message.get("method")
        if method is None:
            return Pass(message)  # the answer to what the server has asked for
        if "id" not in message:
            return self._notification(message, method)
        if method == "initialize":
            self._notes.meet(message)
        call = self._call(message, method, batch)
        if call.kind is not Kind.PLAIN:
            self._check(call)
        if call.request_id is None:
            raise invalid("A request needs an id.")
        self._calls.add(call)
        return Pass(message, call)

    def _notification(self, message: Message, method: str) -> Pass | None:
        if method == "notifications/cancelled":
            return self._cancelled(message)
        if method.startswith("notifications/"):
            return Pass(message)
        # nobody would see the end of what it does
        log.warning("a call without an id was dropped")
        return None

    def _cancelled(self, message: Message) -> Pass | None:
        params = message.get("params")
        call = self._calls.get(params.get("requestId")) if isinstance(params, dict) else None
        if call is None:
            return None
        call.cancelled = True
        if call.kind is Kind.EFFECT:
            # Servers do not answer what was cancelled, and only the answer says that the effect has ended.
            return None
        if call.batch is None:
            self._calls.take(call.request_id)
        return Pass(message)

    def _call(self, message: Message, method: str, batch: Batch | None) -> Call:
        request_id, native = message["id"], self._browser_id is None
        if method in _PLAIN:
            return Call(request_id, method, Kind.PLAIN, native, batch)
        if method in _READS:
            return Call(request_id, method, Kind.READ, native, batch)
        if method != "tools/call":
            return Call(request_id, method, Kind.EFFECT, native, batch, tool=method)
        tool = tool_of(message)
        return Call(request_id, method, self._judge.kind(tool), native or self._judge.native(tool), batch, tool=tool)

    def admit(self, call: Call) -> Settled | None:
        """Admit a call, right before it is written; returns its end where it may not be."""
        try:
            if call.cancelled:
                return self._end(call, None) if self._calls.drop(call) else Settled(None)
            if call.kind is Kind.EFFECT:
                call.permit = self._desk.acquire(*self._where(call), call.effect_id, self._owner)
                call.permit.recheck()
                self._require_look(call.permit.row.epoch)
                self._notes.admitted(call)
            elif call.kind is not Kind.PLAIN:
                call.epoch = self._check(call)
        except HandoffError as error:
            self._calls.drop(call)
            self._notes.refused(call, error)
            return self._end(call, refusal(call.request_id, error))
        return None

    def _where(self, call: Call) -> tuple[Scope, str | None]:
        return ("native", None) if call.native else ("page", self._browser_id)

    def _require_look(self, epoch: int) -> None:
        """After a person had control, see to it that what they left was looked at; servers that only act cannot."""
        if epoch != self._looks.epoch and self._judge.looks():
            raise refusals.not_looked()

    def _end(self, call: Call, answer: Message | None, *, lost: bool = False) -> Settled:
        """End a call that is in flight no more."""
        if call.permit is not None:
            call.permit.release()
            call.permit = None
            self._notes.ended(call, None if lost else answer)
        return Settled(None if call.cancelled else answer, call.batch, call)

    def _check(self, call: Call) -> int:
        """Say whether a call may pass now; returns the epoch."""
        if call.kind is Kind.SAFE:
            return self._desk.epoch()
        with self._notes.of(call):
            epoch = self._desk.check(*self._where(call))
        if call.kind is Kind.PAST and epoch != self._began:
            raise refusals.kept_since()
        return epoch

    def arrive(self, message: Any) -> Settled:
        """Decide on one message of the server: the answer is the message itself, or another one in its place."""
        if not isinstance(message, dict):
            log.warning("what is no message came from the server: dropped")
            return Settled(None)
        if "method" in message:
            return Settled(self._told(message))
        call = self._calls.take(message.get("id"))
        if call is None:
            log.info("an answer that nobody waits for was dropped")
            return Settled(None)
        if call.permit is not None and goes_on(message.get("result")):
            return self._stands(call, message)
        self._learn(call, message.get("result"))
        if call.epoch is not None and not self._still(call):
            message = refusal(call.request_id, refusals.discarded())
        elif call.kind is Kind.READ and call.epoch is not None and call.method == "tools/call" and _seen(message):
            self._looks.epoch = call.epoch
        return self._end(call, message)

    def _told(self, message: Message) -> Message | None:
        method = message["method"]
        if method == "notifications/tools/list_changed":
            self._judge.forget()
        if method in _TELLING:
            try:
                self._desk.check("page" if self._browser_id else "native", self._browser_id)
            except HandoffError:
                return None
        return message

    def _stands(self, call: Call, message: Message) -> Settled:
        """Keep the permit of an effect that goes on after its answer, until the server ends."""
        log.warning("an effect goes on after its answer: its permit stands until the server ends")
        rest = replace(call, request_id=f"task {call.effect_id}", batch=None, cancelled=True)
        call.permit, call.noted = None, False
        self._calls.add(rest)
        return self._end(call, message)

    def _learn(self, call: Call, result: Any) -> None:
        if call.method in ("initialize", "server/discover"):
            self._judge.meet(result)
        elif call.method == "tools/list":
            self._judge.learn(result)

    def _still(self, call: Call) -> bool:
        """True where nobody has taken or given back control since the call."""
        try:
            return self._desk.epoch() == call.epoch
        except Held:
            return False

    def unread(self, request_id: Any, why: Callable[[str], HandoffError]) -> Settled:
        """End the call whose answer cannot be read; nothing where it is not known whose it is."""
        call = None if request_id is None else self._calls.take(request_id)
        if call is None:
            log.warning("a message of the server could not be read: dropped")
            return Settled(None)
        acted = call.kind is Kind.EFFECT
        holds = "What was asked for was done." if acted else "What was seen was thrown away."
        return self._end(call, refusal(call.request_id, why(holds)))

    def kept_waiting(self) -> bool:
        """True where a person wants control, and a call in flight keeps them from it."""
        for call in self._calls.all():
            permit = call.permit
            try:
                if permit is not None:
                    permit.recheck()
            except HandoffError:
                return True
        return False

    def lost(self, call: Call | None = None) -> list[Settled]:
        """End a call, or all that are in flight: their server will not answer."""
        ended = self._calls.take_all() if call is None else [call] if self._calls.drop(call) else []
        self._notes.flush()
        return [self._end(each, refusal(each.request_id, refusals.ended(each)), lost=True) for each in ended]


def _seen(message: Message) -> bool:
    """True where a look has shown something."""
    result = message.get("result")
    return isinstance(result, dict) and result.get("isError") is not True
