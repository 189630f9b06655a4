"""The gateway as an ASGI application. It keeps nothing: run as many as you like."""

import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from temporalio.service import RPCError

from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.client.desktop import DesktopClient
from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.gateway.asking import AskingForm
from user_handoff.gateway.codec import CodecEndpoint
from user_handoff.gateway.entering import Doors
from user_handoff.gateway.grants import GrantForm
from user_handoff.gateway.identity import SESSION_SECONDS, Identity
from user_handoff.gateway.inbox import Inbox
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.live.door import LiveDoor
from user_handoff.gateway.live.novnc import NoVnc
from user_handoff.gateway.mcp.http import McpDoor
from user_handoff.gateway.metrics import CODE, TEMPLATE, Measured, Metrics
from user_handoff.gateway.person import PersonPages
from user_handoff.gateway.problems import problem
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.requests import RequestDoor
from user_handoff.gateway.rest.door import RestDoor, failed, is_of_rest, no_operation
from user_handoff.gateway.seats import Seats
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.showing import ShowDoor
from user_handoff.gateway.signin import SignIn
from user_handoff.gateway.signin_oidc import OidcSignIn
from user_handoff.gateway.takeovers import TakeoverPages
from user_handoff.gateway.taking import Taking
from user_handoff.gateway.toolbox import Toolbox
from user_handoff.gateway.webhooks import Webhooks

_LOG = logging.getLogger(__name__)

_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
}

_WORDS: Final = {
    HTTPStatus.NOT_FOUND: "UNKNOWN_LINK",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "TOO_LARGE",
}

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(client: HandoffClient, settings: GatewaySettings, access: Access | None = None) -> Starlette:
    """Make the gateway. Agents are let in while its lifespan runs.

    Args:
        client: Where handoffs are asked and answered.
        settings: How the gateway is reached, and which webhooks it believes.
        access: Who may call; None: what `client` knows. It is closed with the gateway.

    Raises:
        SetupError: ``codec_keys_invalid``: a codec endpoint is asked for, and the client encrypts nothing.
    """
    client = client.within(settings.patience_seconds)
    renderer = Renderer(settings.prefix)
    identity = Identity(asks=settings.oidc is not None)
    seats = Seats(client, settings, identity)
    doors = Doors(seats, settings, renderer, identity)
    person = PersonPages(client, seats, doors, settings, renderer)
    webhooks = Webhooks(client, settings)
    access = access or Access(client, patience_seconds=settings.patience_seconds)
    signin = SignIn(access, identity, settings, renderer)
    takers = TakeoverClient(client.temporal).within(settings.patience_seconds)
    taking = Taking(takers)
    takeovers = TakeoverPages(takers, taking, signin, settings, renderer)
    inbox = Inbox(client, signin, settings, renderer)
    grants = GrantForm(access, seats, doors, settings, renderer)
    metrics = Metrics()
    desktops = DesktopClient(client.temporal).within(settings.patience_seconds)
    toolbox = Toolbox(DesktopClient(client.temporal), access, settings.base_url, metrics.called)
    novnc = NoVnc.found(settings.prefix)
    live = LiveDoor(desktops, seats.sit, settings.base_url)
    shows = ShowDoor(desktops, seats, doors, settings, renderer)
    agents = McpDoor(toolbox, access, settings.base_url)
    requests = RequestDoor(toolbox.requests, access)
    asking = AskingForm(toolbox.requests, seats, doors, settings, renderer)
    rest = RestDoor(desktops, toolbox, taking, access, settings, metrics)

    errors = _Errors(renderer)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with agents.running():
            yield
        await access.aclose()

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        try:
            if await client.temporal.service_client.check_health(timeout=timedelta(seconds=2)):
                return JSONResponse({"status": "ok"})
        except RPCError:
            pass
        return problem(
            make_error(
                ErrorCode.TEMPORAL_UNREACHABLE,
                "Temporal does not answer.",
                holds="Pages and webhooks answer 503 until it does.",
                do_next="Check that it runs, and TEMPORAL_ADDRESS.",
            )
        )

    routes: list[BaseRoute] = [
        _route("/", inbox.show),
        _route("/waiting/events", inbox.events),
        _route("/waiting/link", inbox.link, "POST"),
        _route("/signin", signin.sign_in, "POST"),
        _route("/signout", signin.sign_out, "POST"),
        _route("/takeovers", takeovers.list),
        _route("/takeovers", takeovers.start, "POST"),
        _route("/takeovers/{browser_id}/{number}", takeovers.show),
        _route("/takeovers/{browser_id}/{number}/state", takeovers.state),
        _route("/takeovers/{browser_id}/{number}/end", takeovers.end, "POST"),
        WebSocketRoute("/takeovers/{browser_id}/{number}/view", takeovers.view),
        _route("/j/{token}", person.show),
        _route("/j/{token}/state", person.state),
        _route("/j/{token}/enter", doors.enter, "POST"),
        _route("/j/{token}/reply", person.reply, "POST"),
        _route("/j/{token}/show", shows.show, "POST"),
        _route("/j/{token}/request", asking.write, "POST"),
        _route("/j/{token}/grant", grants.issue, "POST"),
        _route("/webhooks/handoffs/{handoff_id:path}/reply", webhooks.reply, "POST"),
        WebSocketRoute("/j/{token}/view", live.view),
        _route("/assets/novnc", novnc.tell),
        _route("/assets/novnc/{version}/{name:path}", novnc.module),
        _route("/assets/{name}", renderer.asset),
        *agents.routes(),
        *(_route(*each) for each in requests.endpoints()),
        *(_route(*each) for each in rest.endpoints()),
        _route("/healthz", health),
        _route("/readyz", ready),
    ]
    if settings.codec_origins:
        codec = CodecEndpoint.of(client.temporal, settings)
        asked = (("/encode", codec.encode), ("/decode", codec.decode))
        codec_routes = [_route(path, endpoint, "POST", under="/codec") for path, endpoint in asked]
        routes.append(codec.mounted(codec_routes))
    if settings.oidc is not None:
        oidc = OidcSignIn(settings.oidc, identity, settings, renderer)
        routes += [
            _route("/signin/oidc", oidc.begin),
            _route("/signin/callback", oidc.finish),
            _route("/j/{token}/signin", oidc.begin),
        ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Measured, metrics), Middleware(_Headers), _sessions(settings)],
        exception_handlers={HTTPException: errors.on_http_error, Exception: errors.on_error},
    )
    # A redirect would repeat the path, and with it the token, for no use.
    app.router.redirect_slashes = False
    app.state.on_stop = _both(agents.close, rest.events.close, inbox.close)
    return app


