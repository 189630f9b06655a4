"""The RFB protocol (RFC 6143), as far as it is let through: what a viewer may say, read message by message."""

import struct
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Protocol

VERSION: Final = b"RFB 003.008\n"
NO_PASSWORD: Final = 1

_SET_PIXEL_FORMAT, _SET_ENCODINGS, _UPDATE_REQUEST, _KEY, _POINTER, _CUT_TEXT = 0, 2, 3, 4, 5, 6
_CONTINUOUS_UPDATES, _FENCE = 150, 248

_LONGEST_CUT_TEXT: Final = 256 * 1024
_MOST_ENCODINGS: Final = 128
_LONGEST_FENCE: Final = 64

_BUTTONS: Final = 0x7F
"""Left, middle, right, and the four directions of the wheel. The eighth bit announces a longer message."""

_LENGTHS: Final = {_SET_PIXEL_FORMAT: 20, _UPDATE_REQUEST: 10, _KEY: 8, _POINTER: 6, _CONTINUOUS_UPDATES: 10}

ENCODINGS: Final = frozenset(
    {0, 1, 2, 5, 6, 7, 16, 21, -260}  # raw, copy, RRE, hextile, zlib, tight, ZRLE, JPEG, tight with PNG
    | set(range(-32, -22))  # quality
    | set(range(-256, -246))  # compression
    | {-223, -224, -239, 0x574D5664, -312, -313}  # size, last rectangle, two cursors, fence, continuous updates
)
"""What a viewer may ask the server for. Everything else, such as extended keys, mouse, clipboard and resizing, is left
out, so that the server never offers it and no message of it is ever right."""


class Kind(Enum):
    """What a message is about."""

    PICTURE = auto()
    KEY = auto()
    POINTER = auto()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a viewer.

    Attributes:
        kind: What it is about; only what is about the picture needs no lease.
        data: Its bytes, as they may be sent on.
        down: Of a key: pressed.
        keysym: Of a key: which.
        buttons: Of the pointer: which are down, as bits.
        place: Of the pointer: where, in pixels.
    """

    kind: Kind
    data: bytes
    down: bool = False
    keysym: int = 0
    buttons: int = 0
    place: tuple[int, int] = (0, 0)


class Violation(Exception):
    """The viewer said something that is not let through; its connection ends."""


class LengthOf(Protocol):
    """Tells the length of a message from the count in it."""

    def __call__(self, count: int, /) -> int:
        """The length in bytes; not above 0 where there is no such message."""


class ViewerParser:
    """Reads what a viewer sends, from its first byte. After a violation it reads nothing more."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._greeting = [(len(VERSION), VERSION), (1, bytes([NO_PASSWORD])), (1, None)]
        self._broken = False

    @property
    def greeted(self) -> int:
        """How many of the three parts of the greeting have come: version, security, and whether it shares."""
        return 3 - len(self._greeting)

    def feed(self, data: bytes) -> list[Message]:
        """Take bytes in, and return the messages that they complete.

        Raises:
            Violation: It is not a message that is let through. Nothing of it is returned, then or later.
        """
        if self._broken:
            raise Violation("after a violation")
        self._buffer += data
        try:
            self._greet()
            return self._messages() if not self._greeting else []
        except Violation:
            self._broken = True
            self._buffer.clear()
            raise

    def _greet(self) -> None:
        while self._greeting and len(self._buffer) >= self._greeting[0][0]:
            length, wanted = self._greeting.pop(0)
            said = self._take(length)
            if wanted is not None and said != wanted:
                raise Violation("the greeting")

    def _messages(self) -> list[Message]:
        found = []
        while self._buffer:
            length = self._length()
            if length is None or len(self._buffer) < length:
                break
            message = _read(self._take(length))
            if message is not None:
                found.append(message)
        return found

    def _length(self) -> int | None:
        """How long the next message is; None while that cannot be told yet."""
        kind = self._buffer[0]
        if kind in _LENGTHS:
            return _LENGTHS[kind]
        if kind == _SET_ENCODINGS:
            return self._counted(2, ">H", lambda count: 4 + 4 * count, 4 + 4 * _MOST_ENCODINGS)
        if kind == _CUT_TEXT:
            # A negative length announces an extended clipboard, which was never offered.
            return self._counted(4, ">i", lambda count: 8 + count if count >= 0 else -1, 8 + _LONGEST_CUT_TEXT)
        if kind == _FENCE:
            return self._counted(8, ">B", lambda count: 9 + count, 9 + _LONGEST_FENCE)
        raise Violation(f"message {kind}")

    def _counted(self, at: int, form: str, length_of: LengthOf, most: int) -> int | None:
        end = at + struct.calcsize(form)
        if len(self._buffer) < end:
            return None
        length = length_of(struct.unpack_from(form, self._buffer, at)[0])
        if not 0 < length <= most:
            raise Violation(f"the length of message {self._buffer[0]}")
        return length

    def _take(self, length: int) -> bytes:
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken


def _read(data: bytes) -> Message | None:
    """One whole message; None for one that goes nowhere."""
    match data[0]:
        case 4:
            return key(int.from_bytes(data[4:8]), down=data[1] != 0)
        case 5:
            return pointer(data[1] & _BUTTONS, *struct.unpack(">HH", data[2:6]))
        case 6:
            return None  # the clipboard is filled by an explicit act alone, another way
        case 2:
            return Message(Kind.PICTURE, _allowed_encodings(data))
        case _:
            return Message(Kind.PICTURE, data)


def key(keysym: int, *, down: bool) -> Message:
    """A key that is pressed or released."""
    return Message(Kind.KEY, struct.pack(">BBxxI", _KEY, down, keysym), down=down, keysym=keysym)


def pointer(buttons: int, x: int, y: int) -> Message:
    """The pointer at a place, with these buttons down."""
    return Message(Kind.POINTER, struct.pack(">BBHH", _POINTER, buttons, x, y), buttons=buttons, place=(x, y))


def ask_for_a_pixel() -> bytes:
    """Ask for one pixel, changed or not: a server that lives answers."""
    return struct.pack(">BBHHHH", _UPDATE_REQUEST, 0, 0, 0, 1, 1)


def _allowed_encodings(data: bytes) -> bytes:
    asked = struct.unpack(f">{(len(data) - 4) // 4}i", data[4:])
    allowed = [encoding for encoding in asked if encoding in ENCODINGS]
    return struct.pack(f">BxH{len(allowed)}i", _SET_ENCODINGS, len(allowed), *allowed)
