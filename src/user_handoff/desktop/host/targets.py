"""The pages of a browser as the host itself sees them, by sessions of its own. It looks only once there are doors."""

import re
from collections.abc import Callable

from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.commands import words
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.wire import Incoming, Json

_PAGES_ONLY = [{"type": "page", "exclude": False}, {"exclude": True}]
_FOR_AGENTS = words("page iframe worker shared_worker service_worker worklet webview tab browser")
_OWN = re.compile(r"(?:chrome|chrome-untrusted|chrome-search|devtools):", re.IGNORECASE)
_EVERYTHING = [{"type": "browser", "exclude": True}, {"exclude": False}]


class Targets:
    """What there is, and which document each page shows.

    Attributes:
        infos: By target, what Chromium says of it.
        documents: By page, the loader id of its main document.
        started: True once it looks.
        went: What is called with the id of a target that ends.
        loaded: What is called with the id of a page that shows another document.
    """

    def __init__(self, router: Router) -> None:
        self.infos: dict[str, Json] = {}
        self.documents: dict[str, str] = {}
        self.went: list[Callable[[str], None]] = []
        self.loaded: list[Callable[[str], None]] = []
        self._router = router
        self._pages: dict[str, str] = {}
        self.started = False
        router.hooks["Target.targetCreated"].append(self._on_created)
        router.hooks["Target.targetInfoChanged"].append(self._on_changed)
        router.hooks["Target.targetDestroyed"].append(self._on_destroyed)
        router.hooks["Target.attachedToTarget"].append(self._on_attached)
        router.hooks["Page.frameNavigated"].append(self._on_navigated)

    async def start(self) -> None:
        """Look from now on; again changes nothing.

        Raises:
            CdpError, BrowserEnded: The browser did not agree.
        """
        if self.started:
            return
        await self._router.call("Target.setDiscoverTargets", {"discover": True, "filter": _EVERYTHING})
        attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True, "filter": _PAGES_ONLY}
        await self._router.call("Target.setAutoAttach", attach)
        self.started = True

    @property
    def pages(self) -> list[str]:
        """The pages that there are."""
        return [target for target, info in self.infos.items() if info["type"] == "page"]

    def is_of_a_site(self, target: object) -> bool:
        """True for a target of a kind that sites have; a part of the browser's own window is none."""
        info = self.infos.get(target) if isinstance(target, str) else None
        return info is None or info["type"] in _FOR_AGENTS

    def shows_the_browser(self, session: str | None) -> bool:
        """True for a session of one of the browser's own pages, or of what is within it."""
        while session is not None:
            target, kind = self._router.targets.get(session, ("", "browser"))
            if kind not in _FOR_AGENTS or _OWN.match(self.infos.get(target, {}).get("url", "")):
                return True
            session = self._router.parents.get(session)
        return False

    def _on_created(self, event: Incoming, client: CdpClient | None) -> None:
        if event.session is None:
            info = event.parsed()["params"]["targetInfo"]
            self.infos[info["targetId"]] = info

    def _on_changed(self, event: Incoming, client: CdpClient | None) -> None:
        if event.session is None:
            info = event.parsed()["params"]["targetInfo"]
            self.infos[info["targetId"]] = info

    def _on_destroyed(self, event: Incoming, client: CdpClient | None) -> None:
        if event.session is None:
            target = event.parsed()["params"]["targetId"]
            self.infos.pop(target, None)
            self.documents.pop(target, None)
            for tell in self.went:
                tell(target)

    def _on_attached(self, event: Incoming, client: CdpClient | None) -> None:
        if event.session is not None:
            return
        params = event.parsed()["params"]
        if params["targetInfo"]["type"] != "page":
            return
        session, target = params["sessionId"], params["targetInfo"]["targetId"]
        self._pages[session] = target
        self._router.call("Page.enable", session=session)
        tree = self._router.call("Page.getFrameTree", session=session)
        tree.add_done_callback(
            lambda found: (
                None
                if found.cancelled() or found.exception()
                else self._shows(target, found.result()["frameTree"]["frame"]["loaderId"])
            )
        )

    def _on_navigated(self, event: Incoming, client: CdpClient | None) -> None:
        target = self._pages.get(event.session or "")
        if target is None:
            return
        frame = event.parsed()["params"]["frame"]
        if "parentId" not in frame:
            self._shows(target, frame["loaderId"])

    def _shows(self, target: str, document: str) -> None:
        if self.documents.get(target) != document:
            self.documents[target] = document
            for tell in self.loaded:
                tell(target)
