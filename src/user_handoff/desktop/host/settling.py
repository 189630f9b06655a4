"""The host's own commands at the two ends of a hold: letting go of what is pressed, settings off, settings on again."""

import asyncio
import logging
from collections.abc import Awaitable, Iterable

from user_handoff.desktop.host import scripts
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.router import BrowserEnded, CdpError, Router
from user_handoff.desktop.host.settings import setting_of

logger = logging.getLogger(__name__)

_SETTLE_SECONDS = 1.0
"""How long the host waits for answers to its own commands. Chromium does a session's commands in order, so where a page
is blocked in a dialog, no later command overtakes them."""


class Settling:
    """Sends them; they are on their way when its methods return."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def let_go(self, clients: Iterable[CdpClient]) -> list[Awaitable[object]]:
        """Let go of what these have pressed."""
        return [
            self._router.call(method, params, session)
            for client in clients
            for session, gestures in client.gestures.items()
            for method, params in gestures.finish()
        ]

    def park(self) -> list[Awaitable[object]]:
        """Take out of the person's way what clients have set up."""
        sent: list[Awaitable[object]] = []
        for client in self._router.clients:
            for session, name in client.settings:
                setting = setting_of(name)
                if setting is not None and setting.off is not None:
                    sent.append(self._router.call(*setting.off, session))
            sent.extend(self.resume(client, session) for session in list(client.paused))
            if isinstance(client, AgentClient):
                sent.extend(scripts.take_out(self._router, client))
        return sent

    def restore(self) -> list[Awaitable[object]]:
        """Set it up again, and what was asked for meanwhile."""
        sent: list[Awaitable[object]] = []
        for client in self._router.clients:
            held_on = [(session, command) for (session, _), command in client.settings.items()]
            for session, command in held_on + client.postponed:
                sent.append(self._router.call(command.method, command.params, session))
            client.postponed = []
            if isinstance(client, AgentClient):
                sent.append(scripts.put_back(self._router, client))
        return sent

    async def wait(self, sent: list[Awaitable[object]]) -> None:
        """Wait for the answers, and not for long."""
        if not sent:
            return
        tasks = [asyncio.ensure_future(answer) for answer in sent]
        done, waiting = await asyncio.wait(tasks, timeout=_SETTLE_SECONDS)
        failed = sum(isinstance(task.exception(), CdpError | BrowserEnded) for task in done)
        if failed or waiting:
            logger.info("own commands: %d failed, %d without an answer", failed, len(waiting))

    def resume(self, client: CdpClient, session: str) -> Awaitable[object]:
        """Let a new page run."""
        client.paused.discard(session)
        return self._router.call("Runtime.runIfWaitingForDebugger", session=session)
