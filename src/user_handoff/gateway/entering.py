"""Getting in by a link: what a tab does before it has the page, and what it is told where it cannot have it."""

from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from user_handoff.contract.entering import LinkStep
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, OutcomeUnknown
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.identity import Identity
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.seats import TAB_HEADER, Place, Seats
from user_handoff.gateway.settings import GatewaySettings

_LONGEST: Final = 200
_BY_SCRIPT: Final = (LinkStep.ATTACH, LinkStep.FINALIZE)
"""A script names its tab, or the page would be open to every tab of that browser; a button alone has none to name."""


class Doors:
    """The pages that a browser gets before it is in, and the endpoint ``POST /j/{token}/enter``."""

    def __init__(self, seats: Seats, settings: GatewaySettings, renderer: Renderer, identity: Identity) -> None:
        self._seats = seats
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._renderer = renderer
        self._identity = identity

    def door(self, request: Request, place: Place, status: int = HTTPStatus.OK) -> Response:
        """The page of a browser that is not in, or whose other tab is. It tells nothing of the handoff."""
        if self._identity.asks and not place.person:
            return self._page(request, place.token, "SIGN_IN", "signin", HTTPStatus.OK)
        # A plain navigation may come from another site, and without the cookie: what it has is not known yet.
        known = TAB_HEADER in request.headers
        if place.where == "elsewhere" or (known and place.same_person):
            return self._page(request, place.token, "ELSEWHERE", "take", status)
        if known and place.link.spent:
            return self._page(request, place.token, "TAKEN", "", HTTPStatus.CONFLICT)
        return self._page(request, place.token, "ENTRY", "enter", status)

    async def enter(self, request: Request) -> Response:
        """Take one step: a script asks for JSON, a button for a page."""
        words = words_for(request)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        form, token = read_form(await read_body(request)), request.path_params["token"]
        tab, entry = form.get("tab", "")[:_LONGEST], form.get("entry", "")[:_LONGEST]
        scripted = "application/json" in request.headers.get("accept", "")
        try:
            step = LinkStep(form.get("step", ""))
        except ValueError:
            return self._renderer.notice(request, words.NOT_HERE, HTTPStatus.BAD_REQUEST)
        if step in _BY_SCRIPT and not tab:
            return self._renderer.notice(request, words.NOT_HERE, HTTPStatus.BAD_REQUEST)
        try:
            place = await self._seats.look(request, token, tab)
            return await self._step(request, place, step, tab, entry, scripted)
        except HandoffError as error:
            return self._told(self.refused(request, error, token), error, scripted)

    async def _step(
        self, request: Request, place: Place, step: LinkStep, tab: str, entry: str, scripted: bool
    ) -> Response:
        if self._identity.asks and not place.person:
            return self._stopped(self.door(request, place), scripted)
        if place.where == "here":
            return self._in(place, scripted, "done")
        if step is not LinkStep.TAKE and (place.where == "elsewhere" or place.same_person):
            page = self._page(request, place.token, "ELSEWHERE", "take", HTTPStatus.CONFLICT)
            return self._stopped(page, scripted)
        seat = await self._seats.use(request, place, step, tab, entry)
        response = self._in(place, scripted, "finalize" if step is LinkStep.ATTACH else "done")
        if seat:
            self._seats.give(response, place.token, seat)
        return response

    def _in(self, place: Place, scripted: bool, then: str) -> Response:
        if scripted:
            return JSONResponse({"next": then})
        return RedirectResponse(f"{self._prefix}/j/{place.token}", HTTPStatus.SEE_OTHER)

    def _stopped(self, page: Response, scripted: bool, **more: Any) -> Response:
        if not scripted:
            return page
        return JSONResponse({"next": "stop", "page": bytes(page.body).decode(), **more}, page.status_code)

    def _told(self, page: Response, error: HandoffError, scripted: bool) -> Response:
        again = error.details.get("again_in_seconds")
        return self._stopped(page, scripted, **({} if again is None else {"again_in_seconds": again}))

    def refused(self, request: Request, error: HandoffError, token: str = "") -> Response:
        """The page for what a link is refused with now."""
        words = words_for(request)
        if error.code is ErrorCode.LINK_UNKNOWN:
            return self._renderer.notice(request, words.UNKNOWN_LINK, HTTPStatus.NOT_FOUND)
        if error.code is ErrorCode.LINK_TAKEN:
            name = "OPENING" if "again_in_seconds" in error.details else "TAKEN"
            return self._page(request, token, name, "", HTTPStatus.CONFLICT)
        if error.code is ErrorCode.LINK_EXPIRED:
            return self._renderer.notice(request, words.LINK_EXPIRED, HTTPStatus.GONE)
        if error.code is ErrorCode.FORBIDDEN:
            return self._renderer.notice(request, words.NOT_FOR_YOU, HTTPStatus.FORBIDDEN)
        if isinstance(error, Gone) or error.code is ErrorCode.NOT_HELD:
            return self._renderer.notice(request, words.OVER, HTTPStatus.GONE)
        told = words.MAYBE_SENT if isinstance(error, OutcomeUnknown) else words.UNREACHABLE
        return self._renderer.notice(request, told, HTTPStatus.SERVICE_UNAVAILABLE)

    def _page(self, request: Request, token: str, name: str, button: str, status: int) -> Response:
        title, text = getattr(words_for(request), name)
        return self._renderer.page(
            request,
            "door.html",
            status,
            title=title,
            text=text,
            token=token,
            button=button,
            entry=self._seats.new_entry(),
        )
