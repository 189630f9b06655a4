"""Who may look at a held browser, asked again all the while they do; `LiveDoor` is ``/j/{token}/view``."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from user_handoff.client.desktop import DesktopClient
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import HandoffState, Summary
from user_handoff.contract.ids import Association, new_id
from user_handoff.contract.view import AdmitViewer
from user_handoff.gateway.live.handing import Handed, hand_over, key_for
from user_handoff.gateway.live.passing import Passing
from user_handoff.gateway.live.wire import PAGE_WIRE, Wire, connect_to

_LOG = logging.getLogger(__name__)

CHECK_SECONDS: Final = 5.0
"""How often a viewer's right to look is asked for again, and their control renewed."""

UNREACHABLE: Final = "unreachable"
"""Why a view ended: its desktop has one, and this gateway does not find it. It may a moment later."""

_TICKET_BYTES: Final = 24
_REFUSED: Final = 4403


class Shown(Protocol):
    """What a viewer looks at."""

    @property
    def queue(self) -> str:
        """Where its desktop is asked."""


S = TypeVar("S", bound=Shown)


class Place(Protocol):
    """A tab that has the person's page."""

    @property
    def summary(self) -> Summary:
        """Its handoff."""


Sits = Callable[[HTTPConnection, str, str], Awaitable[Place]]
"""The place of a browser's tab at a link's page, by the link's token and the tab's id.

Raises `HandoffError` where it does not have the page.
"""


class LiveDoor:
    """Lets a person's page look at the browser that is held for them. It keeps nothing but open connections."""

    def __init__(
        self, desktops: DesktopClient, sits: Sits, base_url: str, *, check_seconds: float = CHECK_SECONDS
    ) -> None:
        """Prepare.

        Args:
            desktops: Asks the desktop to let somebody in.
            sits: Whether a browser's tab may be on a link's page.
            base_url: What people's links begin with.
            check_seconds: How often that is asked again.
        """
        self._desktops = desktops
        self._sits = sits
        self._host = urlsplit(base_url).netloc
        self._check_seconds = check_seconds

    async def view(self, websocket: WebSocket) -> None:
        """Serve one viewer until they, the hold or their right to look are gone."""
        token, tab = websocket.path_params["token"], websocket.query_params.get("tab", "")[:200]

        async def check() -> Summary:
            summary = (await self._sits(websocket, token, tab)).summary
            if summary.state is not HandoffState.HELD or summary.answer is not None:
                raise make_error(
                    ErrorCode.NOT_HELD, "The browser is not held for a person now.", holds="Nobody was let in."
                )
            return summary

        await serve_viewer(
            websocket, "/j/{token}/view", self._host, self._desktops, check, _viewer, check_seconds=self._check_seconds
        )


async def serve_viewer(
    websocket: WebSocket,
    path: str,
    host: str,
    desktops: DesktopClient,
    check: Callable[[], Awaitable[S]],
    viewer: Callable[[S, str], AdmitViewer],
    *,
    check_seconds: float = CHECK_SECONDS,
) -> None:
    """Serve one viewer until they, what they look at or their right to look are gone.

    Args:
        websocket: Their connection.
        path: What the log calls it; the path itself may hold a token.
        host: Where our pages are.
        desktops: Asks the desktop to let them in.
        check: What they look at; raises `HandoffError` where they may not, or not any more.
        viewer: Whom the desktop is to let in, by a ticket.
        check_seconds: How often that is asked again.
    """
    began = time.perf_counter()
    why = "failed"
    try:
        if not _is_ours(websocket, host):
            raise make_error(ErrorCode.FORBIDDEN, "That page is not one of ours.", holds="Nobody was let in.")
        looked_at = await check()
        ticket = secrets.token_urlsafe(_TICKET_BYTES)
        admitted = await desktops.admit_viewer(looked_at.queue, viewer(looked_at, ticket))
        wire: Wire | None = websocket.scope.get("state", {}).get(PAGE_WIRE)
        key = key_for(wire, admitted.address)
        try:
            connection = await connect_to(admitted.address, ticket, key)
        except HandoffError as error:
            why = UNREACHABLE
            _LOG.warning("%s %s", error.what, error.do_next)
            await _refuse(websocket, why)
            return
        async with connection as desktop:
            await websocket.accept()
            if wire is not None and key is not None and await hand_over(wire, admitted.address, key):
                why = await Handed(websocket, desktop, check, check_seconds).run()
            else:
                why = await Passing(websocket, wire, desktop, check, check_seconds).run()
    except HandoffError as error:
        why = str(error.code)
        await _refuse(websocket, why)
    finally:
        _LOG.info("VIEW %s %s after %.1f s", path, why, time.perf_counter() - began)


def _is_ours(websocket: WebSocket, host: str) -> bool:
    """Whether the page is one of ours: browsers say that of every WebSocket, and only they have a seat's cookie."""
    origin = websocket.headers.get("origin", "")
    return urlsplit(origin).netloc in (websocket.headers.get("host"), host)


def _viewer(summary: Summary, ticket: str) -> AdmitViewer:
    return AdmitViewer.of(summary.handoff_id, Association.parse(summary.handoff_id).browser_id, new_id("v"), ticket)


async def _refuse(websocket: WebSocket, why: str) -> None:
    """Say why: a browser tells a page nothing of a WebSocket that was not accepted."""
    try:
        if websocket.application_state.name == "CONNECTING":
            await websocket.accept()
        await websocket.close(_REFUSED, why)
    except (RuntimeError, asyncio.CancelledError, OSError):
        pass
