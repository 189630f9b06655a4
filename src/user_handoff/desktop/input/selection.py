"""The CLIPBOARD selection of an X server, for one thread."""

import contextlib
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from user_handoff.contract.computer import MAX_TEXT
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display

_ANSWER_SECONDS = 1.0
"""How long another program has to hand over what it put on the clipboard."""

_QUIET_SECONDS, _PACE = 0.1, 3
"""A program that took a text may ask once more, after a pause as long as it needed before: long where it is busy."""

_TEXT_TARGETS = ("UTF8_STRING", "text/plain;charset=utf-8")


@dataclass(frozen=True, slots=True)
class Requests:
    """When a process last asked, by `time.monotonic`; 0.0: not yet.

    Attributes:
        text: For the text, and got it.
        any: For anything, such as the kinds that there are.
    """

    text: float = 0.0
    any: float = 0.0

    def is_taken(self, pressed: float, now: float) -> bool:
        """Whether it has taken what was pasted, as it seems for the last time.

        Chromium asks for a text once when Ctrl is pressed with a new clipboard, and once more for the paste itself.

        Args:
            pressed: When the keys were pressed, on the monotonic clock.
            now: The same clock now.
        """
        quiet = max(_QUIET_SECONDS, _PACE * (self.text - pressed))
        return self.text > pressed and now - self.any > quiet


