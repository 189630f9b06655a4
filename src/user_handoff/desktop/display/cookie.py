"""The cookie that an X server asks of its clients."""

import secrets
import socket
import struct
from pathlib import Path

from user_handoff.desktop.state import write_private

_FAMILY_LOCAL = 256
_FAMILY_WILD = 65535
_PROTOCOL = b"MIT-MAGIC-COOKIE-1"


def write_cookie(path: Path) -> None:
    """Write a new random cookie (0600), valid for whatever number the display gets.

    The C libraries take the wild entry, also after the host was renamed; python-xlib knows the local one alone.
    """
    cookie = secrets.token_bytes(16)
    host = socket.gethostname().encode()
    write_private(path, _entry(_FAMILY_WILD, b"", cookie) + _entry(_FAMILY_LOCAL, host, cookie))


def _entry(family: int, address: bytes, cookie: bytes) -> bytes:
    any_number = b""
    fields = (address, any_number, _PROTOCOL, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(field)) + field for field in fields)
