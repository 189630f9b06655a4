"""What agents are shown of a hold, and what they are told of it afterwards, so that they go on without reconnecting."""

import asyncio
from collections.abc import Awaitable

from user_handoff.contract.urls import redact_url
from user_handoff.desktop.host import hiding
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.router import OPEN, Pending, Router
from user_handoff.desktop.host.targets import Targets
from user_handoff.desktop.host.wire import Command, Incoming, Json, dump

_MOVES = ("Page.frameNavigated", "Page.navigatedWithinDocument")
_NEW = ("Target.attachedToTarget", "Target.targetCreated")
_HAS_CONSOLE = ("page", "iframe", "worker", "shared_worker", "service_worker")
_GONE = ("Target.detachedFromTarget", "Target.targetDestroyed")


class AgentScreen:
    """Stands between the browser and its clients.

    Attributes:
        private: True while nothing that a person does may be shown to an agent.
    """

    def __init__(self, router: Router, targets: Targets) -> None:
        self.private = False
        self._router = router
        self._targets = targets
        self._old: set[str] = set()

    def conceal(self) -> None:
        """Show agents nothing but structure from now on."""
        if not self.private:
            self.private = True
            self._old = set(self._targets.infos)

    def hides(self, target: object) -> bool:
        """True for a target that appeared in this hold."""
        return self.private and not (isinstance(target, str) and target in self._old)

    # --- as it happens ---

    def event(self, event: Incoming, client: CdpClient) -> bytes | None:
        """See `router.Screen`."""
        if not self.private or not isinstance(client, AgentClient):
            return OPEN.event(event, client)
        session = event.session or client.root
        if not hiding.passes(event.method):
            self._mute(event, client, session)
            return None
        message = event.parsed()
        if session == client.root:
            message.pop("sessionId", None)
        if self._withhold(message, client, session):
            return None
        if event.method in _MOVES:
            client.moved.add(session)
        elif event.method == "Target.targetInfoChanged":
            client.renamed[session, message["params"]["targetInfo"]["targetId"]] = None
        return dump(hiding.hide_event(message))

    def reply(self, reply: Incoming, pending: Pending) -> bytes:
        """See `router.Screen`."""
        client, command = pending.client, pending.command
        if not isinstance(client, AgentClient) or reply.is_error:
            return OPEN.reply(reply, pending)
        history = command.method == "Page.getNavigationHistory"
        if not (self.private or history):
            return OPEN.reply(reply, pending)
        message = reply.parsed()
        result = message.get("result", {})
        if history and not self.private:
            message["result"] = hiding.hide_history(result, redact_url)
        else:
            message["result"] = self._only_old(hiding.hide_result(command.method, result))
        if reply.session == client.root:
            message.pop("sessionId", None)
        return dump({**message, "id": command.id})

    def _only_old(self, result: Json) -> Json:
        if "targetInfos" not in result:
            return result
        return {"targetInfos": [info for info in result["targetInfos"] if not self.hides(info["targetId"])]}

    def _mute(self, event: Incoming, client: AgentClient, session: str) -> None:
        if event.method == "Page.javascriptDialogOpening":
            client.dialogs[session] = event.addressed(root=session == client.root)
        elif event.method.startswith("DOM."):
            client.changed.add(session)
        elif event.method == "Fetch.requestPaused":
            # one that was on its way before interception was switched off
            self._router.call("Fetch.continueRequest", {"requestId": event.parsed()["params"]["requestId"]}, session)

    def _withhold(self, message: Json, client: AgentClient, session: str) -> bool:
        """Keep back what is about something that appeared in this hold."""
        method, params = message["method"], message["params"]
        target = params.get("targetInfo", params).get("targetId")
        if method == "Page.javascriptDialogClosed":
            return client.dialogs.pop(session, None) is not None
        if target is None or not self.hides(target):
            return False
        if method in _NEW:
            client.withheld.append((session, message))
        elif method in _GONE:
            client.withheld = [kept for kept in client.withheld if not _is_about(kept[1], target, params)]
        return True

    # --- at the release ---

    def forget_hold(self) -> list[Awaitable[object]]:
        """Have the browser forget what it has recorded in the hold for who asks later."""
        sent: list[Awaitable[object]] = []
        for client in self._router.clients if self._targets.started else ():
            for session in client.sessions - {client.root}:
                sent.extend(self._forget_console(session))
            if isinstance(client, AgentClient):
                for session, command in client.networks.items():
                    sent.extend(self._forget_network(client, session, command))
        sent.extend(self._forget_other(target) for target in self._unattached())
        return sent

    def _forget_console(self, session: str) -> list[Awaitable[object]]:
        return [self._router.call(method, session=session) for method in ("Runtime.discardConsoleEntries", "Log.clear")]

    def _unattached(self) -> list[str]:
        """What has a console, and no session of anybody: shared workers, as a rule."""
        sessions = [session for client in self._router.clients for session in client.sessions]
        known = {self._router.targets[session][0] for session in sessions if session in self._router.targets}
        infos = self._targets.infos.items() if self._targets.started else ()
        return [target for target, info in infos if info["type"] in _HAS_CONSOLE and target not in known]

    async def _forget_other(self, target: str) -> None:
        attached = await self._router.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        session = attached["sessionId"]
        await asyncio.gather(*self._forget_console(session), return_exceptions=True)
        await self._router.call("Target.detachFromTarget", {"sessionId": session})

    def _forget_network(self, client: AgentClient, session: str, enable: Command) -> list[Awaitable[object]]:
        own = [command for (at, _), command in client.identity.items() if at == session]
        commands = [Command(0, "Network.disable"), enable, *own]
        return [self._router.call(command.method, command.params, session) for command in commands]

    def present(self) -> list[Awaitable[object]]:
        """Show agents everything again, from now on; what has changed, they are told."""
        self.private = False
        sent: list[Awaitable[object]] = []
        for client in self._router.clients:
            if isinstance(client, AgentClient):
                sent.extend(self._present_pages(client))
                self._present_targets(client)
                for message in client.dialogs.values():
                    client.put(message)
                client.dialogs.clear()
        return sent

    def _present_pages(self, client: AgentClient) -> list[Awaitable[object]]:
        sent: list[Awaitable[object]] = []
        for session in client.refused_in & client.sessions:
            # frameworks keep the refusal for each context: show them the contexts as new ones
            self._tell(client, session, "Runtime.executionContextsCleared", {})
            sent.append(self._router.call("Runtime.disable", session=session))
            sent.append(self._router.call("Runtime.enable", session=session))
        for session in client.moved & client.sessions:
            tree = self._router.call("Page.getFrameTree", session=session)
            tree.add_done_callback(
                lambda found, session=session: (
                    None  # type: ignore[misc]
                    if found.cancelled() or found.exception()
                    else self._tell_places(client, session, found.result()["frameTree"])
                )
            )
            sent.append(tree)
        for session in client.changed & client.sessions:
            self._tell(client, session, "DOM.documentUpdated", {})
        for known in (client.refused_in, client.moved, client.changed):
            known.clear()
        return sent

    def _present_targets(self, client: AgentClient) -> None:
        for session, message in client.withheld:
            target = message["params"]["targetInfo"]["targetId"]
            if session in client.sessions and target in self._targets.infos:
                params = {**message["params"], "targetInfo": self._targets.infos[target], "waitingForDebugger": False}
                if message["method"] == "Target.targetCreated":
                    del params["waitingForDebugger"]
                client.put(dump({**message, "params": params}))
        for session, target in client.renamed:
            if session in client.sessions and target in self._targets.infos:
                self._tell(client, session, "Target.targetInfoChanged", {"targetInfo": self._targets.infos[target]})
        client.withheld, client.renamed = [], {}

    def _tell_places(self, client: AgentClient, session: str, tree: Json) -> None:
        frame = tree["frame"]
        url = frame["url"] + frame.get("urlFragment", "")
        params = {"frameId": frame["id"], "url": url, "navigationType": "other"}
        self._tell(client, session, "Page.navigatedWithinDocument", params)
        for child in tree.get("childFrames", ()):
            self._tell_places(client, session, child)

    def _tell(self, client: AgentClient, session: str, method: str, params: Json) -> None:
        message: Json = {"method": method, "params": params}
        if session != client.root:
            message["sessionId"] = session
        client.put(dump(message))


def _is_about(kept: Json, target: str, gone: Json) -> bool:
    session = gone.get("sessionId")
    of_target = kept["params"]["targetInfo"]["targetId"] == target
    return bool(of_target and (session is None or kept["params"].get("sessionId") in (None, session)))
