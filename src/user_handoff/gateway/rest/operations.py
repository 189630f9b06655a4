"""One operation: its path, what it takes and returns, and what it does. Routes and the OpenAPI file are made of it."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from user_handoff.contract.access import Principal
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.gateway.rest.callers import bearer
from user_handoff.gateway.rest.cursors import Cursors
from user_handoff.gateway.rest.shapes import Nothing
from user_handoff.gateway.tools import callers
from user_handoff.gateway.tools.callers import Call, Caller
from user_handoff.gateway.tools.catalogue import TOOLS

Tag = Literal["sessions", "messages", "handoffs", "browsers", "desktop", "takeovers"]


@dataclass
class Asked:
    """One request, after all of it was found to fit.

    Attributes:
        request: As it came.
        caller: Whose it is.
        path: What the path names.
        body: The body, as the operation's model dumps it.
        query: The query, as the operation's model.
        still: Raises once the caller may ask no more.
        key: Names the request of a caller, so that the same one again is the same effect; None: it is new.
    """

    request: Request
    caller: Caller
    path: Mapping[str, str]
    body: dict[str, Any]
    query: Any
    still: Callable[[], Awaitable[object]]
    key: str | None = None

    @property
    def cursors(self) -> Cursors:
        """The caller's cursors."""
        return Cursors(bearer(self.request))

    def secret(self, what: str, count: int) -> bytes:
        """Bytes that only this caller's bearer makes: the same ones for the same thing.

        Args:
            what: What they are for.
            count: How many, at most 32.
        """
        return hmac.new(bearer(self.request).encode(), what.encode(), hashlib.sha256).digest()[:count]

    def call(self) -> Call:
        """The call, about the session that the path names if it names one."""
        return Call(self.caller, self.path.get("session_id"), self.key)

    def allow(self, tool: str) -> None:
        """Refuse a caller who may not use a tool.

        Raises:
            Refused: ``forbidden`` or ``missing_scope``.
        """
        callers.require(self.caller, TOOLS[tool])

    def own(self) -> str:
        """The principal, for what an agent that was let into a session may not do.

        Raises:
            Refused: ``forbidden``: the caller has a grant.
        """
        if not isinstance(self.caller, Principal):
            raise make_error(
                ErrorCode.FORBIDDEN,
                "A grant does not allow this: it lets an agent into one session.",
                holds="Nothing was done.",
                do_next="Ask with the key of the session's owner.",
            )
        return self.caller.name


Run = Callable[[Asked], Awaitable[Model | dict[str, Any] | Response]]


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        method: GET or POST.
        path: With convertors, as the router wants it.
        name: Its id in the OpenAPI file.
        tag: Under which heading it is told.
        summary: One sentence.
        run: Does it.
        returns: The models of what it may return.
        takes: The model of the body of a POST.
        query: The model of the query.
        status: Of success.
        changes: True where an `Idempotency-Key` counts.
        example: A body that fits.
        stream: True where it returns server-sent events.
        scopes: What a key needs for it, in words; empty: nothing.
    """

    method: Literal["GET", "POST"]
    path: str
    name: str
    tag: Tag
    summary: str
    run: Run
    returns: tuple[type[BaseModel], ...]
    takes: type[BaseModel] = Nothing
    query: type[Model] = Nothing
    status: int = HTTPStatus.OK
    changes: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    scopes: str = ""
