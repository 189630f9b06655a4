"""The wire: what a client may send, and how a message of the browser is routed by its head and tail alone."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from user_handoff.contract.errors import ErrorCode

REFUSED = -32050
"""The JSON-RPC code of a refusal by the gate."""

_DO_NEXT = {
    ErrorCode.BROWSER_HELD: "Wait until the person is done; this connection goes on then.",
    ErrorCode.DESKTOP_HELD: "Wait until no person has a browser of this desktop.",
    ErrorCode.SNAPSHOT_REQUIRED: "Look at the page, then act.",
    ErrorCode.OUTCOME_UNKNOWN: "Look at the page once the person is done, before you act again.",
    ErrorCode.RESERVATION_CLOSED: "Have the desktop's operator look at its ledger.",
}

_KEYS = {"id", "method", "params", "sessionId"}
_REPLY = re.compile(rb'^\{"id":(\d+)')
_EVENT = re.compile(rb'^\{"method":"([A-Za-z.]+)"')
_SESSION = re.compile(rb',"sessionId":"([0-9A-F]{32})"\}$')
_TAIL_BYTES = 64
_DEPTH = 250
"""Chromium takes 300 levels, and answers a deeper message without its id."""

Json = dict[str, Any]


class InvalidMessage(Exception):
    """A client sent what is no CDP command.

    Attributes:
        reply: What to answer.
    """

    def __init__(self, reply: bytes) -> None:
        super().__init__("invalid message")
        self.reply = reply


@dataclass(slots=True)
class Command:
    """A client's command."""

    id: int
    method: str
    params: Json = field(default_factory=dict)
    session: str | None = None

    def to_bytes(self, id: int, session: str | None) -> bytes:
        """The command as the browser gets it: serialised anew, so that what was checked is what is sent."""
        message: Json = {"id": id, "method": self.method, "params": self.params}
        if session is not None:
            message["sessionId"] = session
        return dump(message)


def dump(message: Json) -> bytes:
    """Serialise; lone surrogates stay as they came, in escaped form."""
    return _ENCODER.encode(message).encode("ascii")


def parse_command(text: str | bytes) -> Command:
    """Read a client's message.

    Raises:
        InvalidMessage: It is binary, no JSON, or not exactly a CDP command.
    """
    if isinstance(text, bytes):
        raise InvalidMessage(_invalid(None, "text frames only"))
    try:
        message = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise InvalidMessage(dump({"error": {"code": -32700, "message": "no JSON"}})) from None
    too_deep = text.count("[") + text.count("{") > _DEPTH and _deeper(message, _DEPTH)
    if not isinstance(message, dict):
        raise InvalidMessage(_invalid(None, "not an object"))
    id, method = message.get("id"), message.get("method")
    params, session = message.get("params", {}), message.get("sessionId")
    if type(id) is not int or not 0 <= id < 2**53:
        raise InvalidMessage(_invalid(None, "the id must be a whole number"))
    if not isinstance(method, str) or not isinstance(params, dict) or not isinstance(session, str | None):
        raise InvalidMessage(_invalid(id, "method, params or sessionId has the wrong type"))
    if too_deep:
        raise InvalidMessage(_invalid(id, "it is nested too deeply"))
    if set(message) - _KEYS:
        raise InvalidMessage(_invalid(id, "unknown keys"))
    return Command(id, method, params, session)


def result(command: Command, value: Json | None = None) -> bytes:
    """The host's own answer to a command."""
    return dump(_addressed(command, {"result": value or {}}))


def refusal(command: Command, code: ErrorCode, message: str, *, number: int = REFUSED, **data: object) -> bytes:
    """The host's own refusal. The message begins with the code, since Playwright shows nothing else of an error."""
    details = {"code": str(code), "method": command.method, "outcome": "not_started", **data}
    if code in _DO_NEXT:
        details["do_next"] = _DO_NEXT[code]
    error = {"code": number, "message": f"{code}: {message}", "data": details}
    return dump(_addressed(command, {"error": error}))


def raised(command: Command, code: ErrorCode, message: str) -> bytes:
    """A refusal of code that was to run in a page, as an exception of that code.

    Of an error, frameworks think that the page has just gone: they try again until their own time-out.
    """
    error = {
        "type": "object",
        "subtype": "error",
        "className": "Error",
        "description": f"Error: {code}: {message}",
    }
    details = {"exceptionId": 1, "text": "Uncaught", "lineNumber": 0, "columnNumber": 0, "exception": error}
    return dump(_addressed(command, {"result": {"result": error, "exceptionDetails": details}}))


def failed(command: Command, code: int, message: str) -> bytes:
    """An error as Chromium itself would say it."""
    return dump(_addressed(command, {"error": {"code": code, "message": message}}))


def unknown_session(command: Command) -> bytes:
    """What Chromium says of a session that the client does not have."""
    return failed(command, -32001, "Session with given id not found.")


@dataclass(slots=True)
class Incoming:
    """A message of the browser, not parsed: most are large and only passed on.

    Attributes:
        raw: The bytes.
        reply_to: The id that it answers; None for an event.
        method: The event's name; empty for a reply.
        session: The session that it belongs to; None for the host's own.
    """

    raw: bytes
    reply_to: int | None
    method: str
    session: str | None
    _id_ends: int
    _session_starts: int

    @classmethod
    def of(cls, raw: bytes) -> "Incoming":
        """Look at the head and the tail."""
        tail = _SESSION.search(raw, max(0, len(raw) - _TAIL_BYTES))
        session = tail[1].decode() if tail else None
        starts = tail.start() if tail else len(raw)
        reply = _REPLY.match(raw)
        if reply:
            return cls(raw, int(reply[1]), "", session, reply.end(), starts)
        event = _EVENT.match(raw)
        return cls(raw, None, event[1].decode() if event else "", session, 0, starts)

    @property
    def is_error(self) -> bool:
        """True for a reply that is an error."""
        return self.raw.startswith(b',"error"', self._id_ends)

    def parsed(self) -> Json:
        """The whole message."""
        message: Json = json.loads(self.raw)
        return message

    def addressed(self, *, id: int | None = None, root: bool) -> bytes:
        """The bytes for a client: with its own id, and without the session where that is the client's root."""
        body = self.raw[self._id_ends : self._session_starts] + b"}" if root else self.raw[self._id_ends :]
        return body if id is None else b'{"id":%d' % id + body


def _addressed(command: Command, body: Json) -> Json:
    message = {"id": command.id, **body}
    if command.session is not None:
        message["sessionId"] = command.session
    return message


def _invalid(id: int | None, why: str) -> bytes:
    known = {} if id is None else {"id": id}
    return dump({**known, "error": {"code": -32600, "message": f"invalid request: {why}"}})


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(digits)
    return number


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def _deeper(value: object, limit: int) -> bool:
    """True where more than so many objects and arrays are within each other."""
    layer: list[Any] = [value]
    for _ in range(limit + 1):
        layer = [each for each in layer if isinstance(each, dict | list)]
        if not layer:
            return False
        layer = [inner for each in layer for inner in (each.values() if isinstance(each, dict) else each)]
    return True
