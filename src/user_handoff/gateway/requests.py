"""Where a person sends a request of their own: with a key that writes to one session, and reads nothing."""

import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, TypeVar

from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from user_handoff.client.requests import RequestsClient
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.requests import (
    WRITER_SECONDS,
    SaveRequest,
    SendRequest,
    WithdrawRequest,
)
from user_handoff.gateway.bodies import read_body
from user_handoff.gateway.problems import problem
from user_handoff.gateway.tools.callers import AccessDoor

BODY_BYTES: Final = 1_000_000

Endpoint = Callable[[Request], Awaitable[Response]]
T = TypeVar("T", bound=Model)


class NewWriter(Model):
    """Ask for a key to write."""

    name: str = Field(min_length=1, max_length=100)
    """Whose words they will be."""
    expires_in_seconds: float = Field(default=WRITER_SECONDS, gt=0, le=7 * 86_400)


class RequestDoor:
    """The endpoints under ``/inbox``. An Origin header is no credential here, and none is looked at."""

    def __init__(self, requests: RequestsClient, access: AccessDoor) -> None:
        self._requests = requests
        self._access = access

    def endpoints(self) -> tuple[tuple[str, Endpoint, str], ...]:
        """Path, endpoint and method of each."""
        one = "/inbox/requests/{request_id}"
        return (
            ("/inbox/{session_id}/writers", _typed(self.issue), "POST"),
            (one, _typed(self.save), "PUT"),
            (one, _typed(self.show), "GET"),
            (one, _typed(self.withdraw), "DELETE"),
            (f"{one}/send", _typed(self.send), "POST"),
        )

    async def issue(self, request: Request) -> Response:
        """A principal has a key to write issued for a session of its own; it is shown here alone."""
        principal = await self._access.principal(_bearer(request, "hk_"))
        new = await _read(request, NewWriter)
        token = await self._requests.issue_writer(
            request.path_params["session_id"], principal.name, new.name, new.expires_in_seconds
        )
        return JSONResponse({"key": token}, HTTPStatus.CREATED)

    async def save(self, request: Request) -> Response:
        """Write a text down, or change it."""
        return await self._write(request, SaveRequest)

    async def send(self, request: Request) -> Response:
        """Publish a text as it stands at one generation."""
        return await self._write(request, SendRequest)

    async def withdraw(self, request: Request) -> Response:
        """Take a request back."""
        return await self._write(request, WithdrawRequest)

    async def show(self, request: Request) -> Response:
        """Where a request stands: never its text."""
        token = _bearer(request, "hw_")
        receipt = await self._requests.receipt(token, request.path_params["request_id"])
        return JSONResponse(receipt.model_dump(mode="json"))

    async def _write(self, request: Request, kind: type[SaveRequest | SendRequest | WithdrawRequest]) -> Response:
        token = _bearer(request, "hw_")
        what = await _read(request, kind, request_id=request.path_params["request_id"])
        receipt = await self._requests.write(token, what)
        return JSONResponse(receipt.model_dump(mode="json"))


def _typed(endpoint: Endpoint) -> Endpoint:
    async def call(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HandoffError as error:
            return problem(error)
        except HTTPException as error:
            return problem(_invalid("The body is too large."), HTTPStatus(error.status_code))

    return call


async def _read(request: Request, model: type[T], **path: str) -> T:
    body = await read_body(request, BODY_BYTES)
    try:
        fields: Any = json.loads(body or b"{}")
        if not isinstance(fields, dict) or fields.keys() & path.keys():
            raise _invalid("The body must be a JSON object.")
        return model.model_validate({**fields, **path})
    except ValidationError as error:
        wrong = ", ".join(sorted({".".join(map(str, e["loc"]))[:50] or "body" for e in error.errors()}))
        raise _invalid(f"These fields do not fit: {wrong[:200]}.") from None
    except (ValueError, RecursionError):
        raise _invalid("The body is not JSON.") from None


def _bearer(request: Request, kind: str) -> str:
    """The key of a request. Each kind opens one side alone: what reads does not write, what writes does not read."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.startswith(kind):
        return token
    raise make_error(
        ErrorCode.UNAUTHORIZED,
        "A key for this is needed, and another kind of key is none.",
        holds="Nothing was changed.",
        do_next="Send the key to write as a bearer token." if kind == "hw_" else "Send a principal's key.",
    )


def _invalid(what: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST,
        what,
        holds="Nothing was changed.",
        do_next="Send what the reference says, and nothing else.",
    )
