"""A person at the same desk asks to be shown the window: ``POST /j/{token}/show``."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.ids import Association
from user_handoff.contract.showing import ShowWindow
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.entering import Doors
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.seats import Place, Seats
from user_handoff.gateway.settings import GatewaySettings


class ShowDoor:
    """Asks the desktop, once for each click, and says what came of it."""

    def __init__(
        self, desktops: DesktopClient, seats: Seats, doors: Doors, settings: GatewaySettings, renderer: Renderer
    ) -> None:
        self._desktops = desktops
        self._seats = seats
        self._doors = doors
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._renderer = renderer

    async def show(self, request: Request) -> Response:
        """Take the click: a script asks for JSON, a button for a page."""
        words, token = words_for(request), request.path_params["token"]
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        tab = read_form(await read_body(request)).get("tab", "")
        try:
            how = await self._shown(await self._seats.sit(request, token, tab))
        except HandoffError as error:
            return self._doors.refused(request, error, token)
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"how": how, "text": words.SHOWN[how]})
        return RedirectResponse(f"{self._prefix}/j/{token}?notice={how}", HTTPStatus.SEE_OTHER)

    async def _shown(self, place: Place) -> str:
        handoff_id = place.summary.handoff_id
        ask = ShowWindow(handoff_id=handoff_id, browser_id=Association.parse(handoff_id).browser_id)
        try:
            return str((await self._desktops.show_window(place.summary.queue, ask)).how)
        except HandoffError:
            # Whatever it was, the person uses the window without our help; nothing of theirs has changed.
            return "failed"
