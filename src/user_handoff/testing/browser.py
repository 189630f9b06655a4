"""One browser in memory: its pages, what they show, and the ids that its last snapshots gave away."""

import secrets
from dataclasses import dataclass, field

from user_handoff.contract import browser as b
from user_handoff.contract.boundary import Seen, Shown, StopList, together
from user_handoff.contract.boundary.built_in import BUILT_IN
from user_handoff.contract.boundary.meeting import stop_list
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.urls import OPENABLE, redact_url
from user_handoff.testing.pages import BLANK, Control, Page, Site


@dataclass
class Tab:
    """One page of a browser."""

    page_id: str
    history: list[Page]
    needs_snapshot: bool = False
    elements: dict[str, Control] = field(default_factory=dict)
    """What the ids of its last snapshot stand for."""


class MemoryBrowser:
    """What a managed browser is to an agent.

    Attributes:
        spec: How it was opened.
        tabs: Its pages, by their ids, the oldest first.
        passed: The walls that a person has passed, by their URLs.
    """

    def __init__(self, spec: b.OpenBrowser, site: Site) -> None:
        self.spec = spec
        self.site = site
        self.tabs: dict[str, Tab] = {}
        self.passed: set[str] = set()
        self._opened = 0
        self.front = self.open_tab(BLANK)
        self.go(self.front, spec.url)

    def open_tab(self, page: Page) -> Tab:
        """Open a page beside the others, in front of them."""
        self._opened += 1
        self.front = self.tabs[f"p{self._opened}"] = Tab(f"p{self._opened}", [page])
        return self.front

    def tab(self, page_id: str | None) -> Tab:
        """A page by its id, or the one in front.

        Raises:
            Gone: ``page_gone``.
        """
        if page_id is None:
            return self.front
        if page_id not in self.tabs:
            raise make_error(
                ErrorCode.PAGE_GONE,
                "The page was closed, or there never was one of that id.",
                holds="Nothing was done.",
                do_next="List the pages of the browser.",
                page_id=page_id[:64],
            )
        return self.tabs[page_id]

    def shown(self, tab: Tab) -> Page:
        """What a page shows now."""
        return self.site.shown(tab.history[-1], self.passed)

    def go(self, tab: Tab, url: str) -> None:
        """Go to a URL.

        Raises:
            Refused: ``url_refused`` or ``navigation_failed``: no page of the test is there.
        """
        if url != "about:blank" and url.partition(":")[0] not in OPENABLE:
            raise _refused(ErrorCode.URL_REFUSED, "Only http, https and about:blank can be opened.")
        page = self.site.find(url)
        if page is None:
            raise _refused(ErrorCode.NAVIGATION_FAILED, f"No page of this test is at {redact_url(url)}.")
        tab.history.append(page)
        tab.elements = {}

    def close_tab(self, tab: Tab) -> None:
        """Close a page; the newest of the others comes to the front."""
        del self.tabs[tab.page_id]
        if not self.tabs:
            self.open_tab(BLANK)
        self.front = list(self.tabs.values())[-1]

    def control(self, tab: Tab, element_id: str) -> Control:
        """What an element id stands for.

        Raises:
            Stale: ``stale_element``: it is not of the page's last snapshot, or not of what the page shows.
        """
        found = tab.elements.get(element_id)
        if found is None or found not in self.shown(tab).controls:
            raise make_error(
                ErrorCode.STALE_ELEMENT,
                "The element id is not of the page's latest snapshot, or the element is no longer what it was.",
                holds="Nothing was done.",
                do_next="Take a fresh snapshot of the page and use an id from it.",
                element_id=element_id[:64],
            )
        return found

    def pass_walls(self) -> None:
        """A person does what the pages ask for: what each shows in the place of another is passed."""
        for tab in self.tabs.values():
            if (shown := self.shown(tab)) is not tab.history[-1]:
                self.passed.add(redact_url(shown.url))

    def given_back(self) -> None:
        """A person had it: each page must be looked at before effects, and with that its older ids are dead."""
        for tab in self.tabs.values():
            tab.needs_snapshot = True

    def snapshot(self, request: b.SnapshotRequest) -> b.Snapshot:
        """Look at a page; the ids of the look before are dead then."""
        tab = self.tab(request.page_id)
        page, name = self.shown(tab), secrets.token_hex(3)
        wanted = tab.elements.get(request.region) if request.region else None
        named = {f"{name}.e{n}": control for n, control in enumerate(page.controls, 1)}
        lines = [_line(i, control) for i, control in named.items() if wanted is None or control == wanted]
        tab.elements = named
        text = "\n".join(lines)
        shown = tuple(Shown(control.role, (control.name,), element_id=i) for i, control in named.items())
        seen = Seen(page.url, shown)
        return b.Snapshot(
            browser_id=self.spec.browser_id,
            page=self.page_info(tab),
            snapshot_id=name,
            text=text.encode()[: request.max_bytes].decode(errors="ignore"),
            truncated=len(text.encode()) > request.max_bytes,
            boundary=self.rules.boundary(tab.page_id, seen),
            refused=self.rules.refused(seen),
            pages=self.page_infos(),
        )

    @property
    def rules(self) -> StopList:
        """The built-in stop list, and what the browser was opened with."""
        return stop_list(together(BUILT_IN, self.spec.rules))

    def page_info(self, tab: Tab) -> b.PageInfo:
        """What may be said of a page."""
        page = self.shown(tab)
        return b.PageInfo(
            page_id=tab.page_id, url=redact_url(page.url), title=page.title, needs_snapshot=tab.needs_snapshot
        )

    def page_infos(self) -> tuple[b.PageInfo, ...]:
        """The same of all pages."""
        return tuple(self.page_info(tab) for tab in self.tabs.values())


def _line(element_id: str, control: Control) -> str:
    name = control.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'- {control.role} "{name}" [id={element_id}]'


def _refused(code: ErrorCode, what: str) -> HandoffError:
    return make_error(
        code, what, holds="The page is where it was.", do_next="Give the InMemoryDesktop a Page of that URL."
    )
