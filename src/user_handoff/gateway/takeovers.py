"""Taking a browser over on a page: an operator who has signed in acts in its live view, and gives it back."""

from datetime import UTC, datetime
from http import HTTPStatus
from types import ModuleType
from typing import Final, Literal
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.websockets import WebSocket

from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, HandoffError, OutcomeUnknown, make_error
from user_handoff.contract.ids import new_id, takeover_workflow_id
from user_handoff.contract.takeover import TakeoverState, TakeoverSummary
from user_handoff.contract.view import AdmitViewer
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.live.door import serve_viewer
from user_handoff.gateway.problems import problem
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.signin import Operator, SignIn
from user_handoff.gateway.taking import Taking

_LONGEST: Final = 1_000


class TakeoverPages:
    """The endpoints below ``/takeovers``. The page's signs of life renew the lease; nothing else of it does."""

    def __init__(
        self, client: TakeoverClient, taking: Taking, signin: SignIn, settings: GatewaySettings, renderer: Renderer
    ) -> None:
        self._client = client
        self._taking = taking
        self._signin = signin
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._renderer = renderer

    async def list(self, request: Request) -> Response:
        """The browsers that can be taken over here: those of desktops with a live view."""
        try:
            who = await self._signin.who(request)
            if who is None:
                return self._signin.page(request)
            if not who.operates:
                return self._renderer.notice(request, words_for(request).NO_OPERATOR, HTTPStatus.FORBIDDEN)
            desktops = [each for each in await self._client.desktops() if each.view_address]
        except HandoffError:
            return self._unreachable(request)
        browsers = [(browser_id, each.client_id) for each in desktops for browser_id in each.browsers]
        return self._renderer.page(request, "takeovers.html", browsers=browsers)

    async def start(self, request: Request) -> Response:
        """Take one over, and go to its page."""
        words = words_for(request)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        form = read_form(await read_body(request))
        number = new_id("t")
        browser_id = form.get("browser_id", "")
        try:
            who = await self._operator(request)
            await self._taking.begin(who.name, browser_id, number, why=form.get("why", "")[:_LONGEST])
        except (HandoffError, ValueError) as error:
            return self._refused(request, error)
        return RedirectResponse(f"{self._prefix}/takeovers/{browser_id}/{number}", HTTPStatus.SEE_OTHER)

    async def show(self, request: Request) -> Response:
        """The page of one, for who took it."""
        try:
            summary = await self._mine(request)
        except HandoffError as error:
            return self._refused(request, error)
        words = words_for(request)
        if summary.state is not TakeoverState.HELD:
            refused = summary.state is TakeoverState.REFUSED
            told = _not_taken(words, summary.code) if refused else words.TAKEN_OVER
            return self._renderer.notice(request, told, HTTPStatus.OK)
        return self._renderer.page(
            request,
            "takeover.html",
            base=f"{self._prefix}/{_path(summary)}",
            expires_at=summary.expires_at,
            seconds_left=_seconds_left(summary),
            seconds_total=_seconds_total(summary),
        )

    async def state(self, request: Request) -> Response:
        """Where it stands."""
        try:
            summary = await self._mine(request)
        except HandoffError as error:
            return problem(error)
        how = summary.how and str(summary.how)
        return JSONResponse({"state": str(summary.state), "how": how, "seconds_left": _seconds_left(summary)})

    async def end(self, request: Request) -> Response:
        """Give it back."""
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words_for(request).FOREIGN, HTTPStatus.FORBIDDEN)
        form = read_form(await read_body(request))
        try:
            who = await self._operator(request)
            how: Literal["returned", "cancelled"] = "cancelled" if form.get("how") == "cancelled" else "returned"
            summary = await self._taking.end(who.name, _named(request), how, form.get("note", "")[:_LONGEST])
        except HandoffError as error:
            return self._refused(request, error)
        return RedirectResponse(f"{self._prefix}/{_path(summary)}", HTTPStatus.SEE_OTHER)

    async def view(self, websocket: WebSocket) -> None:
        """Serve the live view until they, the takeover or their right to look are gone."""

        async def check() -> TakeoverSummary:
            summary = await self._mine(websocket)
            if summary.state is not TakeoverState.HELD:
                raise make_error(ErrorCode.NOT_HELD, "This takeover is over.", holds="Nobody was let in.")
            return summary

        host = urlsplit(self._base_url).netloc
        await serve_viewer(websocket, "/takeovers/{id}/view", host, self._client, check, _viewer)

    async def _operator(self, request: HTTPConnection) -> Operator:
        who = await self._signin.who(request)
        if who is None:
            raise make_error(ErrorCode.UNAUTHORIZED, "Nobody has signed in here.", holds="Nothing was done.")
        if not who.operates:
            raise make_error(ErrorCode.FORBIDDEN, "Only an operator may do this.", holds="Nothing was done.")
        return who

    async def _mine(self, request: HTTPConnection) -> TakeoverSummary:
        """The takeover that the path names, for who took it and nobody else."""
        who = await self._operator(request)
        return await self._taking.mine(who.name, _named(request))

    def _refused(self, request: Request, error: Exception) -> Response:
        code = error.code if isinstance(error, HandoffError) else ErrorCode.INVALID_REQUEST
        if code is ErrorCode.UNAUTHORIZED:
            return self._signin.page(request)
        if code is ErrorCode.TEMPORAL_UNREACHABLE or isinstance(error, OutcomeUnknown):
            return self._unreachable(request)
        words = words_for(request)
        if code is ErrorCode.FORBIDDEN:
            return self._renderer.notice(request, words.NO_OPERATOR, HTTPStatus.FORBIDDEN)
        return self._renderer.notice(request, _not_taken(words, code), HTTPStatus.CONFLICT)

    def _unreachable(self, request: Request) -> Response:
        return self._renderer.notice(request, words_for(request).UNREACHABLE, HTTPStatus.SERVICE_UNAVAILABLE)


def _not_taken(words: ModuleType, code: ErrorCode | None) -> tuple[str, str]:
    """That a browser was not taken over, and why as far as the code tells."""
    title, text = words.NOT_TAKEN
    return title, words.NOT_TAKEN_BECAUSE.get(code, text)


def _seconds_left(summary: TakeoverSummary) -> int:
    """Until it ends at the latest, however often its lease is renewed."""
    return max(0, int((summary.expires_at - datetime.now(UTC)).total_seconds())) if summary.expires_at else 0


def _seconds_total(summary: TakeoverSummary) -> int:
    if summary.expires_at is None or summary.began_at is None:
        return 1
    return max(1, round((summary.expires_at - summary.began_at).total_seconds()))


def _viewer(summary: TakeoverSummary, ticket: str) -> AdmitViewer:
    return AdmitViewer.of(summary.takeover_id, summary.browser_id, new_id("v"), ticket)


def _named(request: HTTPConnection) -> str:
    path = request.path_params
    return takeover_workflow_id(path["browser_id"], path["number"])


def _path(summary: TakeoverSummary) -> str:
    return f"takeovers/{summary.takeover_id.removeprefix('takeover/')}"
