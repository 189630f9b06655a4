"""What an agent's command has to pass beside the hold, and what is noted of it."""

from collections.abc import Callable
from pathlib import Path

from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.desktop.host import scripts
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.commands import RAISING
from user_handoff.desktop.host.looks import Looks
from user_handoff.desktop.host.policy import Kind
from user_handoff.desktop.host.raising import Raising
from user_handoff.desktop.host.screen import AgentScreen
from user_handoff.desktop.host.taint import Taint
from user_handoff.desktop.host.turns import Turns
from user_handoff.desktop.host.uploads import Uploads
from user_handoff.desktop.host.wire import Command, Incoming

_IDENTITY = ("Network.setExtraHTTPHeaders", "Network.setUserAgentOverride")
_LEAVES_FOR_A_SITE = ("Page.navigate", "Page.close", "Page.bringToFront")
_ATTACHES = ("Target.setAutoAttach", "Target.autoAttachRelated")

Ended = Callable[[Incoming | None], None]


class AgentRules:
    """The rules for agents' commands that are let through."""

    def __init__(self, screen: AgentScreen, looks: Looks, taint: Taint, raising: Raising, uploads: Path) -> None:
        self.looks = looks
        self.taint = taint
        self.turns = Turns(looks.router)
        self._screen = screen
        self._raising = raising
        self._uploads = Uploads(uploads)

    def prepare(self, client: AgentClient, command: Command, kind: Kind) -> tuple[Command, Ended]:
        """Make a command ready to be sent.

        Returns:
            The command as it is sent, and what to call when it has ended.

        Raises:
            HandoffError: `snapshot_required`, `desktop_held`, `reservation_closed` or `forbidden`: it must not be sent.
        """
        if self.looks.missing(client, command, kind):
            raise make_error(
                ErrorCode.SNAPSHOT_REQUIRED,
                f"a person had this page; look at it before you act on it. {command.method} was not started",
            )
        session = command.session or client.root
        if self._is_the_browsers(session, command, kind):
            raise make_error(
                ErrorCode.FORBIDDEN, f"this is of the browser itself, and of no site. {command.method} was not started"
            )
        command = self._changed(client, session, command)
        permit = self._raising.admit() if command.method in RAISING else None
        runs = self.taint.note(client, command, kind)
        page = self.looks.page_of(session)
        over = self.turns.begin(client, command)

        def ended(reply: Incoming | None) -> None:
            over()
            self._raising.end(permit)
            if runs:
                self.taint.note(client, command, kind)
            if kind in (Kind.CONTENT, Kind.EVALUATE) and reply is not None and not reply.is_error:
                self.looks.seen(client, page)
            if command.method == scripts.ADD and session in client.sessions:
                scripts.note_added(client, session, command, reply)

        return command, ended

    def _is_the_browsers(self, session: str, command: Command, kind: Kind) -> bool:
        """True for what would look or act at the browser's own pages: they may do what no site may."""
        if not self.looks.targets.is_of_a_site(command.params.get("targetId")):
            return True
        reaches = kind in (Kind.CONTENT, Kind.EVALUATE, Kind.EFFECT) and command.method not in _LEAVES_FOR_A_SITE
        return reaches and self.looks.targets.shows_the_browser(session)

    def _changed(self, client: AgentClient, session: str, command: Command) -> Command:
        method, params = command.method, command.params
        if method == scripts.REMOVE:
            return scripts.removing(client, session, command)
        if method in _ATTACHES and self._screen.private:
            # once the person has gone, pages may wait for the agent
            kept = [entry for entry in client.postponed if (entry[0], entry[1].method) != (session, method)]
            client.postponed = [*kept, (session, command)]
            return _with(command, waitForDebuggerOnStart=False)
        if method == "Network.enable":
            command = _with(command, enableDurableMessages=False) if "enableDurableMessages" in params else command
            client.networks[session] = command
        elif method == "Network.disable":
            client.networks.pop(session, None)
        elif method in _IDENTITY:
            client.identity[session, method] = command
        elif method == "DOM.setFileInputFiles":
            return _with(command, files=self._uploads.give(params.get("files")))
        elif method == "Input.dispatchDragEvent" and isinstance(data := params.get("data"), dict) and "files" in data:
            return _with(command, data={**data, "files": self._uploads.give(data["files"])})
        return command


def _with(command: Command, **params: object) -> Command:
    return Command(command.id, command.method, {**command.params, **params}, command.session)
