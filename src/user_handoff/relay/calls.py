"""What is known of the calls in flight of one connection."""

import threading
from dataclasses import dataclass, field
from typing import Any, Final

from user_handoff.desktop.desk import DeskPermit
from user_handoff.desktop.permits import effect_name
from user_handoff.relay.messages import Message, invalid, key_of
from user_handoff.relay.tools import Kind

MOST: Final = 1_000
"""Calls in flight at once."""


class Batch:
    """A client's batch: its answers go back in one array, once all are there."""

    def __init__(self) -> None:
        self._waits = 1  # for its own end
        self._answers: list[Message] = []
        self._lock = threading.Lock()

    def expect(self) -> None:
        """One more of its elements is a call in flight."""
        with self._lock:
            self._waits += 1

    def add(self, answer: Message) -> None:
        """An element was answered at once."""
        with self._lock:
            self._answers.append(answer)

    def settle(self, answer: Message | None = None) -> list[Message] | None:
        """A call in flight, or the reading of the batch, has ended; None: without an answer.

        Returns:
            The answers, where this was the last one and there are any.
        """
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._waits -= 1
            return self._answers if self._answers and not self._waits else None


@dataclass(slots=True)
class Call:
    """A request of the client that the server has yet to answer.

    Attributes:
        request_id: Its id, as it is.
        method: What was asked for.
        kind: What it is to the gate.
        native: It touches what the whole desktop shares.
        permit: Its permit, once it has one.
        epoch: The epoch in which an observation was asked for.
        batch: The batch it belongs to.
        cancelled: Its client wants no answer any more.
        tool: The name of the tool, or else the method.
        effect_id: What its permit and its records are called.
        noted: It is in the evidence that it was admitted.
    """

    request_id: Any
    method: str
    kind: Kind
    native: bool
    batch: Batch | None = None
    permit: DeskPermit | None = field(default=None, repr=False)
    epoch: int | None = None
    cancelled: bool = False
    tool: str = ""
    effect_id: str = field(default_factory=lambda: effect_name("relay"))
    noted: bool = False


class Calls:
    """The calls in flight, by their ids."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self._lock = threading.Lock()

    def add(self, call: Call) -> None:
        """Take one in.

        Raises:
            Refused: `invalid_request`: its id is in use, or there are too many.
        """
        key = key_of(call.request_id)
        with self._lock:
            if key in self._calls:
                raise invalid("A call of this id is still open.", "Give each call an id of its own.")
            if len(self._calls) >= MOST:
                raise invalid(f"{MOST} calls are open.", "Wait for their answers.")
            self._calls[key] = call
            if call.batch is not None:
                call.batch.expect()

    def get(self, request_id: Any) -> Call | None:
        """The call of an id."""
        return self._calls.get(key_of(request_id))

    def take(self, request_id: Any) -> Call | None:
        """The call of an id, which is in flight no more."""
        with self._lock:
            return self._calls.pop(key_of(request_id), None)

    def drop(self, call: Call) -> bool:
        """Forget one; False where it is in flight no more."""
        with self._lock:
            key = key_of(call.request_id)
            return self._calls.get(key) is call and self._calls.pop(key) is call

    def all(self) -> list[Call]:
        """All of them."""
        with self._lock:
            return list(self._calls.values())

    def take_all(self) -> list[Call]:
        """All of them, which are in flight no more."""
        with self._lock:
            found = list(self._calls.values())
            self._calls.clear()
            return found

    def __len__(self) -> int:
        return len(self._calls)
