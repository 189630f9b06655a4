"""A person lets an agent into their own session, from their page."""

from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from user_handoff.client.access import Access
from user_handoff.contract.access import Capability
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import Association
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.entering import Doors
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.seats import Seats
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.view import can_let_in

_LOOKS: Final[tuple[Capability, ...]] = ("observe_browser", "observe_computer", "post_message", "read_reply", "wait")
_OVER: Final = (ErrorCode.SESSION_CLOSED, ErrorCode.SESSION_NOT_FOUND)


class GrantForm:
    """The endpoint ``POST /j/{token}/grant``. What it shows is shown once."""

    def __init__(
        self,
        access: Access,
        seats: Seats,
        doors: Doors,
        settings: GatewaySettings,
        renderer: Renderer,
    ) -> None:
        self._access = access
        self._seats = seats
        self._doors = doors
        self._base_url = settings.base_url
        self._on = settings.person_grants
        self._renderer = renderer

    async def issue(self, request: Request) -> Response:
        """Take the form, and show the address of the agent's door."""
        words, token = words_for(request), request.path_params["token"]
        if not self._on:
            return self._renderer.notice(request, words.UNKNOWN_LINK, HTTPStatus.NOT_FOUND)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        form = read_form(await read_body(request))
        what = form.get("what", "")
        if what not in words.GRANTS:
            return self._renderer.notice(request, words.NO_GRANT, HTTPStatus.BAD_REQUEST)
        try:
            place = await self._seats.look(request, token, form.get("tab", ""))
            if place.where != "here":
                return self._doors.door(request, place, HTTPStatus.FORBIDDEN)
            if not can_let_in(place.summary):
                return self._renderer.notice(request, words.GRANT_LATER, HTTPStatus.CONFLICT)
            session_id = Association.parse(place.summary.handoff_id).session_id
            issued, grant = await self._access.issue_grant(
                session_id, place.summary.owner, capabilities="all" if what == "all" else _LOOKS, by=place.name[:100]
            )
        except HandoffError as error:
            return self._refused(request, error, token)
        url = f"{self._base_url}/agent/{issued}"
        return self._renderer.page(
            request, "grant.html", HTTPStatus.OK, url=url, grant=grant, what=words.GRANTS[what][0]
        )

    def _refused(self, request: Request, error: HandoffError, token: str) -> Response:
        words = words_for(request)
        if error.code in _OVER:
            return self._renderer.notice(request, words.SESSION_OVER, HTTPStatus.CONFLICT)
        if error.code is ErrorCode.INVALID_REQUEST:
            return self._renderer.notice(request, words.TOO_MANY_GRANTS, HTTPStatus.CONFLICT)
        return self._doors.refused(request, error, token)
