"""In which documents an agent's code has run: no gate can stop what such code has set up to do later."""

import time

from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.commands import words
from user_handoff.desktop.host.policy import Kind, is_empty_script
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.targets import Targets
from user_handoff.desktop.host.wire import Command

_LEAVES_NOTHING = words(
    "Input Target Browser Network Storage Emulation Overlay IO DOMStorage IndexedDB CacheStorage Page Fetch"
)
"""Domains of which an effect leaves no code in a page."""
_LEAVES_NOTHING_TOO = words(
    """
    DOM.focus DOM.setFileInputFiles DOM.scrollIntoViewIfNeeded DOM.highlightNode DOM.hideHighlight DOM.setInspectedNode
    DOM.performSearch DOM.getSearchResults DOM.discardSearchResults DOM.markUndoableState
    """
)
_FULFILL = "Fetch.fulfillRequest"
_PUTS_CODE = ("Page.setDocumentContent", _FULFILL)
_COMES_SECONDS = 10.0
"""How long the document may take to come whose content an agent has sent in the site's place."""


class Taint:
    """Marks documents. Loading a page anew clears its mark; what runs in a worker stays with that."""

    def __init__(self, router: Router, targets: Targets) -> None:
        self._router = router
        self._targets = targets
        self._documents: dict[str, str | None] = {}
        self._others: set[str] = set()
        self._comes: dict[str, float] = {}
        targets.went.append(self._gone)
        targets.loaded.append(self._loaded)

    @property
    def pages(self) -> list[str]:
        """The pages that show a document in which an agent's code has run, or may have."""
        if self._others & self._targets.infos.keys():
            return self._targets.pages
        return [page for page, document in self._documents.items() if self._targets.documents.get(page) == document]

    def note(self, client: AgentClient, command: Command, kind: Kind) -> bool:
        """Note a command that runs code; call it again when it has ended, since the page may have moved on meanwhile.

        Returns:
            True where it does.
        """
        if not (kind is Kind.EVALUATE or _may_leave_code(command, kind) or self._is_script(command)):
            return False
        session = command.session or client.root
        self._mark(session)
        if command.method == _FULFILL:
            pages = [page] if (page := self._router.page_of(session)) else self._targets.pages
            self._comes.update(dict.fromkeys(pages, time.monotonic() + _COMES_SECONDS))
        return True

    def _is_script(self, command: Command) -> bool:
        added = command.method in ("Page.addScriptToEvaluateOnNewDocument", "Page.addScriptToEvaluateOnLoad")
        return added and not is_empty_script(command.method, command.params)

    def _mark(self, session: str) -> None:
        page = self._router.page_of(session)
        if page is not None:
            self._documents[page] = self._targets.documents.get(page)
        elif session in self._router.targets:
            self._others.add(self._router.targets[session][0])

    def _loaded(self, page: str) -> None:
        armed = (
            session
            for client in self._router.clients
            if isinstance(client, AgentClient)
            for session in client.runs_in_new_documents
        )
        if page in self._documents and self._documents[page] is None:
            self._documents[page] = self._targets.documents[page]  # it was marked before its document was known
        for session in armed:
            if self._router.page_of(session) == page:
                self._mark(session)
        if self._comes.pop(page, 0.0) > time.monotonic():
            self._documents[page] = self._targets.documents[page]

    def _gone(self, target: str) -> None:
        self._documents.pop(target, None)
        self._comes.pop(target, None)
        self._others.discard(target)


def _may_leave_code(command: Command, kind: Kind) -> bool:
    """True for an effect that can put code into a page, or a style that sends on what is typed; unknown ones can."""
    if kind is not Kind.EFFECT or command.method in _LEAVES_NOTHING_TOO:
        return False
    return command.method in _PUTS_CODE or command.method.partition(".")[0] not in _LEAVES_NOTHING
