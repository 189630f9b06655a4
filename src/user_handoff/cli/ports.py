"""Ports on this machine."""

import socket

from user_handoff.contract.errors import ErrorCode, SetupError

LOOPBACK = "127.0.0.1"


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """True where a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def require_free(port: int, what: str, option: str, host: str = LOOPBACK) -> None:
    """Refuse a port that another program has.

    Args:
        port: The port.
        what: What it is for, for instance ``Temporal``.
        option: The option that chooses another.
        host: The address to listen on.

    Raises:
        SetupError: `port_taken`.
    """
    if not is_free(port, host):
        raise SetupError(
            ErrorCode.PORT_TAKEN,
            f"Port {port} on {host}, meant for {what}, is taken by another program.",
            holds="Nothing was started.",
            do_next=f"End that program, or choose another port with {option}.",
            port=port,
        )
