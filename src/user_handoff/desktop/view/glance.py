"""A look at a display that costs one exchange of a few bytes: has anything changed there, and who is typed to?"""

import asyncio
import socket
import struct
from collections import deque
from dataclasses import dataclass
from typing import Final

from user_handoff.desktop.display.connection import connect
from user_handoff.desktop.display.display import Display

_GET_INPUT_FOCUS: Final = struct.pack("=BxH", 43, 1)
_UNIT: Final = 32
_REPLY, _GENERIC = 1, 35
_FROM_ANOTHER: Final = 0x80
"""Set in the kind of an event that a program has sent."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a glance saw. Two that are equal saw the same windows in the same order, and the keyboard at the same one.

    Attributes:
        changes: How much the server had told of its windows until then.
        focus: The window that has the keyboard.
    """

    changes: int
    focus: int


class Glance(asyncio.Protocol):
    """A connection to an X server that lives in the event loop and knows nothing: it counts what it is told.

    The server tells of a change before it answers what is asked after it (X Window System Protocol, section 1, on
    sequence numbers and events): an answer without anything before it says that nothing has changed.

    Attributes:
        changed: Set whenever something has changed; whoever waits for it clears it.
    """

    def __init__(self, display: Display) -> None:
        """Connect, and be told of every change of the windows from now on. Blocks; `attach` takes it into the loop.

        Args:
            display: The display.

        Raises:
            SetupError: `no_display`.
        """
        self.changed = asyncio.Event()
        self._buffer = bytearray()
        self._changes = 0
        self._asked: deque[asyncio.Future[Seen | None]] = deque()
        self._socket = _listening(display)
        self._transport: asyncio.Transport | None = None

    async def attach(self) -> None:
        """Begin to read what is told, in this event loop."""
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=self._socket)

    async def now(self, seconds: float) -> Seen | None:
        """See what holds at this moment; None where the server does not say it in time, or is gone."""
        if self._transport is None or self._transport.is_closing():
            return None
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[Seen | None] = loop.create_future()
        self._asked.append(asked)
        self._transport.write(_GET_INPUT_FOCUS)
        too_late = loop.call_later(seconds, _answer, asked, None)
        try:
            return await asked
        finally:
            too_late.cancel()

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()
        else:
            self._socket.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is known any more."""
        while self._asked:
            _answer(self._asked.popleft(), None)

    def data_received(self, data: bytes) -> None:
        """Count what the server tells, and hand out its answers."""
        self._buffer += data
        while (length := self._length()) and len(self._buffer) >= length:
            kind = self._buffer[0]
            if kind == _REPLY:
                _answer(self._asked.popleft(), Seen(self._changes, struct.unpack_from("=I", self._buffer, 8)[0]))
            else:
                self._changes += 1  # an error, of which there should be none, counts like a change
                self.changed.set()
            del self._buffer[:length]

    def _length(self) -> int:
        """How long the next message is; 0 while that cannot be told yet."""
        if len(self._buffer) < _UNIT:
            return 0
        longer = self._buffer[0] & ~_FROM_ANOTHER in (_REPLY, _GENERIC)
        return _UNIT + (4 * int(struct.unpack_from("=I", self._buffer, 4)[0]) if longer else 0)


def _answer(asked: asyncio.Future[Seen | None], seen: Seen | None) -> None:
    if not asked.done():
        asked.set_result(seen)


def _listening(display: Display) -> socket.socket:
    """A connection on which nothing is under way and changes are told; the library that made it lets go of it."""
    from Xlib import X

    x = connect(display.name, display.xauthority)
    x.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask | X.PropertyChangeMask)
    x.sync()
    connected: socket.socket = x.display.socket
    return connected
