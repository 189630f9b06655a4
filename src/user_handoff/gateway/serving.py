"""Running the gateway in this process until it is told to stop."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable, Generator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.gateway.live.wire import PAGE_WIRE, SILENT, Take


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the program that runs us."""
        yield


class _Protocol(H11Protocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # With access_log=False alone, whoever configures logging later switches it on again.
        self.access_log = False


class _WebSockets(WebSocketsSansIOProtocol):
    """A page's WebSocket; to the live view also a `Wire`."""

    take: Take | None = None
    _heard: bool = False
    """Whether the page has said anything yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # It would write the path of each connection to its log.
        self.logger = self.conn.logger = SILENT
        self.app_state = {**self.app_state, PAGE_WIRE: self}

    def data_received(self, data: bytes) -> None:
        """The first is the request."""
        self._heard = self.handshake_initiated
        super().data_received(data)

    def handle_bytes(self, event: Frame) -> None:
        """Have it taken at this moment, where nothing older waits."""
        now = self.take is not None and event.fin and self.queue.empty() and not self.close_sent
        if not (now and self.take is not None and self.take(bytes(event.data))):
            super().handle_bytes(event)

    def send_at_once(self, data: bytes) -> bool:
        """As in `Wire`."""
        if self.close_sent or not self.handshake_complete or not self.writable.is_set():
            return False
        try:
            self.conn.send_binary(data)
        except InvalidState:
            return False
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    @property
    def can_be_lent(self) -> bool:
        """As in `Wire`."""
        return self.scheme == "ws"

    def lend(self) -> socket.socket | None:
        """As in `Wire`."""
        waits = self._heard or self.transport.get_write_buffer_size() or not self.queue.empty()
        if waits or self.close_sent or self.transport.is_closing():
            return None
        try:
            lent: socket.socket = self.transport.get_extra_info("socket").dup()
        except OSError:  # no handle is free
            return None
        self.transport.pause_reading()
        self.stop_keepalive()
        self.close_sent = True  # whoever has said goodbye says nothing more, not even at a shutdown
        return lent

    def take_back(self) -> None:
        """As in `Wire`."""
        self.close_sent = self.transport.is_closing()
        self.transport.resume_reading()
        self.start_keepalive()


async def serve(
    app: Starlette,
    host: str,
    port: int,
    stop: asyncio.Event,
    *,
    ready: Callable[[int], None] | None = None,
    listener: socket.socket | None = None,
) -> None:
    """Serve until `stop` is set; then end open requests within three seconds.

    Args:
        app: What `create_app` made.
        host: The address to listen on.
        port: 0 takes a free one.
        stop: Set it to end.
        ready: Called with the port once requests are taken.
        listener: What `listen` made, in the place of host and port; it is closed.

    Raises:
        SetupError: ``port_taken``: it cannot listen there.
    """
    with listener or listen(host, port) as listener:
        # No access log: the path of a person's page is a secret.
        config = uvicorn.Config(
            app,
            http=_Protocol,
            access_log=False,
            log_config=None,
            lifespan="on",
            ws=_WebSockets,
            ws_max_size=1024 * 1024,
            ws_per_message_deflate=False,
            ws_ping_interval=10,
            ws_ping_timeout=10,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=3,
        )
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        stopping = asyncio.create_task(stop.wait())
        try:
            if ready is not None:
                ready(listener.getsockname()[1])
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            # Streams that are meant to last would be waited for.
            getattr(app.state, "on_stop", lambda: None)()
            server.should_exit = True
            await serving


def listen(host: str, port: int) -> socket.socket:
    """Listen; what comes waits.

    Args:
        host: The address.
        port: 0 takes a free one.

    Raises:
        SetupError: ``port_taken``.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # by the name of the protocol asyncio sees that small messages are not to wait for others (TCP_NODELAY)
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _cannot_listen(error, host, port) from error
    return listener


def _cannot_listen(error: OSError, host: str, port: int) -> HandoffError:
    if error.errno == errno.EADDRINUSE:
        what, do_next = f"Port {port} of {host} is taken by another program.", "Stop that program, or choose a port."
    elif error.errno == errno.EACCES:
        what, do_next = f"This user may not listen on port {port}.", "Choose a port above 1023."
    else:
        what, do_next = f"This machine cannot listen on {host}.", "Choose 127.0.0.1 or an address it has."
    return make_error(
        ErrorCode.PORT_TAKEN, what, holds="The gateway does not run.", do_next=do_next, host=host, port=port
    )
