"""Refusals as MCP tells them: of the caller as JSON-RPC errors, of what was asked as results of the tool."""

import json
import logging
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error

_LOG = logging.getLogger(__name__)

SESSION_GONE: Final = -32001
GRANT_REFUSED: Final = -32002
FORBIDDEN: Final = -32003

_NUMBERS: Final = {
    ErrorCode.SESSION_NOT_FOUND: SESSION_GONE,
    ErrorCode.SESSION_CLOSED: SESSION_GONE,
    ErrorCode.GRANT_UNKNOWN: GRANT_REFUSED,
    ErrorCode.GRANT_EXPIRED: GRANT_REFUSED,
    ErrorCode.GRANT_REVOKED: GRANT_REFUSED,
    ErrorCode.AUTH_CONTEXT_CHANGED: GRANT_REFUSED,
    ErrorCode.STALE_VERSION: GRANT_REFUSED,
    ErrorCode.UNAUTHORIZED: FORBIDDEN,
    ErrorCode.FORBIDDEN: FORBIDDEN,
    ErrorCode.NOT_OWNER: FORBIDDEN,
    ErrorCode.MISSING_SCOPE: FORBIDDEN,
}


def number_of(error: HandoffError) -> int | None:
    """The JSON-RPC code of an error; None where it is the result of a tool."""
    return _NUMBERS.get(error.code)


def as_protocol_error(error: HandoffError) -> MCPError:
    """An error as JSON-RPC carries it: the stable code is ``data.code``."""
    number = number_of(error)
    if number is None:
        number = INVALID_PARAMS if error.code is ErrorCode.INVALID_REQUEST else INTERNAL_ERROR
    return MCPError(code=number, message=str(error), data=error.to_dict())


def as_result(error: HandoffError) -> CallToolResult:
    """An error as the result of a tool, for the agent to read."""
    words = [f"{error.code}: {error.what}", error.holds, error.do_next]
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(word for word in words if word))],
        structured_content=error.to_dict(),
        is_error=True,
    )


def invalid(what: str, do_next: str = "Send what the Model Context Protocol says.") -> HandoffError:
    """The message itself is wrong."""
    return make_error(ErrorCode.INVALID_REQUEST, what, holds="Nothing was done.", do_next=do_next)


def typed(error: Exception) -> MCPError:
    """Any error of a handler, with a stable code and without a value of the message."""
    if isinstance(error, HandoffError):
        return as_protocol_error(error)
    if isinstance(error, MCPError):
        return MCPError(code=error.error.code, message=error.error.message, data=with_code(error.error.data))
    if isinstance(error, ValidationError):
        return MCPError(
            code=INVALID_PARAMS,
            message="Invalid request parameters",
            data=invalid("The parameters do not fit.").to_dict(),
        )
    _LOG.error("a message failed with %s", type(error).__name__)
    failed = make_error(
        ErrorCode.FAILED,
        f"The gateway failed unexpectedly ({type(error).__name__}).",
        holds="What was asked may or may not have been done.",
        do_next="Look before you act again.",
    )
    return MCPError(code=INTERNAL_ERROR, message="Internal error", data=failed.to_dict())


def with_code(data: Any) -> dict[str, Any]:
    """The data of an error of the protocol itself, with the code that ours have."""
    if isinstance(data, dict):
        return data if "code" in data else {"code": str(ErrorCode.INVALID_REQUEST), **data}
    found: dict[str, Any] = {"code": str(ErrorCode.INVALID_REQUEST)}
    return found if data in (None, "") else {**found, "detail": str(data)[:200]}


def typed_body(body: bytes, status: int) -> bytes:
    """The body of an HTTP refusal as a JSON-RPC error with a stable code, whatever it was."""
    try:
        message = json.loads(body)
        error = dict(message["error"])
    except (ValueError, TypeError, KeyError):
        text = body.decode(errors="replace")[:200] or f"Refused with status {status}"
        message, error = {"jsonrpc": "2.0", "id": None}, {"code": -32600, "message": text}
    message["error"] = {**error, "data": with_code(error.get("data"))}
    return json.dumps(message).encode()
