"""Server-sent events, one block at a time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from user_handoff.contract.errors import HandoffError
from user_handoff.relay.messages import FRAME_BYTES, too_large

_SMALL = 4096


@dataclass(frozen=True, slots=True)
class Event:
    """One block.

    Attributes:
        fields: Its lines, those with data left out.
        data: What its data lines say together; None: it has none.
    """

    fields: tuple[bytes, ...]
    data: bytes | None

    def saying(self, data: bytes) -> "Event":
        """The same with other data."""
        return replace(self, data=data)

    @property
    def resumable(self) -> bool:
        """True where the stream may be taken up again behind it."""
        return any(line.startswith(b"id:") for line in self.fields)

    def encode(self) -> bytes:
        """The block as it is sent."""
        data = [] if self.data is None else [b"data: " + line for line in self.data.splitlines() or [b""]]
        return b"\n".join([*self.fields, *data]) + b"\n\n"


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The blocks of a stream; what is not ended at its end is left out.

    Raises:
        Refused: `payload_too_large`.
    """
    kept = bytearray()
    lines: list[bytes] = []
    size = 0
    async for chunk in chunks:
        kept += chunk
        while (end := _line_end(kept)) is not None:
            line, behind = bytes(kept[: end[0]]), end[1]
            del kept[:behind]
            if line:
                lines.append(line)
                size += len(line)
            elif lines:
                yield _event(lines)
                lines, size = [], 0
        if size + len(kept) > FRAME_BYTES + _SMALL:
            raise _raised()


async def collect(chunks: AsyncIterator[bytes]) -> bytes:
    """A whole body.

    Raises:
        HandoffError: `payload_too_large`.
    """
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > FRAME_BYTES:
            raise _raised()
    return bytes(body)


def _raised() -> HandoffError:
    return too_large("It was thrown away.")


def _line_end(kept: bytearray) -> tuple[int, int] | None:
    """Where the first line ends, and where the next one begins; a lone CR at the end may have its LF to come."""
    lf, cr = kept.find(b"\n"), kept.find(b"\r")
    if cr == -1 or (lf != -1 and lf < cr):
        return None if lf == -1 else (lf, lf + 1)
    if cr + 1 == len(kept):
        return None
    return cr, cr + (2 if kept[cr + 1] == 0x0A else 1)


def _event(lines: list[bytes]) -> Event:
    fields, data = [], []
    for line in lines:
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        else:
            fields.append(line)
    return Event(tuple(fields), b"\n".join(data) if data else None)
