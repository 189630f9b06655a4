"""The page of the person who is asked: what to do, how long there is, and the three answers."""

import hashlib
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Answer, HandoffState, Reply
from user_handoff.contract.ids import new_id
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.entering import Doors
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.links import token_hash
from user_handoff.gateway.problems import problem, status_of
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.seats import TAB_HEADER, Place, Seats, not_here
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.view import can_let_in, view_of

_NOTE_LENGTH: Final = 1_000


class PersonPages:
    """The endpoints under ``/j/{token}`` of whoever has entered. GET and HEAD change nothing."""

    def __init__(
        self, client: HandoffClient, seats: Seats, doors: Doors, settings: GatewaySettings, renderer: Renderer
    ) -> None:
        self._client = client
        self._seats = seats
        self._doors = doors
        self._prefix = settings.prefix
        self._base_url = settings.base_url
        self._grants = settings.person_grants
        self._requests = settings.person_requests
        self._renderer = renderer

    async def show(self, request: Request) -> Response:
        """The page; for a browser that has not entered, its door."""
        token = request.path_params["token"]
        words = words_for(request)
        notices = {"earlier": words.EARLIER, "late": words.LATE, "asked": words.ASK_SENT, **words.SHOWN}
        try:
            place = await self._seats.look(request, token, request.headers.get(TAB_HEADER))
        except HandoffError as error:
            return self._doors.refused(request, error, token)
        if place.where != "here":
            return self._doors.door(request, place)
        return self._page(request, place, notice=notices.get(request.query_params.get("notice", "")))

    async def state(self, request: Request) -> Response:
        """What the page's script polls, as JSON."""
        try:
            place = await self._seats.look(request, request.path_params["token"], request.headers.get(TAB_HEADER))
            if place.where == "outside":
                raise not_here()
        except HandoffError as error:
            return problem(error)
        view = view_of(place.summary, datetime.now(UTC), words=words_for(request))
        state = view.state()
        version = f"{state['version']}.{place.where}.{place.others}"
        return JSONResponse({**state, "version": version, "here": place.where == "here"})

    async def reply(self, request: Request) -> Response:
        """Take the form, and show the page again. Sent twice, it counts once."""
        words = words_for(request)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        form = read_form(await read_body(request))
        token = request.path_params["token"]
        try:
            place = await self._seats.look(request, token, form.get("tab", ""))
            if place.where != "here":
                return self._doors.door(request, place, HTTPStatus.FORBIDDEN)
            answer, note = form.get("answer", ""), form.get("note", "").replace("\r\n", "\n").strip()
            if len(note) > _NOTE_LENGTH:
                return self._page(request, place, words.NOTE_TOO_LONG, note, HTTPStatus.BAD_REQUEST)
            if answer not in tuple(Answer):
                return self._page(request, place, words.NO_ANSWER, note, HTTPStatus.BAD_REQUEST)
            notice = await self._record(place, Answer(answer), note)
        except HandoffError as error:
            return self._doors.refused(request, error, token)
        query = f"?notice={notice}" if notice else ""
        return RedirectResponse(f"{self._prefix}/j/{token}{query}", HTTPStatus.SEE_OTHER)

    async def _record(self, place: Place, answer: Answer, note: str) -> str:
        """Record an answer; the name of the notice that tells what became of it, if anything is to be told."""
        # One link, one answer: its id is made of the link, and does not give the link away.
        reply_id = f"page.{hashlib.sha256(token_hash(place.token).encode()).hexdigest()[:32]}"
        reply = Reply(answer=answer, note=note, by=place.name, via="page")
        try:
            receipt = await self._client.reply(place.summary.handoff_id, reply, reply_id)
        except HandoffError as error:
            if status_of(error) is HTTPStatus.CONFLICT and error.code is not ErrorCode.LINK_TAKEN:
                return "late"
            raise
        if receipt.accepted and receipt.answer is answer:
            return ""
        return "late" if receipt.state is HandoffState.EXPIRED or receipt.state.ended else "earlier"

    def _page(
        self,
        request: Request,
        place: Place,
        notice: str | None = None,
        note: str = "",
        status: int = HTTPStatus.OK,
    ) -> Response:
        view = view_of(place.summary, datetime.now(UTC), place.name, words_for(request))
        return self._renderer.page(
            request,
            "person.html",
            status,
            view=view,
            version=f"{view.version}.{place.where}.{place.others}",
            others=place.others if view.phase == "waiting" else 0,
            token=place.token,
            notice=notice,
            note=note,
            lets_in=self._grants and can_let_in(place.summary),
            asks=new_id("q") if self._requests else "",
        )
