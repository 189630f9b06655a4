"""The inbox: what waits for a person, for whom, until when, and how it ended. It shows no browser."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from http import HTTPStatus
from types import ModuleType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, OutcomeUnknown, make_error
from user_handoff.contract.ids import Association
from user_handoff.gateway.bodies import read_body, read_form, same_origin
from user_handoff.gateway.inbox_rows import LOOK_SECONDS, Row, Rows
from user_handoff.gateway.languages import words_for
from user_handoff.gateway.links import issue_link
from user_handoff.gateway.pausing import pause
from user_handoff.gateway.problems import problem
from user_handoff.gateway.rendering import Renderer
from user_handoff.gateway.settings import GatewaySettings
from user_handoff.gateway.signin import Operator, SignIn

MAX_STREAMS: Final = 100
MAX_STREAMS_OF_ONE: Final = 10
"""How many browsers can watch one gateway's inbox at once, in all and of one person; others look when they reload."""

_STILL_SECONDS: Final = 15.0


class Inbox:
    """The endpoints ``/``, ``/waiting/events`` and ``/waiting/link``."""

    def __init__(self, client: HandoffClient, signin: SignIn, settings: GatewaySettings, renderer: Renderer) -> None:
        self._client = client
        self._rows = Rows(client)
        self._signin = signin
        self._base_url = settings.base_url
        self._renderer = renderer
        self._closing = asyncio.Event()
        self._streams: Counter[str] = Counter()

    def close(self) -> None:
        """End all streams: their browsers come again."""
        self._closing.set()

    async def show(self, request: Request) -> Response:
        """The page; whoever has not signed in is asked to."""
        words = words_for(request)
        try:
            who = await self._signin.who(request)
            if who is None:
                return self._signin.page(request)
            waiting = await self._rows.waiting(who.sees, words)
            recent = await self._rows.recent(who.sees, words)
        except HandoffError:
            return self._renderer.notice(request, words.UNREACHABLE, HTTPStatus.SERVICE_UNAVAILABLE)
        return self._renderer.page(
            request, "inbox.html", who=who.name, operates=who.operates, waiting=waiting, recent=recent
        )

    async def events(self, request: Request) -> Response:
        """Each change of the list, as the page shows it."""
        try:
            who = await self._signin.who(request)
        except HandoffError as error:
            return problem(error)
        if who is None:
            return problem(_signed_out())
        if self._streams.total() >= MAX_STREAMS or self._streams[who.name] >= MAX_STREAMS_OF_ONE:
            # A browser takes that as the end, and does not come again by itself.
            return Response(status_code=HTTPStatus.NO_CONTENT)
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(self._follow(request, who.name, words_for(request)), 200, headers, "text/event-stream")

    async def link(self, request: Request) -> Response:
        """A new link to one of those that somebody sees; it is shown here alone."""
        words = words_for(request)
        if not same_origin(request, self._base_url):
            return self._renderer.notice(request, words.FOREIGN, HTTPStatus.FORBIDDEN)
        handoff_id = read_form(await read_body(request)).get("handoff_id", "")
        scripted = "application/json" in request.headers.get("accept", "")
        try:
            who = await self._signin.who(request)
            if who is None:
                return self._signin.page(request) if not scripted else problem(_signed_out())
            url = await self._issue(who, handoff_id)
        except HandoffError as error:
            if scripted:
                return problem(error)
            down = error.code is ErrorCode.TEMPORAL_UNREACHABLE or isinstance(error, OutcomeUnknown)
            status = HTTPStatus.SERVICE_UNAVAILABLE if down else HTTPStatus.CONFLICT
            return self._renderer.notice(request, words.UNREACHABLE if down else words.NO_LINK, status)
        if scripted:
            return JSONResponse({"url": url})
        return self._renderer.page(request, "link.html", url=url)

    async def _issue(self, who: Operator, handoff_id: str) -> str:
        try:
            Association.parse(handoff_id)
        except ValueError:
            raise _no_link() from None
        try:
            seen = who.sees(await self._rows.one(handoff_id))
        except Gone:
            seen = False
        if not seen:
            raise _no_link()
        return await issue_link(self._client, self._base_url, handoff_id)

    async def _follow(self, request: Request, name: str, words: ModuleType) -> AsyncIterator[str]:
        clock, last, said = asyncio.get_running_loop().time, "", asyncio.get_running_loop().time()
        self._streams[name] += 1
        try:
            yield "retry: 2000\n\n"
            while not self._closing.is_set():
                try:
                    who = await self._signin.who(request)
                    if who is None:
                        yield "event: signed-out\ndata: {}\n\n"
                        return
                    told = json.dumps(await self._told(request, who, words))
                except HandoffError:
                    told = last  # Temporal does not answer now; the page says what it last knew
                if told != last:
                    last, said = told, clock()
                    yield f"event: rows\ndata: {told}\n\n"
                elif clock() - said > _STILL_SECONDS:
                    said = clock()
                    yield ": still here\n\n"
                await pause(self._closing, LOOK_SECONDS)
        finally:
            self._streams[name] -= 1
            self._streams += Counter()  # forgets who has none

    async def _told(self, request: Request, who: Operator, words: ModuleType) -> dict[str, Any]:
        waiting = await self._rows.waiting(who.sees, words)
        recent = await self._rows.recent(who.sees, words)
        return {
            "waiting": [self._row(request, "waiting_row.html", row) for row in waiting],
            "recent": [self._row(request, "recent_row.html", row) for row in recent],
        }

    def _row(self, request: Request, template: str, row: Row) -> dict[str, str]:
        # The time left is counted by the page: a row changes only where it has something else to say.
        html = self._renderer.fragment(request, template, row=row)
        return {"key": row.key, "version": row.version, "html": html}


def _signed_out() -> HandoffError:
    return make_error(
        ErrorCode.UNAUTHORIZED, "Nobody has signed in here.", holds="Nothing was done.", do_next="Sign in first."
    )


def _no_link() -> HandoffError:
    return make_error(
        ErrorCode.UNKNOWN_HANDOFF,
        "There is no such handoff among yours.",
        holds="No link was made.",
        do_next="Choose one of the list.",
    )