class _Errors:
    """Tells people in a page, and programs in problem details, what was not answered by an endpoint."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer

    async def on_http_error(self, request: Request, error: Exception) -> Response:
        """There is no such path, or not by that method."""
        status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 500)
        if is_of_rest(request):
            return no_operation(status, getattr(error, "headers", None))
        return self._renderer.notice(request, getattr(words_for(request), _WORDS.get(status, "NOT_HERE")), status)

    async def on_error(self, request: Request, error: Exception) -> Response:
        """An endpoint failed."""
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        own = is_of_rest(request)
        response = failed() if own else self._renderer.notice(request, words_for(request).BROKEN, status)
        # This one is made outside of all middleware.
        response.headers.update(_HEADERS)
        return response


def _both(*ends: Callable[[], None]) -> Callable[[], None]:
    def end() -> None:
        for each in ends:
            each()

    return end


def _sessions(settings: GatewaySettings) -> Middleware:
    """Who has signed in, in a signed cookie. Lax: a link in a chat leads to a page that knows its reader."""
    secret = settings.session_secret
    return Middleware(
        SessionMiddleware,
        secret_key=secret.get_secret_value() if secret else secrets.token_urlsafe(32),
        session_cookie="handoff_session",
        max_age=SESSION_SECONDS,
        path=settings.prefix or "/",
        https_only=settings.base_url.startswith("https:"),
    )


class _Headers:
    """Puts the same strict headers on every response; an endpoint's own value wins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(k.encode(), v.encode()) for k, v in _HEADERS.items() if k.encode() not in present]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self._app(scope, receive, with_headers)


def _route(path: str, endpoint: Endpoint, method: str = "GET", *, under: str = "") -> Route:
    """A route that logs its template: never the path, since a person's path is a secret."""

    async def logged(request: Request) -> Response:
        began = time.perf_counter()
        status = 500
        request.scope[TEMPLATE] = f"{under}{path}"
        try:
            response = await endpoint(request)
            status = response.status_code
            request.scope[CODE] = getattr(response, "code", None)
            return response
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            _LOG.info("%s %s%s %d %.0f ms", request.method, under, path, status, (time.perf_counter() - began) * 1000)

    return Route(path, logged, methods=[method])
