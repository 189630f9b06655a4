"""Refusals as problem details (RFC 9457), with the same stable codes as everywhere."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.responses import JSONResponse

from user_handoff.contract.errors import ErrorCode, HandoffError

_STATUS: Final = {
    ErrorCode.UNAUTHORIZED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.GRANT_UNKNOWN: HTTPStatus.UNAUTHORIZED,
    ErrorCode.GRANT_EXPIRED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.GRANT_REVOKED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.AUTH_CONTEXT_CHANGED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.FORBIDDEN: HTTPStatus.FORBIDDEN,
    ErrorCode.NOT_OWNER: HTTPStatus.FORBIDDEN,
    ErrorCode.MISSING_SCOPE: HTTPStatus.FORBIDDEN,
    ErrorCode.SESSION_NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.UNKNOWN_REQUEST: HTTPStatus.NOT_FOUND,
    ErrorCode.REQUEST_LIMIT: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorCode.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorCode.UNKNOWN_BROWSER: HTTPStatus.NOT_FOUND,
    ErrorCode.UNKNOWN_STATE: HTTPStatus.NOT_FOUND,
    ErrorCode.INVALID_REQUEST: HTTPStatus.BAD_REQUEST,
    ErrorCode.UNKNOWN_HANDOFF: HTTPStatus.NOT_FOUND,
    ErrorCode.UNKNOWN_TAKEOVER: HTTPStatus.NOT_FOUND,
    ErrorCode.LINK_UNKNOWN: HTTPStatus.NOT_FOUND,
    ErrorCode.TEMPORAL_UNREACHABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.NAMESPACE_MISSING: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.RUNNER_UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.OUTCOME_UNKNOWN: HTTPStatus.SERVICE_UNAVAILABLE,
}


def status_of(error: HandoffError) -> HTTPStatus:
    """The HTTP status of an error: 409 where what is asked does not fit what holds."""
    return _STATUS.get(error.code, HTTPStatus.CONFLICT)


class ProblemResponse(JSONResponse):
    """A refusal.

    Attributes:
        code: Its code.
    """

    media_type = "application/problem+json"
    code: ErrorCode


def problem(
    error: HandoffError, status: HTTPStatus | None = None, headers: Mapping[str, str] | None = None
) -> ProblemResponse:
    """The response that says why something was refused."""
    status = status or status_of(error)
    body = {
        "type": f"urn:user-handoff:problem:{error.code}",
        "title": error.what,
        "status": int(status),
        "detail": str(error),
        "code": str(error.code),
        "holds": error.holds,
        "do_next": error.do_next,
        "details": error.details,
    }
    response = ProblemResponse(body, status, {**_headers(error, status), **(headers or {})})
    response.code = error.code
    return response


def _headers(error: HandoffError, status: HTTPStatus) -> dict[str, str]:
    if status is HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": "Bearer"}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        return {"Retry-After": str(error.details.get("retry_after_seconds", 5))}
    return {}
