"""A browser as an agent's workflow drives it, and hands it over."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from temporalio import workflow

from user_handoff.contract import browser as b
from user_handoff.contract import states as st
from user_handoff.contract.boundary import Boundary
from user_handoff.contract.conditions import AnyCondition, Completion, Condition
from user_handoff.contract.errors import ErrorCode, Gone
from user_handoff.contract.handoff import MAX_HOLD_SECONDS, HandoffRequest, Outcome
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.names import Activities
from user_handoff.workflows import calls
from user_handoff.workflows.asking import Handoff

T = TypeVar("T")


class SessionLike(Protocol):
    """The part of a session that a handoff needs."""

    @property
    def session_id(self) -> str:
        """Its id."""

    @property
    def owner(self) -> str:
        """Its owner."""

    async def post(self, text: str, *, message_id: str | None = None) -> str:
        """Post a todo."""


def mint(prefix: str) -> str:
    """Mint an id that is the same when the workflow is replayed."""
    return f"{prefix}_{workflow.uuid4().hex[:16]}"


@dataclass(frozen=True, slots=True)
class Browser:
    """One managed browser. Effects are done at most once; what a desktop refuses is raised, typed.

    Every effect raises `Refused` where nothing was done (held, stale, gone, boundary reached, …) and `OutcomeUnknown`
    where its end was not seen: take a snapshot and look before you act again.

    Attributes:
        browser_id: Its id, never reused.
        client_id: The desktop machine.
        desktop_id: The life of the desktop that it is on.
        queue: Where it is driven.
    """

    browser_id: str
    client_id: str
    desktop_id: str
    queue: str

    # --- observing ---

    async def snapshot(
        self,
        page_id: str | None = None,
        *,
        max_bytes: int = b.SNAPSHOT_BYTES,
        depth: int | None = None,
        region: str | None = None,
    ) -> b.Snapshot:
        """Look at a page, also while it is held.

        Args:
            page_id: Which page; None: the one in front.
            max_bytes: The bound of its text, which lands in this workflow's history.
            depth: How deep to look; None: all of it.
            region: The id of an element of an earlier snapshot, to look closer at.
        """
        ask = b.SnapshotRequest(
            browser_id=self.browser_id, page_id=page_id, max_bytes=max_bytes, depth=depth, region=region
        )
        return await self._look(Activities.SNAPSHOT, ask, b.Snapshot, "Look at the page")

    async def screenshot(self, page_id: str | None = None) -> b.Picture:
        """Take a picture, which stays on the desktop."""
        ask = b.ScreenshotRequest(browser_id=self.browser_id, page_id=page_id)
        return await self._look(Activities.SCREENSHOT, ask, b.Picture, "Take a picture")

    async def info(self) -> b.BrowserInfo:
        """State and pages of the browser."""
        ask = b.BrowserRequest(browser_id=self.browser_id)
        return await self._look(Activities.BROWSER_INFO, ask, b.BrowserInfo, "List the pages")

    async def lock_ui(self, owner: str, seconds: float) -> UiLocked:
        """Drop what a person types through the live view, for at most a minute. They end that by one click.

        Args:
            owner: The browser's owner.
            seconds: For how long; 0 ends it.
        """
        ask = LockUi(browser_id=self.browser_id, owner=owner, seconds=seconds)
        return await calls.effect(
            self.queue, Activities.LOCK_UI, ask, UiLocked, seconds=10, summary="Lock the page's input"
        )

    # --- acting ---

    async def click(self, element_id: str, *, page_id: str | None = None) -> b.EffectReceipt:
        """Click an element of the last snapshot."""
        return await self._act(Activities.CLICK, b.Click(**self._new(page_id), element_id=element_id))

    async def fill(self, element_id: str, text: str, *, page_id: str | None = None) -> b.EffectReceipt:
        """Replace an element's value. Never with a secret: it would land in this workflow's history."""
        return await self._act(Activities.FILL, b.Fill(**self._new(page_id), element_id=element_id, text=text))

    async def press(self, key: str, element_id: str | None = None, *, page_id: str | None = None) -> b.EffectReceipt:
        """Press a key or chord, such as ``Enter``."""
        return await self._act(Activities.PRESS, b.Press(**self._new(page_id), key=key, element_id=element_id))

    async def select(self, element_id: str, labels: Sequence[str], *, page_id: str | None = None) -> b.EffectReceipt:
        """Choose options by their labels."""
        effect = b.Select(**self._new(page_id), element_id=element_id, labels=tuple(labels))
        return await self._act(Activities.SELECT, effect)

    async def navigate(self, url: str, *, page_id: str | None = None) -> b.EffectReceipt:
        """Go to a URL."""
        return await self._act(Activities.NAVIGATE, b.Navigate(**self._new(page_id), url=url))

    async def back(self, *, page_id: str | None = None) -> b.EffectReceipt:
        """Go back one entry."""
        return await self._act(Activities.BACK, b.Back(**self._new(page_id)))

    async def download(self, element_id: str, *, page_id: str | None = None) -> b.DownloadReceipt:
        """Click an element and wait for the file, which stays on the desktop."""
        effect = b.Download(**self._new(page_id), element_id=element_id)
        return await calls.effect(
            self.queue,
            Activities.DOWNLOAD,
            effect,
            b.DownloadReceipt,
            seconds=effect.timeout_seconds,
            summary=Activities.DOWNLOAD,
        )

    async def close_page(self, page_id: str) -> b.EffectReceipt:
        """Close one page."""
        return await self._act(Activities.CLOSE_PAGE, b.ClosePage(**self._new(page_id)))

    async def save_state(
        self,
        state_id: str,
        *,
        sites: Sequence[str],
        probe: Condition,
        probe_seconds: float = 10,
        sso: Sequence[str] = st.SSO_DOMAINS,
        prune: Sequence[st.PruneRule] = st.PRE_AUTHENTICATION,
    ) -> st.SavedState:
        """Keep what some sites know of a login, on the desktop, for `Desktop.open_browser`. Only numbers come back.

        Args:
            state_id: Its name; the same one again replaces what the owner saved under it.
            sites: Hosts such as ``portal.example``; their subdomains are meant, too.
            probe: What shows that the login stands, looked for now and again before it is used.
            probe_seconds: How long to look for that.
            sso: The domains at which those sites let people sign in; kept, too.
            prune: Which cookies and items of a sign-in that has not ended are left out.

        Raises:
            Held: A person has the browser.
            Refused: The browser did not tell it; nothing was saved.
        """
        request = st.SaveState(
            browser_id=self.browser_id,
            effect_id=mint("e"),
            state_id=state_id,
            sites=tuple(sites),
            sso=tuple(sso),
            prune=tuple(prune),
            probe=probe,
            probe_seconds=probe_seconds,
        )
        return await calls.observation(
            self.queue,
            Activities.SAVE_STATE,
            request,
            st.SavedState,
            seconds=30 + probe_seconds,
            summary="Save the login",
        )

    async def close(self) -> None:
        """Close the browser, also while it is held: its handoff ends `closed` then."""
        ask = b.BrowserRequest(browser_id=self.browser_id)
        await calls.observation(
            self.queue, Activities.CLOSE_BROWSER, ask, type(None), seconds=30, summary="Close the browser"
        )

    # --- handing over ---

    async def begin_handoff(
        self,
        session: SessionLike,
        boundary: Boundary | None,
        *,
        instructions: str,
        verify: AnyCondition | None = None,
        verify_seconds: float = 15,
        completion: Completion = Completion.PERSON,
        timeout_seconds: float = MAX_HOLD_SECONDS,
        message_id: str | None = None,
        preempt: bool = False,
        person: str = "",
    ) -> Handoff:
        """Ask a person, and do not wait: `Handoff.held` and `Handoff.outcome` do.

        Args:
            session: Under whose authority.
            boundary: What was met, from the snapshot that shows it; None where the agent stops of its own accord.
            instructions: What the person shall do. Shown to them and kept in history: no secret belongs in it.
            verify: What must be observable afterwards; without it no outcome is `verified`.
            verify_seconds: How long to look for that.
            completion: What ends the person's turn: their word, or the condition, observed while they have the browser.
            timeout_seconds: How long the person has, 600 at most.
            message_id: A todo or question that is posted already; None posts a todo with the instructions.
            preempt: Cut off what other effects are stuck on this desktop, rather than be refused with `drain_timeout`.
            person: The e-mail address of the one who may answer on the page, which then asks who they are; empty:
                whoever has a link.

        Raises:
            Refused: ``session_closed``, ``session_not_found`` or ``association_used``.
        """
        return await self._ask(
            session,
            message_id,
            instructions=instructions,
            boundary=boundary,
            verify=verify,
            verify_seconds=verify_seconds,
            completion=completion,
            timeout_seconds=timeout_seconds,
            preempt=preempt,
            person=person,
        )

    async def handoff(
        self,
        session: SessionLike,
        boundary: Boundary | None,
        *,
        instructions: str,
        verify: AnyCondition | None = None,
        verify_seconds: float = 15,
        completion: Completion = Completion.PERSON,
        timeout_seconds: float = MAX_HOLD_SECONDS,
        message_id: str | None = None,
        preempt: bool = False,
        person: str = "",
    ) -> Outcome:
        """Ask a person, and wait for how it ends; the arguments are those of `begin_handoff`.

        Returns at once with `expired` where nobody finished in time: the browser is open and stays paused. Nothing but
        a `verified` outcome says that the step is done: `Outcome.require_verified` raises on every other.

        Raises:
            HandoffError: It could not be asked, or the fresh look afterwards failed.
        """
        handoff = await self._ask(
            session,
            message_id,
            instructions=instructions,
            boundary=boundary,
            verify=verify,
            verify_seconds=verify_seconds,
            completion=completion,
            timeout_seconds=timeout_seconds,
            preempt=preempt,
            person=person,
            tell_held=False,
        )
        return await handoff.outcome()

    async def _ask(self, session: SessionLike, message_id: str | None, *, instructions: str, **more: Any) -> Handoff:
        message_id = message_id or await session.post(instructions)
        request = HandoffRequest(
            browser_id=self.browser_id,
            session_id=await calls.exact_session(session.session_id, session.owner, message_id),
            message_id=message_id,
            client_id=self.client_id,
            desktop_id=self.desktop_id,
            queue=self.queue,
            owner=session.owner,
            instructions=instructions,
            **more,
        )
        return await Handoff.start(request, self._look_everywhere)

    async def _look_everywhere(self) -> None:
        """Take a fresh, small snapshot of every page, so that effects on each may resume."""
        try:
            pages = (await self.info()).pages
        except Gone:
            return  # the handoff says how it ended
        for page in pages:
            try:
                await self.snapshot(page.page_id, max_bytes=1_000, depth=1)
            except Gone as gone:
                if gone.code is not ErrorCode.PAGE_GONE:
                    return

    def _new(self, page_id: str | None) -> dict[str, Any]:
        return {"browser_id": self.browser_id, "page_id": page_id, "effect_id": mint("e")}

    async def _act(self, name: str, effect: b.PageEffect) -> b.EffectReceipt:
        return await calls.effect(
            self.queue, name, effect, b.EffectReceipt, seconds=effect.timeout_seconds, summary=name
        )

    async def _look(self, name: str, ask: Any, result_type: type[T], summary: str) -> T:
        return await calls.observation(self.queue, name, ask, result_type, seconds=30, summary=summary)
