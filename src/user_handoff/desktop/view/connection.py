"""A viewer's connection, as the view needs it."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

LITTLE: Final = 64 * 1024
"""As long as no more waits to be sent, a part of the picture is sent at once."""

SILENT: Final = logging.getLogger("user_handoff.silent")
"""The library would log headers, and a ticket is one."""
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
SILENT.disabled = True

Take = Callable[[bytes], bool]
"""Takes a message; returns False where it has not taken it."""


class Socket(Protocol):
    """A WebSocket."""

    take: Take | None
    """Called with each binary message that comes while nothing older waits; what it does not take is iterated over."""

    def handled(self) -> None:
        """Say of each message that was iterated over that all is done with it."""

    async def send(self, data: bytes | str, /) -> None:
        """Send one message."""

    def send_at_once(self, data: bytes, /) -> bool:
        """Send one message now; False where too much waits already, and nothing was sent."""

    def __aiter__(self) -> AsyncIterator[bytes | str]:
        """What comes, until the other side is gone."""

    async def close(self, code: int = ..., reason: str = ...) -> None:
        """End it."""


class ViewerConnection(ServerConnection):
    """A viewer's connection; a `Socket`."""

    take: Take | None = None
    _waiting: int = 0
    """How many messages were not taken, and are not yet handled."""

    def process_event(self, event: Event) -> None:
        """Have it taken, else keep it for whoever iterates."""
        if isinstance(event, Frame) and event.opcode in (Opcode.BINARY, Opcode.TEXT):
            now = event.opcode is Opcode.BINARY and event.fin and not self._waiting
            if now and self.take is not None and self.take(bytes(event.data)):
                return
            self._waiting += 1
        super().process_event(event)

    def handled(self) -> None:
        """As in `Socket`."""
        self._waiting -= 1

    def send_at_once(self, data: bytes) -> bool:
        """Send one message now; False where too much waits already, and nothing was sent."""
        if self.transport.get_write_buffer_size() > LITTLE:
            return False
        broadcast((self,), data)
        return True
