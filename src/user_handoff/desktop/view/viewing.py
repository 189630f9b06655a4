"""One viewer's connection: the picture down, their messages up, and what both sides tell each other."""

import asyncio
import contextlib
import logging
import struct
import time
from typing import Any

from user_handoff.contract.errors import HandoffError
from user_handoff.contract.view import read_word
from user_handoff.desktop.view.clipboard import ViewClipboard
from user_handoff.desktop.view.connection import Socket
from user_handoff.desktop.view.control import Control
from user_handoff.desktop.view.hands import Hands
from user_handoff.desktop.view.locking import Locks
from user_handoff.desktop.view.picture import Picture
from user_handoff.desktop.view.rfb import NO_PASSWORD, VERSION, Kind, Message, ViewerParser, Violation, ask_for_a_pixel
from user_handoff.desktop.view.stage import Stage
from user_handoff.desktop.view.tickets import Viewer
from user_handoff.desktop.view.waiting import LONGEST_TEXT, Typed, Waiting
from user_handoff.desktop.view.words import Words

log = logging.getLogger(__name__)

_NAME = b"handoff"
_PROBE_SECONDS = 0.5
_SILENT_SECONDS = 3.0
"""A page says something several times a second. What comes after a longer silence may have waited on the way."""
_FEW = 64
"""Bytes; and as many messages at most."""


