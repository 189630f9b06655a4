"""What an agent's workflow uses: a desktop, a browser on it, a session, and a person when one is needed.

    session = await Session.open(owner="invoice-agent")
    desktop = await Desktop.claim()
    browser = await desktop.open_browser("https://portal.example/invoices", session=session)
    page = await browser.snapshot()
    if wall := page.boundary:
        outcome = await browser.handoff(session, wall, instructions="Sign in to the portal", verify=Url("**/invoices"))
        outcome.require_verified()
        page = await browser.snapshot()
    await browser.click(page.find(role="button", name="Export"))

It runs in any worker whose client has `user_handoff.plugin.HandoffPlugin`. Every refusal is a `HandoffError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError

from user_handoff.contract.boundary import AnyRule
from user_handoff.contract.browser import BrowserInfo, OpenBrowser
from user_handoff.contract.computer import (
    ComputerAction,
    ComputerEffect,
    ComputerReceipt,
    DisplayLook,
    ObserveComputer,
    TypeText,
)
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.ids import session_workflow_id
from user_handoff.contract.names import DESKTOPS_QUEUE, SERVER_QUEUE, Activities, Workflows
from user_handoff.contract.runner import DesktopClaim
from user_handoff.contract.secret_questions import secret_refusal
from user_handoff.contract.session import (
    CURRENT,
    SCOPES_OF_A_HANDOFF,
    MessageState,
    OpenSession,
    PostMessage,
    ResolveMessage,
    Scope,
)
from user_handoff.workflows import calls
from user_handoff.workflows.browser import Browser, mint

__all__ = ["Browser", "Desktop", "Session"]


@dataclass(frozen=True, slots=True)
class Session:
    """An agent session: the authority under which a person can be asked.

    Attributes:
        session_id: Its id; `CURRENT` for the newest open session of the owner, found for each message anew.
        owner: The principal that owns it.
    """

    session_id: str
    owner: str

    @classmethod
    def current(cls, *, owner: str) -> "Session":
        """The newest open session of a principal, whoever opened it."""
        return cls(CURRENT, owner)

    @classmethod
    async def open(
        cls, *, owner: str, session_id: str | None = None, scopes: Sequence[Scope] = SCOPES_OF_A_HANDOFF
    ) -> "Session":
        """Open a session. It outlives this workflow, until it is closed.

        Args:
            owner: The principal that asks, such as ``invoice-agent``.
            session_id: A session of your own that may be open already; None mints a new one.
            scopes: What the principal was granted. A handoff needs all of them.

        Raises:
            Refused: ``invalid_request``: no session can be called `CURRENT`.
        """
        if session_id == CURRENT:
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                f"No session can be called {CURRENT}.",
                holds="Nothing was started.",
                do_next="Use Session.current for the one that is open.",
            )
        opened = OpenSession(session_id=session_id or mint("s"), owner=owner, scopes=tuple(scopes))
        try:
            await workflow.start_child_workflow(
                Workflows.SESSION,
                opened,
                id=session_workflow_id(opened.session_id),
                task_queue=SERVER_QUEUE,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                static_summary=f"Session of {owner}",
            )
        except WorkflowAlreadyStartedError:
            workflow.logger.debug("session %s is open already", opened.session_id)
        return cls(opened.session_id, owner)

    async def post(
        self, text: str, *, kind: Literal["question", "todo"] = "todo", message_id: str | None = None
    ) -> str:
        """Ask a person something; the exact id of the message.

        Args:
            text: What is asked, at most 4,000 characters.
            kind: A question or a todo.
            message_id: Posting the same id again changes nothing; None mints a new one.

        Raises:
            Refused: ``session_not_found`` or ``session_closed``; or ``secret_question``: it asks a person to write a
                secret down.
        """
        message = PostMessage(message_id=message_id or mint("m"), kind=kind, text=text)
        refusal = secret_refusal(message, self.session_id)
        if refusal is not None and workflow.patched("refuses-secret-questions"):
            raise refusal
        await self._signal(Workflows.POST, message.message_id, message)
        return message.message_id

    async def resolve(
        self,
        message_id: str,
        state: Literal[MessageState.ANSWERED, MessageState.CLOSED] = MessageState.ANSWERED,
    ) -> None:
        """Say that a message is done with. No end of a handoff does that by itself."""
        await self._signal(Workflows.RESOLVE, message_id, ResolveMessage(message_id=message_id, state=state))

    async def close(self) -> None:
        """End the session: no handoff can begin under it afterwards."""
        await self._signal(Workflows.CLOSE, mint("x") if self.session_id == CURRENT else "")

    async def _signal(self, name: str, key: str, *args: Any) -> None:
        exact = await calls.exact_session(self.session_id, self.owner, key)
        handle = workflow.get_external_workflow_handle(session_workflow_id(exact))
        try:
            await handle.signal(name, args=args)
        except ApplicationError as error:
            raise make_error(
                ErrorCode.SESSION_CLOSED,
                "The session has ended, or there never was one of this id.",
                holds="Nothing was posted.",
                do_next="Open another session.",
                session_id=exact,
            ) from error


@dataclass(frozen=True, slots=True)
class Desktop:
    """One desktop, by its own queue.

    Attributes:
        client_id: The desktop machine.
        desktop_id: This life of its desktop.
        queue: Where its browsers are driven.
    """

    client_id: str
    desktop_id: str
    queue: str

    @classmethod
    async def claim(cls) -> "Desktop":
        """Any desktop that has room.

        Raises:
            Refused: ``runner_unavailable`` or ``browser_limit``: none had, for a minute.
        """
        claim = await calls.claim(DESKTOPS_QUEUE, Activities.CLAIM_DESKTOP, DesktopClaim, summary="Find a desktop")
        return cls(claim.client_id, claim.desktop_id, claim.queue)

    async def open_browser(
        self,
        url: str = "about:blank",
        *,
        session: Session,
        rules: Sequence[AnyRule] = (),
        read_only: bool = False,
        confirm_before_submit: bool = False,
        state: str | None = None,
        idle_seconds: float = 1800,
        lifetime_seconds: float = 14_400,
    ) -> Browser:
        """Start a managed, visible, persistent browser.

        Args:
            url: Where it goes first.
            session: Whose owner may act on it.
            rules: Where the agent must stop, beside the rules of the desktop, which hold in any case.
            read_only: It may go to pages and look, and do nothing to them.
            confirm_before_submit: A person confirms what it submits.
            state: The name of a state that `Browser.save_state` saved on the same desktop: it begins with that
                login.
            idle_seconds: How long it may stay unused.
            lifetime_seconds: How long it may live.

        Raises:
            HandoffError: It could not be started; the code says why. With a saved state: ``unknown_state``,
                ``state_unreadable``, or ``state_stale`` where its login does not stand any more.
        """
        browser_id = mint("b")
        spec = OpenBrowser(
            browser_id=browser_id,
            session_id=await calls.exact_session(session.session_id, session.owner, browser_id),
            owner=session.owner,
            url=url,
            rules=tuple(rules),
            read_only=read_only,
            confirm_before_submit=confirm_before_submit,
            idle_seconds=idle_seconds,
            lifetime_seconds=lifetime_seconds,
            state=state,
        )
        # Opening the same browser id again opens nothing more, so a lost answer may be asked again.
        info = await calls.observation(
            self.queue,
            Activities.OPEN_BROWSER,
            spec,
            BrowserInfo,
            seconds=spec.navigation_timeout_seconds + 45,
            summary="Open a browser",
        )
        return Browser(info.browser_id, self.client_id, self.desktop_id, self.queue)

    async def observe(self, *, screenshot: bool = False) -> DisplayLook:
        """Look at the whole desktop: its windows, and a picture of it, which stays there.

        Args:
            screenshot: Take the picture.

        Raises:
            Held: A picture was asked for, and a person has a browser of this desktop.
        """
        ask = ObserveComputer(screenshot=screenshot)
        return await calls.observation(
            self.queue, Activities.OBSERVE_COMPUTER, ask, DisplayLook, seconds=15, summary="Look at the desktop"
        )

    async def computer(self, look: DisplayLook, action: ComputerAction) -> ComputerReceipt:
        """Do one native effect on the whole desktop, at most once.

        Args:
            look: The latest look, which this effect spends.
            action: Such as ``ClickAt(x=10, y=20)`` or ``TypeText(text="hello")`` of `contract.computer`.

        Raises:
            Held: A person has a browser of this desktop.
            Stale: The look no longer stands: look again.
            OutcomeUnknown: Its end was not seen.
        """
        effect = ComputerEffect(effect_id=mint("e"), generation=look.generation, action=action)
        seconds = 30 + (len(action.text) / 50 if isinstance(action, TypeText) else 0)
        return await calls.effect(
            self.queue,
            Activities.COMPUTER,
            effect,
            ComputerReceipt,
            seconds=seconds,
            summary=f"Desktop: {action.action}",
        )
