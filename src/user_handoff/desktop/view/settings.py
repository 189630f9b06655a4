"""How the live view of a desktop is reached."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from user_handoff.contract.errors import ErrorCode, SetupError
from user_handoff.desktop.lease.lease import TTL_SECONDS

LISTEN_VARIABLE: Final = "HANDOFF_VIEW_LISTEN"
ADDRESS_VARIABLE: Final = "HANDOFF_VIEW_ADDRESS"
LEASE_VARIABLE: Final = "HANDOFF_LEASE_SECONDS"

_SHORTEST = 1.0


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """How the live view is reached.

    Attributes:
        listen: Host and port for gateways on other machines, without encryption; None: a Unix socket.
        address: What gateways are told, where it is another than `listen`: ``ws://…`` or ``wss://…``.
        ttl_seconds: How long control lasts without a sign of the person, in the view or in a takeover; at most 30.
    """

    listen: tuple[str, int] | None = None
    address: str | None = None
    ttl_seconds: float = TTL_SECONDS

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> "ViewSettings":
        """What the environment says.

        Raises:
            SetupError: `invalid_request`: it cannot be understood.
        """
        listen, address = environ.get(LISTEN_VARIABLE), environ.get(ADDRESS_VARIABLE)
        if address and (urlsplit(address).scheme not in ("ws", "wss") or not urlsplit(address).hostname):
            raise _wrong(ADDRESS_VARIABLE, "ws://desktop-1:8710 or wss://desktop-1.example/view")
        place = _place(listen) if listen else None
        if place is not None and not address and _is_every(place[0]):
            raise SetupError(
                ErrorCode.INVALID_REQUEST,
                f"{LISTEN_VARIABLE} names every address of this machine, and gateways elsewhere can be told none.",
                holds="Nothing was started.",
                do_next=f"Name one, like 10.0.0.7:8710, or say by {ADDRESS_VARIABLE} where gateways find it.",
            )
        return cls(place, address or None, _lease(environ.get(LEASE_VARIABLE)))


def _lease(said: str | None) -> float:
    if not said:
        return TTL_SECONDS
    try:
        seconds = float(said)
    except ValueError:
        seconds = 0.0
    if not _SHORTEST <= seconds <= TTL_SECONDS:
        raise _wrong(LEASE_VARIABLE, f"{TTL_SECONDS:.0f}, from {_SHORTEST:.0f} to {TTL_SECONDS:.0f} seconds")
    return seconds


def _place(listen: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{listen}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None or parts.path:
        raise _wrong(LISTEN_VARIABLE, "10.0.0.7:8710")
    return host, port


def _is_every(host: str) -> bool:
    """Whether a host means all addresses of a machine: a gateway that is told it looks on its own."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return not host.strip("0.")  # as in 0:8710


def _wrong(name: str, like: str) -> SetupError:
    return SetupError(
        ErrorCode.INVALID_REQUEST,
        f"{name} cannot be understood.",
        holds="Nothing was started.",
        do_next=f"Give it like {like}.",
    )
