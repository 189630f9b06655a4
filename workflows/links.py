"""The links of one handoff: reserved by a tab, spent by its browser, and given back where that stalls."""

from datetime import datetime, timedelta

from user_handoff.contract.entering import ATTACH_SECONDS, MAX_STEPS, LinkStep, LinkView, UseLink, as_email
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import LinkGrant

MAX_LINKS = 50
"""How many links of one handoff can be known at once."""

_ATTACH = timedelta(seconds=ATTACH_SECONDS)


class Links:
    """What a handoff knows of its links: hashes, and who has entered.

    Args:
        person: Who alone may enter; empty: whoever has a link.
    """

    def __init__(self, person: str) -> None:
        self._person = as_email(person)
        self._known: dict[str, LinkView] = {}

    @property
    def hashes(self) -> tuple[str, ...]:
        """Of all links, the oldest first."""
        return tuple(self._known)

    def get(self, sha256: str) -> LinkView | None:
        """A link by its hash."""
        return self._known.get(sha256)

    def others(self, sha256: str) -> int:
        """How many other links were entered."""
        return sum(link.spent for link in self._known.values() if link.sha256 != sha256)

    def has_room_for(self, grant: LinkGrant) -> bool:
        """True where a link is known or can be."""
        return grant.sha256 in self._known or len(self._known) < MAX_LINKS

    def add(self, grant: LinkGrant, now: datetime) -> None:
        """Remember a link, as far as there is room; one that is known stays as it is."""
        if self.has_room_for(grant) and grant.sha256 not in self._known:
            until = now + timedelta(seconds=grant.expires_in_seconds)
            self._known[grant.sha256] = LinkView(sha256=grant.sha256, expires_at=until)

    def refusal(self, use: UseLink, now: datetime) -> HandoffError | None:
        """Why a step cannot be taken now; None where it can. Nothing of a refused step is kept."""
        link = self._known.get(use.sha256)
        if link is None:
            return make_error(
                ErrorCode.LINK_UNKNOWN,
                "This link opens nothing.",
                holds="Nothing was changed.",
                do_next="Ask whoever sent it for a new one.",
            )
        if self._person and as_email(use.person) != self._person:
            return make_error(
                ErrorCode.FORBIDDEN,
                "This handoff is for a named person, who has not signed in here.",
                holds="The link was not spent.",
                do_next="Sign in as that person, at a gateway that can tell who somebody is.",
            )
        if link.steps >= MAX_STEPS:
            return _expired()
        return self._held_by_another(link, use, now) or (_expired() if _too_late(link, use, now) else None)

    def take(self, use: UseLink, now: datetime) -> None:
        """Take a step that was not refused."""
        link = self._known[use.sha256]
        entered = use.step in (LinkStep.FINALIZE, LinkStep.ENTER)
        self._known[use.sha256] = link.model_copy(
            update={
                "spent": link.spent or entered,
                "seat_sha256": use.seat_sha256,
                "tab_sha256": use.tab_sha256,
                "person": use.person or link.person,
                "attached_at": now,
                "steps": link.steps + 1,
            }
        )

    def _held_by_another(self, link: LinkView, use: UseLink, now: datetime) -> HandoffError | None:
        same_seat = link.seat_sha256 == use.seat_sha256
        if use.step is LinkStep.TAKE:
            same_person = bool(use.person) and as_email(link.person) == as_email(use.person)
            return None if link.spent and (same_seat or same_person) else _taken()
        mine = same_seat and link.tab_sha256 == use.tab_sha256
        if link.spent:
            return None if mine else _taken()
        if use.step is LinkStep.FINALIZE:
            return None if mine else _taken(_left(link, now))
        # A reload has a new seat and the same tab; the button of a page has its seat and no tab.
        known = same_seat or (bool(use.tab_sha256) and link.tab_sha256 == use.tab_sha256)
        return None if known or not _left(link, now) else _taken(_left(link, now))


def _left(link: LinkView, now: datetime) -> float:
    """For how many seconds an attached tab still has the link."""
    if link.attached_at is None:
        return 0.0
    return max(0.0, (link.attached_at + _ATTACH - now).total_seconds())


def _too_late(link: LinkView, use: UseLink, now: datetime) -> bool:
    if link.spent:
        return False
    begun_in_time = use.step is LinkStep.FINALIZE and _left(link, now) > 0
    return now > link.expires_at and not begun_in_time


def _taken(again_in_seconds: float | None = None) -> HandoffError:
    spent = again_in_seconds is None
    details = {} if spent else {"again_in_seconds": again_in_seconds}
    return make_error(
        ErrorCode.LINK_TAKEN,
        "This link was entered in another browser or tab." if spent else "Another tab is about to enter by this link.",
        holds="It lets in that one alone." if spent else "It is that tab's for half a minute.",
        do_next="Go on there, or ask for a new link." if spent else "Attach again after that.",
        **details,
    )


def _expired() -> HandoffError:
    return make_error(
        ErrorCode.LINK_EXPIRED,
        "This link can no longer be entered.",
        holds="The handoff goes on without it.",
        do_next="Ask whoever sent it for a new one.",
    )
