"""One implementation of every tool, for every door: who may, what is done, what is told, and what is noted of it."""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from pydantic import ValidationError

from user_handoff.client.desktop import DesktopClient
from user_handoff.client.requests import RequestsClient
from user_handoff.contract.base import Model
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.requests import InboxView
from user_handoff.contract.session import CURRENT
from user_handoff.gateway.tools import callers, inputs
from user_handoff.gateway.tools.browser import BrowserTools
from user_handoff.gateway.tools.callers import AccessDoor, Call, Caller, Progress
from user_handoff.gateway.tools.catalogue import READ_PERSON_REQUEST, TOOLS, ToolSpec
from user_handoff.gateway.tools.places import Places
from user_handoff.gateway.tools.sessions import Sessions

__all__ = ["Caller", "Toolbox", "unknown_tool"]

_LOG = logging.getLogger(__name__)

_COMPLETED: Final = "completed"
_WAIT: Final = "wait"


class Toolbox:
    """The tools of agents."""

    def __init__(
        self,
        client: DesktopClient,
        access: AccessDoor,
        base_url: str,
        on_outcome: Callable[[str, str], None] = lambda tool, outcome: None,
    ) -> None:
        """Make it; nothing is asked.

        Args:
            client: Where handoffs, sessions and desktops are asked.
            access: Notes each call.
            base_url: What people's links begin with.
            on_outcome: Told of each call: the tool, and ``completed`` or the code of the refusal.
        """
        self._client = client
        self._access = access
        self.requests = RequestsClient(client)
        self.sessions = Sessions(client, self.requests, base_url)
        self.waiting = 0
        """How many callers wait for a person now."""
        self._browsers = BrowserTools(client, Places(client), self.sessions, self.requests)
        self._outcome = on_outcome

    async def call(
        self,
        caller: Caller,
        tool: str,
        arguments: dict[str, Any],
        *,
        key: str | None = None,
        connection: str | None = None,
        progress: Progress | None = None,
        still: Callable[[], Awaitable[object]] | None = None,
    ) -> dict[str, Any]:
        """Call a tool.

        Args:
            caller: Who calls, as a door has found out just now.
            tool: Its name.
            arguments: As they came.
            key: Names this request of the door, so that the same request again is the same effect; None: it is new.
            connection: Names who listens, as for `inbox`; None: nobody does.
            progress: Told while the call waits.
            still: Raises once the caller may call no more; asked while the call waits.

        Returns:
            ``{"result": ...}``, with ``"action"`` where the tool has several: what its output schema says.

        Raises:
            HandoffError: Typed; the code says whether anything was done.
        """
        spec = TOOLS.get(tool)
        if spec is None:
            raise unknown_tool(tool)
        callers.require(caller, spec)
        args = _parsed(spec, arguments)
        call = Call(caller, args.session_id, key, connection, progress, still)
        action = _action(args)
        told = await self.told(call, tool, action, lambda: self._run(call, args))
        return {"action": action, "result": told} if isinstance(spec.returns, dict) else {"result": told}

    async def told(self, call: Call, tool: str, action: str, work: Callable[[], Awaitable[Model]]) -> dict[str, Any]:
        """Do something as a call of a tool: noted, and told as far as the caller may know.

        Args:
            call: Whose.
            tool: Under which tool it is noted.
            action: And which action.
            work: Does it.

        Raises:
            HandoffError: What it was refused with.
        """
        outcome = ""
        self.waiting += tool == _WAIT
        try:
            result = await work()
            outcome = _COMPLETED
        except HandoffError as error:
            outcome = str(error.code)
            raise
        except Exception:
            outcome = str(ErrorCode.FAILED)
            raise
        finally:
            self.waiting -= tool == _WAIT
            if outcome:  # who gave up waiting was told nothing
                self._outcome(tool, outcome)
                await self._note(call, tool, action, outcome)
        return callers.projected(call.caller, result.model_dump(mode="json"))

    async def inbox(self, caller: Caller, session_id: str | None, key: str) -> InboxView | None:
        """What there is to read for a caller; None where it may not read, or has no session.

        Args:
            caller: Who asks.
            session_id: Which session, for principals; None: the current one.
            key: Names who asks: the same key means the same session.
        """
        if not callers.allows(caller, TOOLS[READ_PERSON_REQUEST]):
            return None
        call = Call(caller, session_id)
        try:
            return await self.sessions.unread(await self.sessions.exact(call, key))
        except HandoffError as error:
            if error.code is ErrorCode.SESSION_NOT_FOUND and callers.session_of(caller) is None:
                return None
            raise

    async def unread(self, session_id: str) -> InboxView:
        """What there is to read in a session, for whoever was let into it before."""
        return await self.sessions.unread(session_id)

    async def _run(self, call: Call, args: Any) -> Model:
        if isinstance(args, inputs.ControlBrowser | inputs.ObserveBrowser):
            return await self._browsers.do(call, args.do)
        methods: dict[type[Any], Callable[[Call, Any], Awaitable[Model]]] = {
            inputs.ControlComputer: self._browsers.control_computer,
            inputs.ObserveComputer: self._browsers.observe_computer,
            inputs.PostMessage: self.sessions.post,
            inputs.ReadReply: self.sessions.read_reply,
            inputs.Wait: self.sessions.wait,
            inputs.IssueBrowserUrl: self.sessions.issue_url,
            inputs.ReadPersonRequest: self.sessions.read_request,
        }
        return await methods[type(args)](call, args)

    async def _note(self, call: Call, tool: str, action: str, outcome: str) -> None:
        session_id = call.session_id
        if session_id is None or session_id == CURRENT:
            return
        with contextlib.suppress(HandoffError):
            await self._access.audit(session_id, callers.entry(call.caller, tool, action, outcome))


def _parsed(spec: ToolSpec, arguments: dict[str, Any]) -> Any:
    try:
        return spec.takes.model_validate(arguments)
    except ValidationError as error:
        wrong = sorted({f"{_where(e['loc'])}: {_why(e)}" for e in error.errors(include_input=False)})
        raise make_error(
            ErrorCode.INVALID_REQUEST,
            f"The arguments of {spec.name} do not fit its schema: {'; '.join(wrong[:5])[:600]}.",
            holds="Nothing was done.",
            do_next="Correct them as the tool's input schema says.",
        ) from None


def _where(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:50] for part in loc[:6]) or "arguments"


def _why(error: Any) -> str:
    """What is wrong, and never the value: it may be what a person should have typed."""
    return "no such action" if error["type"] == "union_tag_invalid" else str(error["msg"])


def _action(args: Any) -> str:
    return str(args.do.action) if hasattr(args, "do") else ""


def unknown_tool(tool: str) -> HandoffError:
    """No tool has this name."""
    return make_error(
        ErrorCode.INVALID_REQUEST,
        f"There is no tool {tool[:50]!r}.",
        holds="Nothing was done.",
        do_next="List the tools.",
    )