class Selection:
    """One connection that owns the selection or asks its owner, and sees whoever else takes it.

    Attributes:
        requests: What each process has asked of the text that is offered now.
    """

    def __init__(self, display: Display, guarded: Callable[[], bool]) -> None:
        from Xlib import X, Xatom
        from Xlib.ext import xfixes

        self._guarded = guarded
        self._x = connect(display.name, display.xauthority)
        self._window = self._x.screen().root.create_window(
            -10, -10, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )
        names = ("CLIPBOARD", "TARGETS", "TIMESTAMP", "INCR", "_USER_HANDOFF_CLIPBOARD", *_TEXT_TARGETS)
        self._atoms = {name: int(self._x.intern_atom(name)) for name in names}
        self._texts = {self._atoms[name] for name in _TEXT_TARGETS}
        self._integer, self._atom = Xatom.INTEGER, Xatom.ATOM
        self._offered: bytes | None = None
        self._since = 0
        self.requests: dict[int | None, Requests] = {}
        self._x.xfixes_query_version()
        self._x.xfixes_select_selection_input(
            self._window, self._atoms["CLIPBOARD"], xfixes.XFixesSetSelectionOwnerNotifyMask
        )
        self._private = self._owner_id() != X.NONE
        self._answer: Any = None

    def fileno(self) -> int:
        """The connection: readable when something has come."""
        return int(self._x.fileno())

    def close(self) -> None:
        """Close the connection; what it owned is gone from the clipboard."""
        with contextlib.suppress(Exception):  # the server may be gone
            self._x.close()

    def offer(self, text: str, *, private: bool) -> None:
        """Own the selection, and hold this text ready for who asks.

        Raises:
            Refused: `action_failed`: another program took it in this moment.
        """
        self._since = self._now()
        self.requests = {}
        self._own(self._window.id, text.encode(), private)
        if self._owner_id() != self._window.id:
            self._offered = None
            raise unusable("another program took it")
        self._offered, self._private = text.encode(), private  # whatever was on its way before

    def clear(self) -> None:
        """Leave the selection without an owner."""
        from Xlib import X

        self._since = self._now()
        self._own(X.NONE, None, private=False)
        self._offered = None

    def _own(self, window_id: int, content: bytes | None, private: bool) -> None:
        from Xlib.protocol import request

        self.serve()
        self._offered, self._private = content, private
        request.SetSelectionOwner(
            display=self._x.display, window=window_id, selection=self._atoms["CLIPBOARD"], time=self._since
        )
        self._x.sync()
        self.serve()

    def _owner_id(self) -> int:
        return _id(self._x.get_selection_owner(self._atoms["CLIPBOARD"]))

    def read(self) -> tuple[str, bool]:
        """The text that is offered, by whomever, and whether it is private.

        Raises:
            Refused: `action_failed`: it is too long, or its owner does not hand it over.
        """
        self.serve()
        if self._offered is not None:
            return self._offered.decode(), self._private
        if not self._owner_id():
            return "", False
        self._answer = None
        self._window.convert_selection(
            self._atoms["CLIPBOARD"], self._atoms["UTF8_STRING"], self._atoms["_USER_HANDOFF_CLIPBOARD"], self._now()
        )
        self._wait_for(lambda: self._answer is not None)
        text = self._received()
        self.serve()  # who filled it is known before what it holds is used
        return text, self._private

    def _received(self) -> str:
        from Xlib import X

        if self._answer.property == X.NONE:
            return ""  # no text, such as a picture
        found = self._window.get_full_property(self._answer.property, X.AnyPropertyType, sizehint=4 * MAX_TEXT)
        self._window.delete_property(self._answer.property)
        self._x.flush()
        if found is None:
            return ""
        text = bytes(found.value).decode("utf-8", "replace") if found.property_type != self._atoms["INCR"] else None
        if text is None or len(text) > MAX_TEXT:
            raise unusable(f"it holds more than {MAX_TEXT} characters")
        return text

    def serve(self) -> None:
        """Answer what has come so far."""
        while self._x.pending_events():
            self._on_event(self._x.next_event())

    def _on_event(self, event: Any) -> None:
        from Xlib import X
        from Xlib.ext import xfixes

        if isinstance(event, xfixes.SelectionNotify):
            if _id(event.owner) != self._window.id:
                self._offered, self._private = None, self._guarded()
        elif event.type == X.SelectionRequest:
            self._give(event)
        elif event.type == X.SelectionNotify:
            self._answer = event

    def _give(self, request: Any) -> None:
        from Xlib import X, error
        from Xlib.protocol import event

        gone = error.CatchError(error.BadWindow, error.BadAtom)
        name = request.property or request.target  # an old client names no property
        content = self._content(request.target)
        if content is not None:
            request.requestor.change_property(name, *content, onerror=gone)
        answer = event.SelectionNotify(
            time=request.time,
            requestor=request.requestor,
            selection=request.selection,
            target=request.target,
            property=name if content is not None else X.NONE,
        )
        request.requestor.send_event(answer, onerror=gone)
        self._x.sync()
        pid, now = self._pid_of(request.requestor.id), time.monotonic()
        given = (
            now if content is not None and request.target in self._texts else self.requests.get(pid, Requests()).text
        )
        self.requests[pid] = Requests(text=given, any=now)

    def _content(self, target: int) -> tuple[int, int, Any] | None:
        """Type, format and value of an answer; None where the target cannot be given."""
        if self._offered is None:
            return None
        if target == self._atoms["TARGETS"]:
            return self._atom, 32, [self._atoms["TARGETS"], self._atoms["TIMESTAMP"], *sorted(self._texts)]
        if target == self._atoms["TIMESTAMP"]:
            return self._integer, 32, [self._since]
        return (target, 8, self._offered) if target in self._texts else None

    def _pid_of(self, window_id: int) -> int | None:
        from Xlib import error
        from Xlib.ext import res

        try:
            answer = self._x.res_query_client_ids([{"client": window_id, "mask": res.LocalClientPIDMask}])
        except error.XError:
            return None
        return next((int(entry.value[0]) for entry in answer.ids if entry.value), None)

    def _now(self) -> int:
        """The server's time, which a selection's owner must name: that of a change of our own property."""
        from Xlib import X

        seen: list[int] = []
        name = self._atoms["_USER_HANDOFF_CLIPBOARD"]
        self._window.change_property(name, self._integer, 32, [0])

        def came() -> bool:
            return bool(seen)

        deadline = time.monotonic() + _ANSWER_SECONDS
        while not came():
            self._pump(deadline, lambda event: seen.append(event.time) if event.type == X.PropertyNotify else None)
        return seen[-1]

    def _wait_for(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not done():
            self._pump(deadline)

    def _pump(self, deadline: float, look: Callable[[Any], None] | None = None) -> None:
        """Take in the events that come, answering them meanwhile."""
        if not self._x.pending_events():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._x], [], [], left)[0]:
                raise unusable("its owner does not hand it over")
        while self._x.pending_events():
            event = self._x.next_event()
            self._on_event(event)
            if look is not None:
                look(event)


def _id(window: Any) -> int:
    return int(getattr(window, "id", window))


def unusable(why: str) -> HandoffError:
    """The refusal where the clipboard does not do what it should."""
    return make_error(
        ErrorCode.ACTION_FAILED,
        f"The clipboard cannot be used: {why}.",
        holds="Nothing was pasted or told.",
        do_next="Look at the desktop, then try again.",
    )
