"""The clipboard: a thread of its own that owns it, answers who asks for it, and notes who fills it."""

import os
import queue
import select
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from user_handoff.contract.errors import HandoffError
from user_handoff.desktop.display.display import Display
from user_handoff.desktop.input.selection import Requests, Selection, unusable

T = TypeVar("T")

_CALL_SECONDS = 5.0


class Clipboard:
    """The CLIPBOARD selection of a display. For several threads; each method returns when it is done.

    What comes onto it while `guarded` says so, or came there before this was made, may be a person's: it is private,
    and stays so when it is put back.
    """

    def __init__(self, display: Display, guarded: Callable[[], bool]) -> None:
        """Begin to watch the clipboard.

        Args:
            display: Whose clipboard.
            guarded: Whether what is put on the clipboard now may be a person's; called from the clipboard's thread.
        """
        self._display = display
        self._guarded = guarded
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._wake_reader, self._wake = os.pipe()
        self._owner: Selection | None = None
        self._watching = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clipboard", daemon=True)
        self._thread.start()
        self._watching.wait(_CALL_SECONDS)

    def close(self) -> None:
        """End the thread; what it owned is gone from the clipboard."""
        self._work.put(None)
        os.write(self._wake, b".")
        self._thread.join(_CALL_SECONDS)
        if not self._thread.is_alive():
            os.close(self._wake)
            os.close(self._wake_reader)

    def set(self, text: str, *, private: bool = False) -> None:
        """Put a text on it.

        Args:
            text: The text.
            private: It was private before: see the class.
        """
        self._call(lambda owner: owner.offer(text, private=private))

    def clear(self) -> None:
        """Empty it."""
        self._call(lambda owner: owner.clear())

    def read(self) -> tuple[str, bool]:
        """Its text, empty where there is none, and whether that is private.

        Raises:
            Refused: `action_failed`: it is too long, or its owner does not hand it over.
        """
        return self._call(lambda owner: owner.read())

    def requests(self, pid: int | None) -> Requests:
        """What a process has asked of the text that is offered now."""
        return self._call(lambda owner: owner.requests.get(pid, Requests()))

    def _call(self, what: "Callable[[Selection], T]") -> T:
        answer: Future[T] = Future()

        def work() -> None:
            try:
                if self._owner is None:
                    self._owner = Selection(self._display, self._guarded)
                answer.set_result(what(self._owner))
            except BaseException as error:  # it belongs to who asked, and the thread goes on
                self._drop_dead(error)
                answer.set_exception(error)

        self._work.put(work)
        os.write(self._wake, b".")
        try:
            return answer.result(_CALL_SECONDS)
        except FutureTimeout:
            raise unusable("it does not answer") from None

    def _run(self) -> None:
        try:
            self._owner = Selection(self._display, self._guarded)
        except HandoffError:
            self._owner = None  # whoever needs it is told then
        self._watching.set()
        while True:
            try:
                if not self._step():
                    break
            except Exception as error:
                self._drop_dead(error)
        if self._owner is not None:
            self._owner.close()

    def _step(self) -> bool:
        files: list[Any] = [self._wake_reader]
        if self._owner is not None:
            self._owner.serve()
            files.append(self._owner.fileno())
        if self._wake_reader in select.select(files, [], [])[0]:
            os.read(self._wake_reader, 1)
            work = self._work.get()
            if work is None:
                return False
            work()
        return True

    def _drop_dead(self, error: BaseException) -> None:
        """After an error of the connection: the next call opens another, and trusts nothing that is there by then."""
        if self._owner is not None and not isinstance(error, HandoffError):
            self._owner.close()
            self._owner = None
