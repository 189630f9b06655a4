"""The multiplexer: commands of clients to the browser, replies and events back to whom they belong."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.pipe import BrowserPipe
from user_handoff.desktop.host.wire import Command, Incoming, Json

logger = logging.getLogger(__name__)


class CdpError(Exception):
    """The browser answered a command of the host's own with an error."""


class BrowserEnded(Exception):
    """The browser's pipe is closed."""


@dataclass(slots=True)
class Pending:
    """A command that the browser has yet to answer.

    Attributes:
        command: As the client sent it.
        session: The session that it went to.
        client: Whose it is; None for the host's own.
        answer: Where the host waits for it.
        is_effect: True while a hold waits for its end.
        ended: Called when it is over, however: with the browser's answer, or None where there is none.
    """

    command: Command
    session: str | None
    client: CdpClient | None = None
    answer: "asyncio.Future[Json] | None" = None
    is_effect: bool = False
    ended: "Callable[[Incoming | None], None] | None" = None


class EventHook(Protocol):
    """What looks at an event before it is passed on."""

    def __call__(self, event: Incoming, client: CdpClient | None) -> None:
        """Look at it."""


class Screen(Protocol):
    """What stands between the browser and a client: it decides what the client is shown."""

    def event(self, event: Incoming, client: CdpClient) -> bytes | None:
        """The event as this client may see it; None where it may not."""

    def reply(self, reply: Incoming, pending: Pending) -> bytes:
        """The answer to its command as this client may see it, under the command's own id."""


class _Open:
    """Shows everything."""

    def event(self, event: Incoming, client: CdpClient) -> bytes | None:
        """See `Screen`."""
        return event.addressed(root=event.session == client.root)

    def reply(self, reply: Incoming, pending: Pending) -> bytes:
        """See `Screen`."""
        assert pending.client is not None
        return reply.addressed(id=pending.command.id, root=reply.session == pending.client.root)


OPEN: Screen = _Open()


@dataclass(slots=True)
class Effects:
    """The effects in flight, by the browser's id."""

    ids: set[int] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def discard(self, id: int) -> None:
        """One has ended, or is no longer waited for."""
        self.ids.discard(id)
        self.changed.set()


