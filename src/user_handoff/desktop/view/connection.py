"""A viewer's connection, as the view needs it."""

from collections.abc import AsyncIterator
from typing import Final, Protocol

from websockets.asyncio.server import ServerConnection, broadcast

_LITTLE: Final = 64 * 1024
"""As long as no more waits to be sent, a part of the picture is sent at once."""


class Socket(Protocol):
    """A WebSocket."""

    async def send(self, data: bytes | str, /) -> None:
        """Send one message."""

    def send_at_once(self, data: bytes, /) -> bool:
        """Send one message now; False where too much waits already, and nothing was sent."""

    def __aiter__(self) -> AsyncIterator[bytes | str]:
        """What comes, until the other side is gone."""

    async def close(self, code: int = ..., reason: str = ...) -> None:
        """End it."""


class ViewerConnection(ServerConnection):
    """A viewer's connection."""

    def send_at_once(self, data: bytes) -> bool:
        """Send one message now; False where too much waits already, and nothing was sent."""
        if self.transport.get_write_buffer_size() > _LITTLE:
            return False
        broadcast((self,), data)
        return True
