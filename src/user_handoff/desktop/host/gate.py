"""The gate: what a hold refuses, and how it begins and ends. Every CDP command of every client passes here."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.desktop.host import policy, refusals
from user_handoff.desktop.host.agent import AgentClient
from user_handoff.desktop.host.agents import AgentRules
from user_handoff.desktop.host.client import CdpClient
from user_handoff.desktop.host.commands import EVALUATE
from user_handoff.desktop.host.policy import Kind
from user_handoff.desktop.host.router import Pending, Router
from user_handoff.desktop.host.screen import AgentScreen
from user_handoff.desktop.host.settings import setting_of
from user_handoff.desktop.host.settling import Settling
from user_handoff.desktop.host.use import DoorUse
from user_handoff.desktop.host.wire import REFUSED, Command, Incoming, failed, raised, refusal, result, unknown_session

logger = logging.getLogger(__name__)

_GESTURE_SECONDS = 0.5
"""How long a client may take to let go by itself of what it has pressed."""
_UNPAUSE_SECONDS = 2.0
"""A client that lets a new page wait longer than this is not waited for."""
_BACK_SECONDS = 2.0
"""How long an agent's look waits for the runner to free the browser after a person has finished."""
_POSTPONED = 1_000
"""Settings that one client may leave for the release."""


