"""A page's WebSocket that another process has opened: from here on it ends here."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Final

from websockets.exceptions import ConnectionClosedError
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import SEND_EOF, State
from websockets.server import ServerProtocol

from user_handoff.desktop.view.connection import LITTLE, SILENT

_LONGEST: Final = 1024 * 1024
_BUFFER: Final = 128 * 1024
_MOST_UNSENT: Final = 1024 * 1024
"""A page that has us answer more than it reads is gone."""
_LONGEST_REASON: Final = 123
_ALIVE_SECONDS: Final = 10.0
_CLOSE_SECONDS: Final = 2.0

Heard = Callable[[bytes | str], None]


class PageWire(asyncio.Protocol):
    """The server's end of a WebSocket whose handshake is done (RFC 6455); not one byte after it may be read before."""

    def __init__(self, heard: Heard, gone: Callable[[], None]) -> None:
        """Prepare; the event loop connects it.

        Args:
            heard: Called with each message in the moment in which it has come.
            gone: Called when the page is gone, or has said what no WebSocket may say.
        """
        self._heard = heard
        self._gone = gone
        self._protocol = ServerProtocol(state=State.OPEN, max_size=_LONGEST, logger=SILENT)
        self._message = bytearray()
        self._is_text = False
        self._silent = False
        self._writable, self._lost = asyncio.Event(), asyncio.Event()
        self._transport: asyncio.Transport | None = None
        self._alive: asyncio.TimerHandle | None = None
        self._ending: asyncio.TimerHandle | None = None

    # --- to the page ---

    async def send(self, data: bytes | str) -> None:
        """Send one message, and wait while much waits to be sent.

        Raises:
            ConnectionClosedError: The page is gone.
        """
        await self._writable.wait()
        if self._protocol.state is not State.OPEN:
            raise ConnectionClosedError(None, None)
        self._write(data)

    def send_at_once(self, data: bytes | str) -> bool:
        """Send one message now; False where too much waits already or it is over, and nothing was sent."""
        if self._transport is None or self._protocol.state is not State.OPEN:
            return False
        if self._transport.get_write_buffer_size() > LITTLE:
            return False
        self._write(data)
        return True

    def end(self, code: int, reason: str) -> None:
        """Say goodbye, as the last word; what the page says from now on is not heard."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, _short(reason))
            self._flush()
            self._finish()

    async def until_gone(self) -> None:
        """After the end: wait for the page's own end of it, for a moment."""
        await self._lost.wait()

    def abort(self) -> None:
        """End it at this moment."""
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes | str) -> None:
        if isinstance(data, str):
            self._protocol.send_text(data.encode())
        else:
            self._protocol.send_binary(data)
        self._flush()

    def _flush(self) -> None:
        said = self._protocol.data_to_send()
        if self._transport is None or self._transport.is_closing() or not said:
            return
        self._transport.write(b"".join(said))
        if SEND_EOF in said:
            with contextlib.suppress(OSError):
                self._transport.write_eof()

    def _finish(self) -> None:
        """All is said: whoever waits to send need not, and the page has a moment to answer."""
        self._writable.set()
        self.resume()
        if self._ending is None:
            self._ending = asyncio.get_running_loop().call_later(_CLOSE_SECONDS, self.abort)

    # --- from the page ---

    def pause(self) -> None:
        """Read nothing more for now."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=_BUFFER)
        self._writable.set()
        self._stay_alive()

    def data_received(self, data: bytes) -> None:
        """Hand on every message that is whole, and answer what the protocol answers by itself."""
        self._silent = False
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._on_frame(event)
        self._flush()
        if self._protocol.state is not State.OPEN:
            self._finish()
            self._gone()
        elif self._transport is not None and self._transport.get_write_buffer_size() > _MOST_UNSENT:
            self.abort()

    def _on_frame(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT) or self._protocol.state is not State.OPEN:
            return
        if frame.opcode is not Opcode.CONT:
            self._is_text = frame.opcode is Opcode.TEXT
        self._message += frame.data
        if not frame.fin:
            return
        data = bytes(self._message)
        self._message.clear()
        try:
            self._heard(data.decode() if self._is_text else data)
        except UnicodeDecodeError:
            self._protocol.fail(CloseCode.INVALID_DATA)

    def pause_writing(self) -> None:
        """Much waits to be sent."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It was sent."""
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The page is gone."""
        for timer in (self._alive, self._ending):
            if timer is not None:
                timer.cancel()
        self._protocol.receive_eof()
        self._shut()
        self._lost.set()
        self._writable.set()
        self._gone()

    def _shut(self) -> None:
        """The gateway has a handle of the connection as well: closing ours alone would tell the page nothing."""
        assert self._transport is not None
        with contextlib.suppress(OSError):
            self._transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def _stay_alive(self) -> None:
        """Ask for a sign of life all the while; who gave none since the last time is gone."""
        if self._silent:
            return self.abort()
        self._silent = True
        if self._protocol.state is State.OPEN:
            self._protocol.send_ping(b"alive")
            self._flush()
        self._alive = asyncio.get_running_loop().call_later(_ALIVE_SECONDS, self._stay_alive)
        return None


def _short(reason: str) -> str:
    """As much of it as a close frame has room for."""
    return reason.encode(errors="replace")[:_LONGEST_REASON].decode(errors="ignore")