class Viewing:
    """A viewer who is connected."""

    def __init__(
        self,
        viewer: Viewer,
        socket: Socket,
        picture: Picture,
        control: Control,
        clipboard: ViewClipboard,
        stage: Stage,
        locks: Locks,
    ) -> None:
        """Prepare; `run` does the work.

        Args:
            viewer: Who it is.
            socket: Their connection.
            picture: A connection to the display, of their own.
            control: Who may type.
            clipboard: What pastes.
            stage: What is shown.
            locks: Whether what is typed is dropped for a moment.
        """
        self._locks = locks
        self._viewer = viewer
        self._socket = socket
        self._picture = picture
        self._control = control
        self._parser = ViewerParser()
        self._greeting = [bytes([1, NO_PASSWORD]), bytes(4), self._description()]
        self._waiting = Waiting()
        self._words = Words(socket.send)
        self._heard = self._said = time.monotonic()
        self._pings = False
        self._asked = False
        self._ending: str | None = None
        self._lease_id = ""
        self._over = asyncio.Event()
        self.hands = Hands(picture, clipboard, stage, self._may_type, self._seems_to_type, self._words.not_typed)

    @property
    def viewer(self) -> Viewer:
        """Who it is."""
        return self._viewer

    async def run(self) -> None:
        """Until one side is gone, or `end` is called. Nothing of theirs stays pressed."""
        parts = [self._until_over(), self._up(), self._down(), self._act(), self._probe(), self._words.speak()]
        over, *tasks = [asyncio.create_task(part) for part in parts]
        for task in tasks:
            task.add_done_callback(lambda done: self._over.set())
        try:
            await self._socket.send(VERSION)
            self.tell_control("joined")
            if self._locks.standing(self._viewer.browser_id) is not None:
                self.tell_lock()
            await over
        finally:
            self._socket.take = None
            self._picture.hand_on(None)
            self._control.give_up(self, "gone")
            self.hands.let_go()
            for task in (over, *tasks):
                task.cancel()
            for done in await asyncio.gather(over, *tasks, return_exceptions=True):
                _log_unexpected(done)
            await self._picture.close()
            with contextlib.suppress(Exception):
                await self._socket.close(1000, self._ending or "")

    def end(self, why: str) -> None:
        """Say why, and end the connection. From now on they do nothing more."""
        if self._ending is None:
            self._ending = why
            self._words.tell({"t": "end", "why": why})
        self._over.set()

    def cut(self, why: str) -> None:
        """End the connection at once: not one more byte of the picture is sent."""
        self._picture.abort()
        self.end(why)

    def input_over(self, why: str) -> None:
        """Their control is over at this moment: nothing stays pressed. The reason is told with who has it now."""
        self._forget_what_waits()

    def _forget_what_waits(self) -> None:
        """What was done under one lease, or without any, never arrives under the next."""
        self.hands.stop()
        for number in self._waiting.drop():
            self._words.not_typed(number)

    def _may_type(self) -> bool:
        return self._seems_to_type() and self._control.may_type(self)

    def _seems_to_type(self) -> bool:
        locked = self._locks.standing(self._viewer.browser_id) is not None
        return not self._over.is_set() and not locked and self._control.seems_to_type(self)

    def tell_lock(self) -> None:
        """Tell for how long what they type is dropped; 0: it is not. Nothing stays pressed meanwhile."""
        left = self._locks.seconds_left(self._viewer.browser_id)
        if left:
            self._forget_what_waits()
        self._words.tell({"t": "locked", "seconds": left})

    def tell_control(self, why: str) -> None:
        """Tell who has control, and for how long."""
        try:
            lease = self._control.lease
        except HandoffError:
            lease = None
        now = time.monotonic()
        if lease is None:
            said: dict[str, Any] = {"who": "nobody"}
        elif self._control.is_mine(self, lease):
            said = {"who": "you", "seconds": round(lease.ends - now, 3)}
        else:
            same = lease.about == self._viewer.handoff_id
            said = {"who": "other", "lease": lease.lease_id if same else None}
        record = self._control.hold(self._viewer.handoff_id)
        left = round(record.seconds_left, 3) if record is not None else 0.0
        self._words.tell({"t": "control", "why": why, "mode": self._viewer.mode, "left": left, **said})

    # --- from the viewer ---

    async def _up(self) -> None:
        self._socket.take = self._take_at_once
        async for data in self._socket:
            self._hear()
            if self._over.is_set():
                return  # in the moment for the last words nobody takes control either
            if isinstance(data, str):
                await self._on_text(data)
            else:
                await self._on_messages(data)
            self._socket.handled()
        self._over.set()

    async def _on_messages(self, data: bytes) -> None:
        messages = self._read(data)
        await self._greet()
        for message in messages:
            if message.kind is Kind.PICTURE:
                self._ask(message)
                await self._picture.room()
            else:
                await self._waiting.put(message)

    def _take_at_once(self, data: bytes) -> bool:
        """Pass on what a page sends one by one in the moment in which it comes, where nothing has to be waited for."""
        few = len(data) <= _FEW and self._waiting.room >= _FEW
        if self._greeting or self._over.is_set() or not few or not self._picture.flows:
            return False
        self._hear()
        for message in self._read(data):
            if message.kind is Kind.PICTURE:
                self._ask(message)
            elif not self._waiting.idle or not self.hands.at_once(message):
                self._waiting.put_now(message)
        return True

    def _read(self, data: bytes) -> list[Message]:
        try:
            return self._parser.feed(data)
        except Violation as error:
            log.warning(
                "%s: %s said what is not let through: %s", self._viewer.handoff_id, self._viewer.viewer_id, error
            )
            self._control.give_up(self, "violation")
            self.end("violation")
            return []

    def _ask(self, message: Message) -> None:
        """Asking for the picture needs no lease, and waits for nothing that is typed."""
        self._picture.write(message.data)
        self._asked = self._asked or message.data[0] == 3

    async def _greet(self) -> None:
        while self._greeting and self._parser.greeted > 3 - len(self._greeting):
            await self._socket.send(self._greeting.pop(0))

    def _description(self) -> bytes:
        size = struct.pack(">HH", self._picture.width, self._picture.height)
        return size + self._picture.format + struct.pack(">I", len(_NAME)) + _NAME

    async def _on_text(self, data: str) -> None:
        said = read_word(data)
        match said.get("t"):
            case "ping":
                self._pings = True
                age = round((time.monotonic() - self._heard) * 1000)
                self._words.tell({"t": "pong", "n": _number(said.get("n")), "age": age if self._asked else 0})
            case "renew":
                self._control.renew(self)
            case "control":
                self._on_control(said)
            case "override":
                if self._viewer.mode == "control":
                    viewer = self._viewer
                    self._locks.override(viewer.browser_id, viewer.viewer_id, viewer.handoff_id)
            case "text":
                await self._on_typed(said)
            case _:
                self.end("violation")

    def _on_control(self, said: dict[str, Any]) -> None:
        if said.get("want") is not True:
            self._control.give_up(self)
            return
        instead_of = said.get("instead_of")
        try:
            lease = self._control.take(self, instead_of if isinstance(instead_of, str) else None)
            if lease.lease_id != self._lease_id:
                self._lease_id = lease.lease_id
                self._forget_what_waits()
        except HandoffError as error:
            self._words.tell({"t": "refused", "code": str(error.code)})
            self.tell_control("refused")

    async def _on_typed(self, said: dict[str, Any]) -> None:
        text, number = said.get("text"), _number(said.get("n"))
        if not isinstance(text, str) or len(text) > LONGEST_TEXT:
            self._words.not_typed(number)
            return
        await self._waiting.put(Typed(number, text))

    # --- to the display ---

    async def _act(self) -> None:
        """One after the other, in the order in which it came."""
        while True:
            match await self._waiting.take():
                case Typed() as typed:
                    numbers, text = self._waiting.with_what_follows(typed)
                    done = await self.hands.type(text)
                    for number in numbers:
                        self._words.typed(number, done=done)
                case message:
                    await self.hands.pass_on(message)

    # --- from the display ---

    async def _down(self) -> None:
        """Pass the picture on in the moment in which it comes; where the page lags behind, at its pace."""
        self._picture.hand_on(self._pass)
        while data := await self._picture.read():
            self._heard = time.monotonic()
            await self._socket.send(data)
        self.end("display")

    def _pass(self, data: bytes) -> bool:
        self._heard = time.monotonic()
        return self._socket.send_at_once(data)

    async def _probe(self) -> None:
        """Ask for a pixel all the while: what the display last said tells whether the picture is live."""
        while True:
            await asyncio.sleep(_PROBE_SECONDS)
            self._end_silent()
            if self._asked and not self._picture.unread:
                self._picture.write(ask_for_a_pixel())

    def _hear(self) -> None:
        """Something has come from the page."""
        self._end_silent()
        self._said = time.monotonic()

    def _end_silent(self) -> None:
        """A viewer of whom nothing was heard for long has no control any more: what they did would come late."""
        if self._pings and time.monotonic() - self._said > _SILENT_SECONDS:
            self._control.give_up(self, "silent")

    async def _until_over(self) -> None:
        """Until the end, and a moment for what was said last."""
        await self._over.wait()
        await self._words.last()


def _number(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0


def _log_unexpected(done: object) -> None:
    if isinstance(done, Exception) and not type(done).__module__.startswith("websockets"):
        log.error("a view ended unexpectedly: %s", type(done).__name__)
