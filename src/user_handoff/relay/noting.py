"""What a relay notes for the desktop's evidence: its calls that act, by the names of their tools alone."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final

from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.evidence.effects import EffectNotes
from user_handoff.desktop.evidence.events import name_of
from user_handoff.desktop.evidence.noting import Notes
from user_handoff.relay.calls import Call
from user_handoff.relay.messages import Message
from user_handoff.relay.tools import Kind

MOST_ALIKE: Final = 20
"""So many refusals of one code in one hold have records of their own; more are counted in one record."""

_WHO: Final = "relay"


class CallNotes:
    """Notes the calls of one connection. Its methods may be called from several threads."""

    def __init__(self, notes: Notes, browser_id: str | None) -> None:
        self._notes = notes
        self._browser_id = browser_id
        self._who = _WHO
        self._effects = EffectNotes(notes, via="relay", who=_WHO)
        self._alike: tuple[str, str | None] = ("", None)
        self._refused = 0
        self._lock = threading.Lock()

    def meet(self, message: Message) -> None:
        """Look at a client's `initialize`: who it says it is, once."""
        if self._who != _WHO:
            return
        params = message.get("params")
        info = params.get("clientInfo") if isinstance(params, dict) else None
        name = info.get("name") if isinstance(info, dict) else None
        self._who = (name_of(name) if isinstance(name, str) else None) or _WHO
        self._effects = EffectNotes(self._notes, via="relay", who=self._who)

    @contextlib.contextmanager
    def of(self, call: Call) -> Iterator[None]:
        """Note that a call is refused, where the block refuses it."""
        try:
            yield
        except HandoffError as error:
            self.refused(call, error)
            raise

    def admitted(self, call: Call) -> None:
        """A call is written to the server now."""
        assert call.permit is not None
        self.flush()
        call.noted = True
        self._effects.admitted(call.effect_id, call.tool, self._browser(call), call.permit.row.permit_id)

    def refused(self, call: Call, error: HandoffError) -> None:
        """A call is not written to the server. A client that tries again and again does not fill the evidence."""
        if call.kind is not Kind.EFFECT:
            return
        found = error.details.get("handoff_id")
        alike = (str(error.code), found if isinstance(found, str) else None)
        if alike != self._alike:
            self.flush()
        with self._lock:
            self._alike, self._refused = alike, self._refused + 1
            counted = self._refused > MOST_ALIKE
        if not counted:
            self._effects.failed(call.effect_id, call.tool, self._browser(call), error)

    def ended(self, call: Call, answer: Message | None) -> None:
        """The server has answered a call that was admitted, or will not: then the answer is None."""
        if not call.noted:
            return
        code = str(ErrorCode.OUTCOME_UNKNOWN) if answer is None else "said_error" if _is_error(answer) else None
        self._effects.over(call.effect_id, call.tool, self._browser(call), code=code)

    def flush(self) -> None:
        """Note how many refusals had no record of their own."""
        with self._lock:
            (code, about), more = self._alike, self._refused - MOST_ALIKE
            self._alike, self._refused = ("", None), 0
        if more > 0:
            self._notes.note(
                "effects_refused",
                browser_id=self._browser_id,
                about=about,
                via="relay",
                who=self._who,
                code=code,
                count=more,
            )

    def _browser(self, call: Call) -> str | None:
        return None if call.native else self._browser_id


def _is_error(answer: Any) -> bool:
    result = answer.get("result")
    return "error" in answer or (isinstance(result, dict) and result.get("isError") is True)
