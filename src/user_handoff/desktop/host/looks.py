"""After a handoff: which pages an agent has yet to look at before it may act on them."""

from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.policy import Kind
from user_handoff.desktop.host.router import Router
from user_handoff.desktop.host.targets import Targets
from user_handoff.desktop.host.wire import Command


class Looks:
    """The pages that a person had, and who has seen them since.

    Attributes:
        router: Knows which session is of which page.
        targets: What there is.
    """

    def __init__(self, router: Router, targets: Targets) -> None:
        self.router = router
        self.targets = targets
        self._unseen: set[str] = set()

    def ask(self, pages: set[str]) -> None:
        """A handoff has ended: nobody knows these pages now."""
        self._unseen = set(pages)
        for client in self.router.clients:
            if isinstance(client, AgentClient):
                client.looked.clear()

    def seen_by_all(self, page: str) -> None:
        """The runner has looked at a page for whoever asked it, or the page is gone."""
        self._unseen.discard(page)

    def seen(self, client: AgentClient, page: str | None) -> None:
        """An agent has looked for itself."""
        if page in self._unseen:
            client.looked.add(page)

    def page_of(self, session: str) -> str | None:
        """The page that a session is of."""
        return self.router.page_of(session)

    def missing(self, client: AgentClient, command: Command, kind: Kind) -> bool:
        """True where an agent would act on a page that it has not looked at."""
        if not self._unseen or kind is not Kind.EFFECT:
            return False
        session = command.session or client.root
        unseen = self._unseen - client.looked
        named, page = command.params.get("targetId"), self.router.page_of(session)
        if page in unseen:
            return True
        if isinstance(named, str) and named:
            # a tab has another id than its page
            return bool(unseen) and (named in unseen or named not in self.targets.pages)
        # it may be of a worker or a frame that was named by itself, or of the whole browser
        return page is None and bool(unseen) and session in self.router.targets
