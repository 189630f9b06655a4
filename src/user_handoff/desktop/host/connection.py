"""A client's connection: what it sends is handled in the moment in which it comes, without a task in between."""

from collections.abc import Callable

from websockets.asyncio.server import ServerConnection
from websockets.frames import DATA_OPCODES, Frame, Opcode
from websockets.protocol import Event

Take = Callable[[str], bool]
"""Handles a message; returns False where it has to wait, and nothing was done."""


class ClientConnection(ServerConnection):
    """The connection of a CDP client.

    Attributes:
        take: Called with each text that comes while nothing older waits; what it does not take waits for `recv`.
        waiting: How many messages were not taken; whoever receives them counts it down.
    """

    take: Take | None = None
    waiting: int = 0

    def process_event(self, event: Event) -> None:
        """Have it taken, else keep it for `recv`."""
        if isinstance(event, Frame) and event.opcode in DATA_OPCODES:
            if event.fin and event.opcode is Opcode.TEXT and not self.waiting and self._taken(bytes(event.data)):
                return
            self.waiting += event.fin
        super().process_event(event)

    def _taken(self, data: bytes) -> bool:
        if self.take is None:
            return False
        try:
            text = data.decode()
        except UnicodeDecodeError:  # `recv` ends the connection for it
            return False
        return self.take(text)
