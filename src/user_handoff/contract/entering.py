"""A person's link: the steps by which one tab of one browser gets in by it, once."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

from pydantic import StringConstraints

from user_handoff.contract.base import Model
from user_handoff.contract.handoff import Summary

ATTACH_SECONDS: Final = 30.0
"""A tab that has attached and says nothing more for so long has let go of the link."""

MAX_STEPS: Final = 20
"""How many steps one link can take: a tab that goes wild fills no history."""

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
TabSha256 = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]


def as_email(address: str) -> str:
    """An e-mail address as it is compared: letters of ASCII in any case, and all others exactly.

    More would make two people one: to Unicode ``straße`` is ``strasse``, and ``ﬁ`` is ``fi``.
    """
    return "".join(each.lower() if each.isascii() else each for each in address)


class LinkStep(StrEnum):
    """What a tab does with a link. To look at its page is no step, and spends nothing."""

    ATTACH = "attach"
    """Reserve it for this tab, for half a minute."""
    FINALIZE = "finalize"
    """The tab has got its cookie: from now on the link lets in this browser alone."""
    ENTER = "enter"
    """Both at once, for a browser without scripts."""
    TAKE = "take"
    """Go on in another tab of the same person."""


class UseLink(Model):
    """One step. What is secret of it is here as a hash."""

    step: LinkStep
    sha256: Sha256
    """Of the link's token."""
    seat_sha256: Sha256
    """Of the cookie that the gateway minted for this browser."""
    tab_sha256: TabSha256 = ""
    """Of the id of the tab; empty: any tab of that browser."""
    person: Annotated[str, StringConstraints(max_length=200)] = ""
    """Who has signed in, as far as the gateway asks for that."""


class LinkView(Model):
    """Where a link stands."""

    sha256: Sha256
    expires_at: datetime
    """Until when it can be entered; whoever has entered stays."""
    spent: bool = False
    """True: it lets in one browser alone."""
    seat_sha256: str = ""
    tab_sha256: str = ""
    """The tab that has the page; empty: any tab of that browser."""
    person: str = ""
    attached_at: datetime | None = None
    steps: int = 0


class OpenedLink(Model):
    """What a query tells of a handoff to whoever shows a link of it."""

    summary: Summary
    link: LinkView
    others: int = 0
    """How many other links of this handoff were entered."""