class Router:
    """Owns the ids and the sessions.

    Attributes:
        clients: Every connected client.
        effects: Effects that clients have in flight.
        hooks: By event name, what looks at such an event first.
        screen: What clients are shown.
        parents: By session, the one that it was attached through.
        targets: By session, the id and the type of its target.
    """

    def __init__(self, pipe: BrowserPipe) -> None:
        self.clients: set[CdpClient] = set()
        self.effects = Effects()
        self.hooks: defaultdict[str, list[EventHook]] = defaultdict(list)
        self.screen = OPEN
        self.parents: dict[str, str] = {}
        self.targets: dict[str, tuple[str, str]] = {}
        self._pipe = pipe
        self._pending: dict[int, Pending] = {}
        self._owners: dict[str, CdpClient] = {}
        self._children: dict[str, set[str]] = {}
        self._next_id = 1
        self._ended = False

    # --- to the browser ---

    def call(self, method: str, params: Json | None = None, session: str | None = None) -> "asyncio.Future[Json]":
        """Send a command of the host's own; it is on its way when this returns.

        Returns:
            The result, to be awaited; it raises CdpError or BrowserEnded.
        """
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda future: future.cancelled() or future.exception())  # nobody has to look
        if self._ended:
            answer.set_exception(BrowserEnded("the browser is gone"))
        else:
            self._send(Pending(Command(0, method, params or {}), session, answer=answer))
        return answer

    def forward(
        self,
        client: CdpClient,
        command: Command,
        *,
        is_effect: bool,
        ended: Callable[[Incoming | None], None] | None = None,
    ) -> None:
        """Send a client's command."""
        session = command.session or client.root
        self._send(Pending(command, session, client, is_effect=is_effect, ended=ended))

    def cut(self, which: Callable[[Pending], bool]) -> list[Pending]:
        """Wait no longer for effects in flight, and drop their answers.

        Returns:
            What was cut; nobody has told their clients.
        """
        found = [id for id in self.effects.ids if id in self._pending and which(self._pending[id])]
        cut = [self._pending.pop(id) for id in found]
        for id, pending in zip(found, cut, strict=True):
            self.effects.discard(id)
            _end(pending, None)
        return cut

    def owns(self, client: CdpClient, session: str) -> bool:
        """True where the session is the client's own."""
        return self._owners.get(session) is client

    def _send(self, pending: Pending) -> None:
        id = self._next_id
        self._next_id += 1
        self._pending[id] = pending
        if pending.is_effect:
            self.effects.ids.add(id)
        self._pipe.put(pending.command.to_bytes(id, pending.session))

    # --- sessions ---

    def add(self, client: CdpClient) -> None:
        """A client has connected; its root session is its own."""
        self.clients.add(client)
        self.adopt(client.root, client, None)

    def remove(self, client: CdpClient) -> None:
        """A client has gone, and with it its sessions."""
        self.clients.discard(client)
        self.disown(client.root)

    def adopt(self, session: str, client: CdpClient, parent: str | None) -> None:
        """A session is a client's own from now on."""
        self._owners[session] = client
        client.sessions.add(session)
        if parent is not None:
            self.parents[session] = parent
            self._children.setdefault(parent, set()).add(session)

    def page_of(self, session: str | None) -> str | None:
        """The page that a session is of, or of a frame or worker of; None where that cannot be told."""
        while session is not None:
            target, kind = self.targets.get(session, ("", ""))
            if kind == "page":
                return target
            session = self.parents.get(session)
        return None

    def disown(self, session: str) -> None:
        """A session has ended, with those that were attached through it: nothing that was sent to it will answer."""
        for child in self._children.pop(session, set()):
            self.disown(child)
        client = self._owners.pop(session, None)
        if client is not None:
            client.forget(session)
        self.parents.pop(session, None)
        self.targets.pop(session, None)
        self.stop_waiting(session, lambda command: True)
        for pending in self._pending.values():
            if pending.ended is not None and pending.session == session:
                _end(pending, None)

    def stop_waiting(self, session: str, which: Callable[[Command], bool]) -> None:
        """Wait no longer for the end of a session's effects."""
        for id in list(self.effects.ids):
            pending = self._pending.get(id)
            if pending is None or (pending.session == session and which(pending.command)):
                self.effects.discard(id)

    # --- from the browser ---

    def receive(self, raw: bytes) -> None:
        """Pass on one message of the browser."""
        message = Incoming.of(raw)
        if message.reply_to is None:
            self._pass_event(message)
        else:
            self._pass_reply(message, message.reply_to)

    def end(self) -> None:
        """The browser is gone: whoever waits is told."""
        self._ended = True
        for pending in self._pending.values():
            if pending.answer is not None and not pending.answer.done():
                pending.answer.set_exception(BrowserEnded("the browser is gone"))
            _end(pending, None)
        self._pending.clear()
        self.effects.ids.clear()
        self.effects.changed.set()

    def _pass_reply(self, message: Incoming, id: int) -> None:
        pending = self._pending.pop(id, None)
        if pending is None:
            return
        self.effects.discard(id)
        _end(pending, message)
        if pending.answer is not None:
            _resolve(pending.answer, message.parsed())
        elif pending.client in self.clients:
            assert pending.client is not None
            if pending.command.method == "Target.attachToBrowserTarget":
                self._adopt_reply(pending, message)
            pending.client.put(self.screen.reply(message, pending))

    def _adopt_reply(self, pending: Pending, message: Incoming) -> None:
        session = message.parsed().get("result", {}).get("sessionId")
        if session is not None and pending.client is not None:
            self.adopt(session, pending.client, pending.session)

    def _pass_event(self, message: Incoming) -> None:
        client = None if message.session is None else self._owners.get(message.session)
        if message.method == "Target.attachedToTarget":
            params = message.parsed()["params"]
            self.targets[params["sessionId"]] = (params["targetInfo"]["targetId"], params["targetInfo"]["type"])
            if client is not None:
                self.adopt(params["sessionId"], client, message.session)
        for hook in self.hooks.get(message.method, ()):
            hook(message, client)
        shown = None if client is None else self.screen.event(message, client)
        if message.method == "Target.detachedFromTarget":
            self.disown(message.parsed()["params"]["sessionId"])
        if client is not None and shown is not None:
            client.put(shown)


def _end(pending: Pending, message: Incoming | None) -> None:
    ended, pending.ended = pending.ended, None
    if ended is not None:
        ended(message)


def _resolve(answer: "asyncio.Future[Json]", reply: Json) -> None:
    if answer.done():
        return
    if "error" in reply:
        answer.set_exception(CdpError(str(reply["error"].get("message", ""))[:200]))
    else:
        answer.set_result(reply["result"])
