"""A person sends the agent's session a request of their own, from their page: ``POST /j/{token}/request``.

The text is saved under a generation, and sent by that generation alone: who changes it while it is being sent takes
back what was there before, and the old text is never published as what they sent.
"""

import base64
import hashlib
from http import HTTPStatus
from typing import Final

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from user_handoff.client.requests import RequestsClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.ids import Association
from user_handoff.contract.requests import SaveRequest, SendRequest, WithdrawRequest
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.entering import Doors
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.seats import Place, Seats
from user_handoff.gateway.settings import GatewaySettings

_BODY_BYTES: Final = 64 * 1024
"""Room for 4,000 characters that all need twelve bytes as percent escapes, and the rest of a form."""

_SECONDS: Final = 3_600


class AskingForm:
    """Takes what a person writes. The key to write is in their browser alone, as a cookie that no script can read."""

    def __init__(
        self, requests: RequestsClient, seats: Seats, doors: Doors, settings: GatewaySettings, renderer: Renderer
    ) -> None:
        self._requests = requests
        self._seats = seats
        self._doors = doors
        self._on = settings.person_requests
        self._path = f"{settings.prefix}/j"
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._renderer = renderer

    async def write(self, request: Request) -> Response:
        """Save, send or withdraw: a script takes each step, a button saves and sends in one."""
        words, token = words_for(request), request.path_params["token"]
        if not self._on:
            return self._renderer.notice(request, words.UNKNOWN_LINK, HTTPStatus.NOT_FOUND)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        form = read_form(await read_body(request, _BODY_BYTES))
        scripted = "application/json" in request.headers.get("accept", "")
        try:
            place = await self._seats.sit(request, token, form.get("tab", ""))
            key, is_new = await self._key(request, place)
            receipt = await self._requests.write(key, _asked(form))
        except HandoffError as error:
            return self._refused(request, error, token, scripted)
        if scripted:
            answer: Response = JSONResponse({"state": receipt.state, "generation": receipt.generation})
        else:
            answer = RedirectResponse(f"{self._prefix}/j/{token}?notice=asked", HTTPStatus.SEE_OTHER)
        if is_new:
            secure = self._base_url.startswith("https:")
            answer.set_cookie(
                _name(place), key, _SECONDS, path=self._path, secure=secure, httponly=True, samesite="strict"
            )
        return answer

    async def _key(self, request: Request, place: Place) -> tuple[str, bool]:
        """The key to write to this session, and whether it is new."""
        has = request.cookies.get(_name(place), "")
        if has:
            return has, False
        session_id = Association.parse(place.summary.handoff_id).session_id
        return await self._requests.issue_writer(session_id, place.summary.owner, place.name[:100], _SECONDS), True

    def _refused(self, request: Request, error: HandoffError, token: str, scripted: bool) -> Response:
        words = words_for(request)
        told = {
            ErrorCode.STALE_VERSION: words.ASK_CHANGED,
            ErrorCode.REQUEST_LIMIT: words.ASK_FULL,
            ErrorCode.INVALID_REQUEST: words.ASK_UNFIT,
            ErrorCode.SESSION_CLOSED: words.ASK_OVER,
            ErrorCode.SESSION_NOT_FOUND: words.ASK_OVER,
            ErrorCode.UNAUTHORIZED: words.ASK_OVER,
        }.get(error.code)
        if told is None:
            return self._doors.refused(request, error, token)
        if scripted:
            return JSONResponse({"state": "refused", "code": error.code, "text": told}, HTTPStatus.CONFLICT)
        return self._renderer.notice(request, (words.ASK, told), HTTPStatus.CONFLICT)


def _asked(form: dict[str, str]) -> SaveRequest | SendRequest | WithdrawRequest:
    step, fields = form.get("step", ""), {"request_id": form.get("request", "")}
    text = form.get("text", "").replace("\r\n", "\n").strip()
    try:
        if step in ("save", "both"):
            numbered = {**fields, "generation": form.get("generation", "1"), "text": text, "send": step == "both"}
            return SaveRequest.model_validate(numbered)
        if step == "send":
            return SendRequest.model_validate({**fields, "generation": form.get("generation", "")})
        if step == "withdraw":
            return WithdrawRequest.model_validate(fields)
    except ValidationError:
        pass
    raise make_error(
        ErrorCode.INVALID_REQUEST,
        "That is no request.",
        holds="Nothing was sent.",
        do_next="Write 1 to 4,000 characters.",
    )


def _name(place: Place) -> str:
    session_id = Association.parse(place.summary.handoff_id).session_id
    digest = hashlib.sha256(f"{session_id}\n{place.name}".encode()).digest()
    return f"handoff_writer_{base64.b32encode(digest)[:16].decode().lower()}"
