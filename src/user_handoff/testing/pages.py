"""Pages that are written down for a test, and the site that they make."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from user_handoff.contract.urls import redact_url


@dataclass(frozen=True, slots=True)
class Control:
    """One element of a page, as an accessibility tree shows it.

    Attributes:
        role: Its role: ``button``, ``textbox``, ``heading``, …
        name: Its accessible name.
        leads_to: Where a click leads.
        opens: What a click opens in a page of its own, beside this one.
        downloads: What is downloaded from here.
    """

    role: str
    name: str
    leads_to: str | None = None
    opens: str | None = None
    downloads: bytes | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the site that the agent is tested on.

    Attributes:
        url: Where it is; query and fragment are ignored.
        controls: What it shows, in order.
        title: Its title.
        behind: What is shown in its place until a person has done it: a login wall. It may be behind another.
    """

    url: str
    controls: Sequence[Control] = field(default=())
    title: str = ""
    behind: "Page | None" = None


BLANK: Final = Page("about:blank")


class Site:
    """All pages there are, walls included."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages = {"about:blank": BLANK}
        for page in pages:
            wall: Page | None = page
            while wall is not None:
                self._pages.setdefault(redact_url(wall.url), wall)
                wall = wall.behind

    def find(self, url: str) -> Page | None:
        """The page of a URL, or None."""
        return self._pages.get(redact_url(url))

    def shown(self, page: Page, passed: Iterable[str]) -> Page:
        """What is shown where a page is asked for.

        Args:
            page: What is asked for.
            passed: The URLs of the walls that a person has passed.
        """
        passed = frozenset(passed)
        while page.behind is not None and redact_url(page.behind.url) not in passed:
            page = page.behind
        return page
