"""The door: who asks, what is asked and whether it fits, before an operation does it."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from user_handoff.client.claims import claim
from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.base import Model
from user_handoff.contract.claims import digest_of
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import claim_workflow_id
from user_handoff.contract.session import Scope
from user_handoff.gateway.bodies import read_body
from user_handoff.gateway.metrics import Metrics
from user_handoff.gateway.problems import problem
from user_handoff.gateway.rest.browsers import BrowserOperations
from user_handoff.gateway.rest.callers import Bearers
from user_handoff.gateway.rest.events import HandoffEvents
from user_handoff.gateway.rest.handoffs import HandoffOperations
from user_handoff.gateway.rest.openapi import openapi_of
from user_handoff.gateway.rest.operations import Asked, Operation
from user_handoff.gateway.rest.sessions import SessionOperations
from user_handoff.gateway.rest.takeovers import TakeoverOperations
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.taking import Taking
from user_handoff.gateway.toolbox import Toolbox
from user_handoff.gateway.tools.callers import AccessDoor, Caller, owner_of, require_scopes, session_of

BODY_BYTES: Final = 1_000_000
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_WRONG: Final = 5
_WORDS: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body must be application/json.",
}

Endpoint = Callable[[Request], Awaitable[Response]]


class _Id(Convertor[str]):
    regex = "[A-Za-z0-9_-]{1,64}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _HandoffId(_Id):
    regex = "handoff(?:/[A-Za-z0-9_-]{1,64}){3}"


class _TakeoverId(_Id):
    regex = "takeover(?:/[A-Za-z0-9_-]{1,64}){2}"


register_url_convertor("id", _Id())
register_url_convertor("takeover", _TakeoverId())
register_url_convertor("handoff", _HandoffId())


class RestDoor:
    """The endpoints under ``/v1``, and the OpenAPI file. An Origin header is no credential; none is looked at."""

    def __init__(
        self,
        client: DesktopClient,
        toolbox: Toolbox,
        taking: Taking,
        access: AccessDoor,
        settings: GatewaySettings,
        metrics: Metrics,
    ) -> None:
        """Make it.

        Args:
            client: Where sessions, handoffs and desktops are asked.
            toolbox: Does what agents' tools do.
            taking: Takes browsers over for operators.
            access: Knows keys and grants.
            settings: How often a caller may ask.
            metrics: The figures that are told.
        """
        self._client = client
        self._patience = settings.patience_seconds
        self._bearers = Bearers(access, settings.requests_per_second)
        self.events = HandoffEvents(client)
        self.operations: tuple[Operation, ...] = (
            *SessionOperations(client, toolbox).table(),
            *HandoffOperations(client, toolbox, self.events).table(),
            *BrowserOperations(toolbox).table(),
            *TakeoverOperations(taking, settings.base_url).table(),
        )
        self._openapi = openapi_of(self.operations, settings.prefix)
        self._metrics = metrics
        metrics.watch("streams_open", "Streams of handoffs that are open.", lambda: self.events.count)
        metrics.watch("waits_open", "Callers that wait for a person by a tool.", lambda: toolbox.waiting)

    def endpoints(self) -> Sequence[tuple[str, Endpoint, str]]:
        """Path, endpoint and method of each."""
        return (
            *((each.path, self._endpoint(each), each.method) for each in self.operations),
            ("/openapi.json", self._tell, "GET"),
            ("/metrics", self._measure, "GET"),
        )

    async def _measure(self, request: Request) -> Response:
        """The figures, for a key that may see them: behind a proxy every caller seems to be on this machine."""
        try:
            require_scopes(await self._bearers.let_in(request), (Scope.METRICS_READ,))
        except HandoffError as error:
            return problem(error)
        return self._metrics.response()

    async def _tell(self, request: Request) -> Response:
        return JSONResponse(self._openapi)

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: Request) -> Response:
            try:
                asked = await self._asked(operation, request)
                found = await operation.run(asked)
            except HandoffError as error:
                return problem(error)
            except HTTPException as error:
                return problem(_invalid(_WORDS[HTTPStatus(error.status_code)]), HTTPStatus(error.status_code))
            if isinstance(found, Response):
                return found
            body = found.model_dump(mode="json") if isinstance(found, Model) else found
            return JSONResponse(body, operation.status)

        return answer

    async def _asked(self, operation: Operation, request: Request) -> Asked:
        """What is asked, once all of it fits.

        Raises:
            HandoffError: Why nothing is done.
            HTTPException: 413.
        """
        caller = await self._bearers.let_in(request)
        sent, body = await _body(operation, request)
        query = _fitting("query", lambda: operation.query.model_validate(dict(request.query_params)))
        path = {name: str(value) for name, value in request.path_params.items()}

        async def still() -> object:
            return await self._bearers.still(request)

        asked = Asked(request, caller, path, body, query, still)
        name = request.headers.get("idempotency-key")
        if operation.changes and name is not None:
            asked.key = await self._claimed(caller, name, [operation.name, path, sent])
        return asked

    async def _claimed(self, caller: Caller, name: str, request: Any) -> str:
        """The name of a request, once it is known to be of this one alone."""
        if not _KEY.fullmatch(name):
            raise _invalid("The Idempotency-Key must be 1 to 200 visible ASCII characters.")
        whose = (owner_of(caller), session_of(caller) or "", name)
        # What is short could be guessed from its digest, were it not for the name, which is kept nowhere.
        await claim(
            self._client,
            claim_workflow_id(*whose),
            digest_of([*whose, request]),
            patience_seconds=self._patience,
        )
        return f"rest {name}"


def is_of_rest(request: Request) -> bool:
    """Whether a request is for this door, also where no operation is there."""
    return request.url.path.startswith(("/v1/", "/metrics", "/openapi.json"))


def no_operation(status: HTTPStatus, headers: Mapping[str, str] | None) -> Response:
    """The answer to what is no operation."""
    what = "There is no such operation." if status is HTTPStatus.NOT_FOUND else "It cannot be asked like that."
    return problem(_invalid(what), status, headers)


def failed() -> Response:
    """The answer where the gateway itself failed."""
    error = make_error(
        ErrorCode.FAILED,
        "The gateway failed unexpectedly.",
        holds="What was asked may or may not have been done.",
        do_next="Look before you act again.",
    )
    return problem(error, HTTPStatus.INTERNAL_SERVER_ERROR)


async def _body(operation: Operation, request: Request) -> tuple[Any, dict[str, Any]]:
    """The body as it was sent, and as the operation's model has it."""
    if operation.method == "GET":
        return None, {}
    raw = await read_body(request, BODY_BYTES) or b"{}"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if raw != b"{}" and kind != "application/json":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    try:
        sent = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _invalid("The body is not JSON.") from None
    # Strictly: JSON says itself what is a number and what is true.
    fitting = _fitting("body", lambda: operation.takes.model_validate_json(raw, strict=True))
    return sent, fitting.model_dump(mode="json")


def _no_number(name: str) -> None:
    raise ValueError(name)


def _fitting(what: str, validate: Callable[[], BaseModel]) -> BaseModel:
    try:
        return validate()
    except ValidationError as error:
        # The reasons and never the values: one may be what a person should have typed.
        wrong = sorted({f"{_where(each['loc'])}: {_why(each)}" for each in error.errors(include_input=False)})
        raise _invalid(f"The {what} does not fit: {'; '.join(wrong[:_WRONG])[:600]}.") from None
    except RecursionError:
        raise _invalid(f"The {what} is nested too deeply.") from None


def _where(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:50] for part in loc[:6]) or "it"


def _why(error: Any) -> str:
    return "no such action" if error["type"] == "union_tag_invalid" else str(error["msg"])


def _invalid(what: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST,
        what,
        holds="Nothing was done.",
        do_next="Send what /openapi.json says, and nothing else.",
    )
