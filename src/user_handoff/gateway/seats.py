"""Who sits at a person's page: the one browser that has entered by the link, told by a cookie, and its one tab.

The handoff's workflow keeps the hash of the cookie, so that every gateway knows the same. A cookie that was stolen is
as good as the page; the link alone, once it was entered, is good for nothing.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

from user_handoff.client import HandoffClient
from user_handoff.contract.entering import LinkStep, LinkView, UseLink, as_email
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import Summary
from user_handoff.gateway.identity import Identity
from user_handoff.gateway.links import look_up, token_hash
from user_handoff.gateway.settings import GatewaySettings

TAB_HEADER: Final = "x-tab"
"""Names the tab that asks: a random id of its own, which lets nobody in."""

_COOKIE_SECONDS: Final = 3_600
_ENTRY_BYTES: Final = 24

Where = Literal["outside", "here", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one request stands at one moment.

    Attributes:
        token: The link's.
        summary: The handoff.
        link: Where its link stands.
        others: How many other links of the handoff were entered.
        where: `here`: this browser has entered, and this tab has the page; `elsewhere`: another tab has it.
        person: Who has signed in; empty: nobody, or nobody was asked to.
    """

    token: str
    summary: Summary
    link: LinkView
    others: int
    where: Where
    person: str

    @property
    def same_person(self) -> bool:
        """True where another browser of this person has entered: they may take it over."""
        return bool(self.person) and self.link.spent and as_email(self.link.person) == as_email(self.person)

    @property
    def name(self) -> str:
        """How whoever sits here is named in history: it tells two apart, and lets nobody in."""
        return self.link.person or by_link(self.token)


class Seats:
    """Mints the cookies, and tells who sits where. It keeps nothing."""

    def __init__(self, client: HandoffClient, settings: GatewaySettings, identity: Identity) -> None:
        self._client = client
        self._identity = identity
        self._path = f"{settings.prefix}/j"
        self._secure = urlsplit(settings.base_url).scheme == "https"

    def new_entry(self) -> str:
        """What an entry page carries, so that its button, pressed twice, enters once. It lets nobody in."""
        return secrets.token_urlsafe(_ENTRY_BYTES)

    async def look(self, request: HTTPConnection, token: str, tab: str | None = None) -> Place:
        """Where this browser stands with a link. Looking spends nothing.

        Args:
            request: Whose cookies tell.
            token: The link's.
            tab: The id of the tab; empty: it has none; None: it was not told yet, as in a plain navigation.

        Raises:
            Refused: ``link_unknown``.
            SetupError: ``temporal_unreachable``.
        """
        opened = await look_up(self._client, token)
        link, person = opened.link, self._identity.email(request)
        mine = link.spent and hmac.compare_digest(_hash(self._cookie(request, token)), link.seat_sha256)
        # Who signs out, or in as somebody else, has left the seat, whatever cookie stayed behind.
        mine = mine and as_email(link.person) == as_email(person)
        here = mine and (tab is None or not link.tab_sha256 or link.tab_sha256 == _tab_hash(tab))
        where: Where = "here" if here else "elsewhere" if mine else "outside"
        return Place(token, opened.summary, link, opened.others, where, person)

    async def sit(self, request: HTTPConnection, token: str, tab: str = "") -> Place:
        """The same for a request that needs the seat: a view, an answer.

        Raises:
            Refused: ``link_unknown``; ``link_taken``: this browser has not entered, or another tab has the page.
            SetupError: ``temporal_unreachable``.
        """
        place = await self.look(request, token, tab)
        if place.where != "here":
            raise not_here()
        return place

    async def use(self, request: HTTPConnection, place: Place, step: LinkStep, tab: str, entry: str) -> str:
        """Take a step by a link.

        Args:
            request: Whose cookies tell.
            place: Where it stands.
            step: Which.
            tab: The tab's id.
            entry: What the entry page carried.

        Returns:
            The cookie that this browser needs from now on; empty: it has it.

        Raises:
            HandoffError: As `HandoffClient.use_link`.
        """
        has = self._cookie(request, place.token)
        mints = step is not LinkStep.FINALIZE and place.where == "outside"
        seat = _seat(place.token, entry or self.new_entry()) if mints else has
        use = UseLink(
            step=step,
            sha256=place.link.sha256,
            seat_sha256=_hash(seat),
            tab_sha256=_tab_hash(tab),
            person=place.person,
        )
        await self._client.use_link(place.summary.handoff_id, use)
        return seat if mints else ""

    def give(self, response: Response, token: str, seat: str) -> None:
        """Set the cookie."""
        response.set_cookie(
            _name(token),
            seat,
            max_age=_COOKIE_SECONDS,
            path=self._path,
            secure=self._secure,
            httponly=True,
            samesite="strict",
        )

    def _cookie(self, request: HTTPConnection, token: str) -> str:
        return request.cookies.get(_name(token), "")


def by_link(token: str) -> str:
    """How a link is named in history: enough to tell two apart, and to open neither."""
    return f"link {token_hash(token)[:8]}"


def not_here() -> HandoffError:
    """The refusal of a browser or tab that does not have the page."""
    return make_error(
        ErrorCode.LINK_TAKEN,
        "This tab does not have the person's page.",
        holds="Nothing was changed.",
        do_next="Open the link, or go on in the tab that has it.",
    )


def _name(token: str) -> str:
    return f"handoff_seat_{token_hash(token)[:12]}"


def _seat(token: str, entry: str) -> str:
    """A cookie that the same entry page always gets, so that a lost answer can be asked for again."""
    digest = hashlib.sha256(f"seat\n{token}\n{entry}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _tab_hash(tab: str) -> str:
    return _hash(tab) if tab else ""
