"""Temporal's remote codec protocol: shows its web UI and command line what is encrypted, to who may see it."""

import ipaddress
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client
from temporalio.converter import PayloadCodec

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.gateway.bodies import read_body
from user_handoff.gateway.problems import problem
from user_handoff.gateway.settings import GatewaySettings, is_this_machine

_LOG = logging.getLogger(__name__)

BODY_BYTES: Final = 6 * 1024 * 1024
"""Room for what one message of a Temporal server holds, as base64."""

_HEADERS: Final = ("content-type", "x-namespace", "authorization", "authorization-extras")
"""What the web UI sends."""

_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")

Translate = Callable[[Sequence[Payload]], Awaitable[list[Payload]]]


class CodecEndpoint:
    """``POST /codec/encode`` and ``/codec/decode``, by the codec of the gateway's own client.

    Pages of the configured origins alone may ask, and beside that a caller shows the bearer token or, where none is
    set, is a program on this very machine.
    """

    def __init__(self, codec: PayloadCodec, settings: GatewaySettings) -> None:
        self._codec = codec
        self._origins = settings.codec_origins
        self._token = settings.codec_token

    @classmethod
    def of(cls, client: Client, settings: GatewaySettings) -> "CodecEndpoint":
        """The endpoint for what this client encrypts.

        Raises:
            SetupError: ``codec_keys_invalid``: it encrypts nothing.
        """
        codec = client.data_converter.payload_codec
        if codec is None:
            raise make_error(
                ErrorCode.CODEC_KEYS_INVALID,
                "The codec endpoint is switched on, and nothing is encrypted here.",
                holds="The gateway does not run.",
                do_next="Set HANDOFF_CODEC_KEYS too, or leave the endpoint off.",
            )
        return cls(codec, settings)

    def mounted(self, routes: Sequence[BaseRoute]) -> Mount:
        """These routes under ``/codec``, readable for pages of the configured origins."""
        cors = Middleware(
            CORSMiddleware, allow_origins=list(self._origins), allow_methods=["POST"], allow_headers=list(_HEADERS)
        )
        return Mount("/codec", routes=routes, middleware=[cors])

    async def encode(self, request: Request) -> Response:
        """Encrypt payloads that a person types into the web UI."""
        return await self._translate(request, self._codec.encode)

    async def decode(self, request: Request) -> Response:
        """Decrypt payloads that are to be shown."""
        return await self._translate(request, self._codec.decode)

    async def _translate(self, request: Request, translate: Translate) -> Response:
        if refusal := self._refusal(request):
            return refusal
        try:
            asked = _payloads(await read_body(request, BODY_BYTES))
            return JSONResponse(MessageToDict(Payloads(payloads=await translate(asked.payloads))))
        except HTTPException as error:
            return problem(_malformed("The body is too large."), HTTPStatus(error.status_code))
        except (ParseError, RecursionError):
            return problem(_malformed("The body is not the JSON of a Payloads message."), HTTPStatus.BAD_REQUEST)
        except HandoffError as error:
            return problem(error, HTTPStatus.BAD_REQUEST)
        except Exception as error:  # a codec of the user's own may raise anything, and its text may quote a payload
            _LOG.warning("the codec failed: %s", type(error).__name__)
            return problem(_unreadable(), HTTPStatus.BAD_REQUEST)

    def _refusal(self, request: Request) -> Response | None:
        origin = request.headers.get("origin")
        if origin is not None and origin not in self._origins:
            return problem(_not_for("Pages of this origin may not ask."), HTTPStatus.FORBIDDEN)
        if self._token is None:
            here = _from_this_machine(request)
            return None if here else problem(_not_for("Only this machine may ask."), HTTPStatus.FORBIDDEN)
        scheme, _, shown = request.headers.get("authorization", "").partition(" ")
        wanted = self._token.get_secret_value().encode()
        if scheme.lower() == "bearer" and secrets.compare_digest(shown.strip().encode(), wanted):
            return None
        refused = problem(_not_for("The bearer token is missing or wrong."), HTTPStatus.UNAUTHORIZED)
        refused.headers["WWW-Authenticate"] = "Bearer"
        return refused


def _payloads(body: bytes) -> Payloads:
    try:
        document = json.loads(body)
    except ValueError as error:
        raise ParseError(type(error).__name__) from None
    if not isinstance(document, dict):
        raise ParseError("not an object")
    return ParseDict(document, Payloads())


def _from_this_machine(request: Request) -> bool:
    """True for a caller on this machine that calls it by a name of its own: no proxy, and no rebound name."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        peer = ipaddress.ip_address(request.client.host)
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        return False
    return peer.is_loopback and is_this_machine(host)


def _not_for(what: str) -> HandoffError:
    return make_error(
        ErrorCode.UNAUTHORIZED,
        what,
        holds="Nothing was decoded.",
        do_next="See how the gateway's codec endpoint is set up, and ask in that way.",
    )


def _malformed(what: str) -> HandoffError:
    return make_error(
        ErrorCode.INVALID_REQUEST,
        what,
        holds="Nothing was decoded.",
        do_next='Send {"payloads": [...]}, as Temporal\'s codec protocol says.',
    )


def _unreadable() -> HandoffError:
    return make_error(
        ErrorCode.PAYLOAD_UNREADABLE,
        "The codec could not translate the payloads.",
        holds="Nothing was decoded.",
        do_next="Compare the keys of the gateway with those of who wrote them.",
    )
