"""JSON-RPC as the relay reads and writes it."""

import json
import logging
import re
from typing import Any, Final

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

log = logging.getLogger(__name__)

Message = dict[str, Any]

BUSY: Final = -32050
"""A person has control: nothing was started, or what was seen is thrown away."""
INVALID: Final = -32600
PARSE: Final = -32700
INTERNAL: Final = -32603

FRAME_BYTES: Final = 16 * 1024 * 1024
"""The largest frame that passes."""

MOST_IN_BATCH: Final = 100
"""Messages in one array."""

_MEMBERS: Final = frozenset(("jsonrpc", "id", "method", "params", "result", "error"))
_CALL_MEMBERS: Final = frozenset(("name", "arguments", "task"))
_NUMBERS: Final = {
    ErrorCode.BROWSER_HELD: BUSY,
    ErrorCode.DESKTOP_HELD: BUSY,
    ErrorCode.RESERVATION_CLOSED: BUSY,
    ErrorCode.SNAPSHOT_REQUIRED: BUSY,
    ErrorCode.OBSERVATION_DISCARDED: BUSY,
    ErrorCode.INVALID_REQUEST: INVALID,
    ErrorCode.PAYLOAD_TOO_LARGE: INVALID,
}
_HEAD_ID: Final = re.compile(rb'^\{"jsonrpc":\s?"2\.0",\s?"id":\s?(\d{1,15}|"[\w./:-]{1,128}"),')
_TAIL_ID: Final = re.compile(rb'[,{]"jsonrpc":\s?"2\.0",\s?"id":\s?(\d{1,15}|"[\w./:-]{1,128}")\}\s*$')


def parse(frame: bytes) -> Any:
    """What a frame says.

    Raises:
        Refused: `invalid_request`: it is not JSON.
    """
    try:
        return json.loads(frame, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise invalid("The message is not JSON.") from None


def encode(message: Any) -> bytes:
    """One frame: a line without any other line end in it.

    What comes from a client is always written anew, so that the server reads what was looked at and nothing else:
    of a member that was there twice, the last one.
    """
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def require_message(message: Any) -> Message:
    """See to it that this is one JSON-RPC message that every server reads alike.

    Raises:
        Refused: `invalid_request`.
    """
    if not isinstance(message, dict):
        raise invalid("The message is not an object.")
    _exact(message, _MEMBERS)
    if "method" not in message:
        if ("result" in message) == ("error" in message):
            raise invalid("The message is neither a request nor an answer.")
    elif not isinstance(message["method"], str) or "result" in message or "error" in message:
        raise invalid("The message is both a request and an answer, or its method is not a text.")
    if "id" in message and not _is_id(message["id"]):
        raise invalid("The id is neither a text nor a whole number that every program can tell from others.")
    try:
        encode(message)
    except (ValueError, RecursionError):
        raise invalid("The message cannot be written down again.") from None
    return message


def tool_of(message: Message) -> str:
    """The tool that a `tools/call` names.

    Raises:
        Refused: `invalid_request`: it names none, or asks for what would go on after its answer.
    """
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("name"), str):
        raise invalid("The call names no tool.")
    _exact(params, _CALL_MEMBERS)
    if params.get("task") is not None:
        raise invalid("A task would go on after its answer, when nobody can see its end.", "Call without a task.")
    return str(params["name"])


def key_of(request_id: Any) -> str:
    """Names an id: 1 and "1" are two."""
    return json.dumps(request_id)


def refusal(request_id: Any, error: HandoffError, number: int | None = None) -> Message:
    """The answer that says why something did not pass."""
    data = {**error.details, **error.to_dict()}
    if error.code in _NUMBERS and _NUMBERS[error.code] == BUSY:
        data["outcome"] = "discarded" if error.code is ErrorCode.OBSERVATION_DISCARDED else "not_started"
        data.setdefault("handoff_id", None)
    number = number or _NUMBERS.get(error.code, INTERNAL)
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": number, "message": str(error), "data": data}}


def invalid(what: str, do_next: str = "Send what the Model Context Protocol says.") -> HandoffError:
    """The message itself is wrong."""
    return make_error(ErrorCode.INVALID_REQUEST, what, holds="It was not passed on.", do_next=do_next)


def too_large(holds: str) -> HandoffError:
    """A frame above the limit."""
    return make_error(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"The message has more than {FRAME_BYTES // 1024 // 1024} MiB.",
        holds=holds,
        do_next="Ask for less at once.",
    )


def garbled(holds: str) -> HandoffError:
    """An answer that nobody can read."""
    return make_error(
        ErrorCode.FAILED,
        "The server's answer is not JSON.",
        holds=holds,
        do_next="Look at what was done before you act again.",
    )


def goes_on(result: Any) -> bool:
    """True where a result says that the work is still being done."""
    return isinstance(result, dict) and (result.get("resultType") == "task" or "task" in result)


def id_in_part(head: bytes, tail: bytes) -> Any:
    """The id of a frame that is too large to be read, where its place tells it for certain; None elsewhere."""
    found = _HEAD_ID.search(head) or _TAIL_ID.search(tail)
    return json.loads(found[1]) if found else None


def _is_id(value: Any) -> bool:
    return value is None or type(value) is str or (type(value) is int and abs(value) < 2**53)


def _exact(members: Message, known: frozenset[str]) -> None:
    """Some readers of JSON take `Method` for `method`: what only looks like a member is refused."""
    if any(name not in known and name.casefold() in known for name in members):
        raise invalid("A member is written in another case than it has.")


def _no_constant(name: str) -> Any:
    raise ValueError(name)
