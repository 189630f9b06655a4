"""The tools of a browser and of its desktop."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from user_handoff.client.desktop import DesktopClient
from user_handoff.client.requests import RequestsClient
from user_handoff.contract import browser as b
from user_handoff.contract.base import Model
from user_handoff.contract.computer import ComputerEffect, DisplayLook
from user_handoff.contract.computer import ObserveComputer as Look
from user_handoff.contract.handoff import FinishReceipt, HandoffRequest, Summary
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope
from user_handoff.contract.session import PostMessage as Post
from user_handoff.contract.states import SavedState, SaveState
from user_handoff.gateway.tools import inputs, outputs
from user_handoff.gateway.tools.callers import Call, require_scopes
from user_handoff.gateway.tools.places import Places
from user_handoff.gateway.tools.sessions import Sessions

_EFFECTS: Final[dict[type[inputs.PageAct], type[b.PageEffect]]] = {
    inputs.Click: b.Click,
    inputs.Fill: b.Fill,
    inputs.Press: b.Press,
    inputs.Select: b.Select,
    inputs.Navigate: b.Navigate,
    inputs.Back: b.Back,
    inputs.Download: b.Download,
    inputs.ClosePage: b.ClosePage,
}


class BrowserTools:
    """Every effect goes to the desktop, whose gate decides: nothing here knows whether a browser is held."""

    def __init__(self, client: DesktopClient, places: Places, sessions: Sessions, requests: RequestsClient) -> None:
        self._client = client
        self._places = places
        self._sessions = sessions
        self._requests = requests

    async def do(self, call: Call, do: Any) -> Model:
        """One action of control_browser or observe_browser."""
        if isinstance(do, inputs.PageAct):
            return await self._act(call, do)
        methods: dict[type[Any], Callable[[Call, Any], Awaitable[Model]]] = {
            inputs.Open: self._open,
            inputs.Snapshot: self._snapshot,
            inputs.Screenshot: self._screenshot,
            inputs.Info: self._info,
            inputs.CloseBrowser: self._close,
            inputs.SaveState: self._save_state,
            inputs.LockUi: self._lock_ui,
            inputs.BeginHandoff: self._begin,
            inputs.FinishHandoff: self._finish,
            inputs.HandoffSummary: self._summary,
        }
        return await methods[type(do)](call, do)

    async def control_computer(self, call: Call, args: inputs.ControlComputer) -> Model:
        """One native effect."""
        place = await self._places.of(call, args.browser_id)
        effect = ComputerEffect(effect_id=call.mint("e", args.effect_id), generation=args.generation, action=args.do)
        receipt = await self._client.computer(place.queue, effect)
        return receipt.model_copy(update={"effect_id": args.effect_id or receipt.effect_id})

    async def observe_computer(self, call: Call, args: inputs.ObserveComputer) -> DisplayLook:
        """Look at the desktop."""
        place = await self._places.of(call, args.browser_id)
        return await self._client.observe(place.queue, Look(screenshot=args.screenshot))

    # --- a browser ---

    async def _open(self, call: Call, do: inputs.Open) -> b.BrowserInfo:
        browser_id = call.mint("b", do.effect_id)
        session_id = await self._sessions.open_one(call, browser_id)
        spec = b.OpenBrowser(
            browser_id=browser_id,
            session_id=session_id,
            owner=call.owner,
            url=do.url,
            rules=do.rules,
            read_only=do.read_only,
            confirm_before_submit=do.confirm_before_submit,
            idle_seconds=do.idle_seconds,
            lifetime_seconds=do.lifetime_seconds,
            state=do.state,
        )
        known = self._places.known(browser_id)
        queue = known.queue if known else (await self._client.claim()).queue
        info = await self._client.open_browser(queue, spec)
        self._places.remember(info)
        return info

    async def _snapshot(self, call: Call, do: inputs.Snapshot) -> b.Snapshot:
        place = await self._places.of(call, do.browser_id)
        request = b.SnapshotRequest.model_validate(do.model_dump(exclude={"action"}))
        return await self._client.snapshot(place.queue, request)

    async def _screenshot(self, call: Call, do: inputs.Screenshot) -> b.Picture:
        place = await self._places.of(call, do.browser_id)
        request = b.ScreenshotRequest(browser_id=do.browser_id, page_id=do.page_id)
        return await self._client.screenshot(place.queue, request)

    async def _info(self, call: Call, do: inputs.Info) -> b.BrowserInfo:
        place = await self._places.of(call, do.browser_id)
        return await self._client.info(place.queue, do.browser_id)

    async def _act(self, call: Call, do: inputs.PageAct) -> b.EffectReceipt:
        place = await self._places.of(call, do.browser_id)
        fields = do.model_dump(exclude={"action", "effect_id"})
        effect = _EFFECTS[type(do)].model_validate({**fields, "effect_id": call.mint("e", do.effect_id)})
        receipt = await self._client.act(place.queue, effect)
        return receipt.model_copy(update={"effect_id": do.effect_id or receipt.effect_id})

    async def _close(self, call: Call, do: inputs.CloseBrowser) -> outputs.BrowserClosed:
        place = await self._places.of(call, do.browser_id)
        await self._client.close_browser(place.queue, do.browser_id)
        return outputs.BrowserClosed(browser_id=do.browser_id)

    async def _save_state(self, call: Call, do: inputs.SaveState) -> SavedState:
        place = await self._places.of(call, do.browser_id)
        fields = do.model_dump(exclude={"action", "effect_id"})
        request = SaveState.model_validate({**fields, "effect_id": call.mint("e", do.effect_id)})
        return await self._client.save_state(place.queue, request)

    async def _lock_ui(self, call: Call, do: inputs.LockUi) -> UiLocked:
        require_scopes(call.caller, (Scope.UI_LOCK,))
        place = await self._places.of(call, do.browser_id)
        request = LockUi(browser_id=do.browser_id, owner=call.owner, seconds=do.seconds)
        return await self._client.lock_ui(place.queue, request)

    # --- a handoff ---

    async def _begin(self, call: Call, do: inputs.BeginHandoff) -> outputs.Begun:
        require_scopes(call.caller, SCOPES_OF_A_HANDOFF)
        place = await self._places.of(call, do.browser_id)
        session_id, message_id = place.session_id, do.message_id
        if message_id is None:
            message_id = call.mint("m", do.effect_id)
            await self._sessions.put(session_id, Post(message_id=message_id, text=do.instructions))
        request = HandoffRequest(
            browser_id=do.browser_id,
            session_id=session_id,
            message_id=message_id,
            client_id=place.client_id,
            desktop_id=place.desktop_id,
            queue=place.queue,
            owner=call.owner,
            instructions=do.instructions,
            boundary=do.boundary,
            verify=do.verify,
            verify_seconds=do.verify_seconds,
            completion=do.completion,
            timeout_seconds=do.timeout_seconds,
        )
        receipt = await self._client.begin(request)
        await self._requests.expect(session_id, receipt.handoff_id)
        return outputs.Begun(
            handoff_id=receipt.handoff_id,
            session_id=session_id,
            message_id=message_id,
            handoff_fence=receipt.handoff_fence,
            window_id=receipt.surface.window_id,
            expires_in_seconds=receipt.expires_in_seconds,
            pages=receipt.pages,
        )

    async def _finish(self, call: Call, do: inputs.FinishHandoff) -> FinishReceipt:
        await self._sessions.handoff(call, do.handoff_id)
        return await self._client.finish(do.handoff_id, do.handoff_fence)

    async def _summary(self, call: Call, do: inputs.HandoffSummary) -> Summary:
        return await self._sessions.handoff(call, do.handoff_id)