class Gate:
    """The hold of one browser.

    Attributes:
        hold_id: The hold that stands or is being made; None where there is none.
        recovering: True where the person has finished, and the browser waits for the first look of an agent.
        refused: How many commands holds have refused.
        on_look: Called with the hold's id when an agent would look at a browser that waits for that; False: nobody is
            there to free it.
    """

    def __init__(self, router: Router, screen: AgentScreen, agents: AgentRules, use: DoorUse) -> None:
        self.hold_id: str | None = None
        self.recovering = False
        self.refused = 0
        self.on_look: Callable[[str], bool] = lambda hold_id: False
        self._screen = screen
        self._agents = agents
        self._use = use
        self._free = asyncio.Event()
        self._draining = False
        self._router = router
        self._settling = Settling(router)
        self._changing = asyncio.Lock()
        router.hooks["Target.attachedToTarget"].append(self._on_attached)
        router.hooks["Page.javascriptDialogOpening"].append(self._on_dialog)

    # --- commands ---

    def handle(self, client: CdpClient, command: Command) -> None:
        """Pass a client's command on, answer it here, or refuse it."""
        if command.session is not None and not self._router.owns(client, command.session):
            client.put(unknown_session(command))
            return
        kind = policy.classify(command.method, command.params, client.role)
        if kind is Kind.NEVER:
            self._refuse(client, command, ErrorCode.INVALID_REQUEST, "not available through this browser host", -32601)
        elif isinstance(client, AgentClient) and command.method == "Browser.close":
            client.put(result(command))
            client.end()
        elif isinstance(client, AgentClient) and "targetId" in command.params and self._hides(command):
            client.put(failed(command, -32602, "No target with given id found"))
        elif self.hold_id is not None and not self._admitted(client, command, kind):
            self._refuse_held(client, command, kind, self.hold_id)
        elif policy.refused_url(command.method, command.params):
            self._refuse(client, command, ErrorCode.URL_REFUSED, "only http, https and about:blank are opened", -32602)
        elif kind is Kind.SETTING and len(client.postponed) >= _POSTPONED:
            self._refuse(client, command, ErrorCode.BROWSER_HELD, "too many settings wait for the release", REFUSED)
        elif kind is Kind.SETTING and self._note_setting(client, command):
            client.put(result(command))
        else:
            self._pass(client, command, kind)

    def may_wait(self, client: CdpClient) -> bool:
        """True where `turn` may have a command of this client wait."""
        return self.recovering and self.hold_id is not None and isinstance(client, AgentClient)

    async def turn(self, client: CdpClient, command: Command) -> None:
        """Let an agent that looks first after a person has finished have its turn: the runner frees the browser."""
        if self.hold_id is None or not self.may_wait(client):
            return
        if policy.classify(command.method, command.params, client.role) not in (Kind.CONTENT, Kind.EVALUATE):
            return
        self._free.clear()
        if self.on_look(self.hold_id):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._free.wait(), _BACK_SECONDS)

    def _hides(self, command: Command) -> bool:
        return self._screen.hides(command.params["targetId"])

    def _admitted(self, client: CdpClient, command: Command, kind: Kind) -> bool:
        if client.role.may_in_hold(kind):
            return True
        if isinstance(client, AgentClient) and _is_untouched(command):
            return True
        if not self._draining:
            return False
        gestures = client.gestures[command.session or client.root]
        return policy.is_answer(command.method) or gestures.ends(command.method, command.params)

    def _refuse_held(self, client: CdpClient, command: Command, kind: Kind, hold_id: str) -> None:
        self.refused += 1
        code, text = ErrorCode.BROWSER_HELD, f"a person is working in this browser; {command.method} was not started"
        if isinstance(client, AgentClient) and command.method in EVALUATE:
            client.refused_in.add(command.session or client.root)
            client.put(raised(command, code, text))
        elif self.recovering and kind is Kind.EFFECT and isinstance(client, AgentClient):
            text = f"a person had this browser; look at the page before you act. {command.method} was not started"
            code = ErrorCode.SNAPSHOT_REQUIRED
            client.put(refusal(command, code, text, hold=hold_id))
        else:
            client.put(refusal(command, code, text, hold=hold_id))
        self._use.refused(client, command.method, code, hold_id)

    def _refuse(self, client: CdpClient, command: Command, code: ErrorCode, text: str, number: int) -> None:
        self._use.refused(client, command.method, code, self.hold_id)
        client.put(refusal(command, code, text, number=number))

    def _pass(self, client: CdpClient, command: Command, kind: Kind) -> None:
        session, ended = command.session or client.root, None
        if isinstance(client, AgentClient):
            try:
                if self._agents.turns.wait(client, command, self.handle):
                    return
                command, ended = self._agents.prepare(client, command, kind)
            except HandoffError as error:
                if kind is Kind.EVALUATE:
                    self._use.refused(client, command.method, error.code, self.hold_id)
                    client.put(raised(command, error.code, error.what))
                else:
                    self._refuse(client, command, error.code, error.what, REFUSED)
                return
        if command.method.startswith("Input."):
            client.gestures[session].note(command.method, command.params)
        elif command.method == "Runtime.runIfWaitingForDebugger":
            client.paused.discard(session)
        self._router.forward(client, command, is_effect=client.role.drains(kind), ended=ended)
        self._use.admitted(client, kind)

    def _note_setting(self, client: CdpClient, command: Command) -> bool:
        """Note a setting; True where a hold postpones it."""
        setting = setting_of(command.method)
        assert setting is not None
        session = command.session or client.root
        if setting.off is None:
            if self.hold_id is not None:
                client.postponed.append((session, command))
        elif setting.is_off(command.params):
            client.settings.pop((session, setting.name), None)
        else:
            client.settings[session, setting.name] = command
        return self.hold_id is not None

    # --- the hold ---

    async def hold(self, hold_id: str, drain_seconds: float, *, preempt: bool = False) -> None:
        """Refuse effects from now on, and wait until those in flight have ended.

        Args:
            hold_id: Its id.
            drain_seconds: How long to wait.
            preempt: Cut agents' effects off then, rather than fail.

        Raises:
            HandoffError: `handoff_active`: another hold stands. `drain_timeout`: they did not end; nothing is held.
        """
        refusals.check_other(self.hold_id, hold_id)
        async with self._changing:
            refusals.check_other(self.hold_id, hold_id)
            if self.hold_id == hold_id:
                return
            self.hold_id = hold_id
            try:
                await self._drain(drain_seconds, preempt)
                self._screen.conceal()
                await self._settling.wait(self._settling.let_go(self._router.clients))
                await self._settling.wait(self._settling.park())
            except BaseException:
                self._draining = False
                await self._settling.wait(self._settling.restore())
                self.hold_id = None
                await self._settling.wait(self._screen.present())
                raise
        self._use.changed("held", hold_id)

    async def release(self, hold_id: str) -> None:
        """End the hold; nothing happens where none stands.

        Raises:
            HandoffError: `fence_mismatch`: another hold stands.
        """
        async with self._changing:
            if self.hold_id is None:
                return
            if self.hold_id != hold_id:
                raise refusals.mismatch("The hold that was to be released is not the one that stands.", self.hold_id)
            await self._settling.wait(self._screen.forget_hold() + self._settling.restore())
            self.hold_id, self.recovering = None, False
            await self._settling.wait(self._screen.present())
            self._free.set()
        self._use.changed("released", hold_id)

    async def recover(self, hold_id: str, pages: set[str]) -> None:
        """The person has finished: the hold stands until somebody looks. Again changes nothing.

        Args:
            hold_id: The hold.
            pages: The pages that there are: agents look at each of them before they act on it.

        Raises:
            HandoffError: `fence_mismatch`: another hold stands, or none.
        """
        async with self._changing:
            if self.hold_id != hold_id:
                raise refusals.mismatch("The hold that was to end is not the one that stands.", self.hold_id)
            self.recovering = True
            self._agents.looks.ask(pages)

    async def _drain(self, seconds: float, preempt: bool) -> None:
        deadline = time.monotonic() + seconds
        gestures_until = min(deadline, time.monotonic() + _GESTURE_SECONDS)
        effects = self._router.effects
        self._draining = True
        while effects.ids or (self._pressed() and time.monotonic() < gestures_until):
            limit = deadline if effects.ids else gestures_until
            effects.changed.clear()
            try:
                await asyncio.wait_for(effects.changed.wait(), max(0.0, limit - time.monotonic()))
            except TimeoutError:
                if effects.ids and preempt:
                    self._cut_agents()
                if effects.ids:
                    raise refusals.not_drained(len(effects.ids), seconds) from None
        self._draining = False

    def _cut_agents(self) -> None:
        """Wait no longer for what agents have begun; its answers reach nobody."""
        cut = self._router.cut(lambda pending: isinstance(pending.client, AgentClient))
        logger.info("cut off %d effects of agents", len(cut))
        for pending in cut:
            assert pending.client is not None
            text = f"a person takes over; the end of {pending.command.method} was not seen"
            unknown = refusal(pending.command, ErrorCode.OUTCOME_UNKNOWN, text, outcome="outcome_unknown")
            pending.client.put(unknown)
            self._stop(pending)

    def _stop(self, pending: Pending) -> None:
        method, waits = pending.command.method, pending.command.params.get("awaitPromise")
        if method in EVALUATE and not waits:
            # one that waits runs nothing now, and the page's own code would be ended in its place
            self._router.call("Runtime.terminateExecution", session=pending.session)
        elif method in ("Page.navigate", "Page.reload"):
            self._router.call("Page.stopLoading", session=pending.session)

    def _pressed(self) -> bool:
        return any(gesture for client in self._router.clients for gesture in client.gestures.values())

    # --- clients that go, pages that come ---

    async def leave(self, client: CdpClient) -> None:
        """A client has gone: let go of what it has pressed, before its sessions end."""
        await self._settling.wait(self._settling.let_go([client]))

    def _on_attached(self, event: Incoming, client: CdpClient | None) -> None:
        params = event.parsed()["params"]
        if client is None or not params.get("waitingForDebugger"):
            return
        session = params["sessionId"]
        client.paused.add(session)
        if self.hold_id is not None:
            self._settling.resume(client, session)  # a person's popup must not wait for a client
        else:
            asyncio.get_running_loop().call_later(_UNPAUSE_SECONDS, self._resume_late, client, session)

    def _resume_late(self, client: CdpClient, session: str) -> None:
        if session in client.paused:
            logger.info("client %s let a page wait: resumed", client.name)
            self._settling.resume(client, session)

    def _on_dialog(self, event: Incoming, client: CdpClient | None) -> None:
        # the input that opened the dialog has done its work; it is answered only when a person has answered the dialog
        if event.session is not None:
            self._router.stop_waiting(event.session, lambda command: command.method.startswith("Input."))


def _is_untouched(command: Command) -> bool:
    """True for a request that goes on as it came."""
    return command.method == "Fetch.continueRequest" and command.params.keys() == {"requestId"}
