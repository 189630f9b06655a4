"""What the tests of a desktop share: a scripted agent and a hold in one line."""

import asyncio
from dataclasses import dataclass

import pytest

from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract import handoff as h
from user_handoff.contract.errors import ErrorCode, HandoffError, Stale
from user_handoff.contract.ids import Association, new_id
from user_handoff.desktop.desktop import Desktop

OWNER = "agent:test"


async def code_of(awaitable: object) -> ErrorCode:
    """The code that a call is refused with."""
    with pytest.raises(HandoffError) as refused:
        await awaitable  # type: ignore[misc]
    return refused.value.code


async def move(desktop: Desktop) -> c.ComputerReceipt:
    """Look at the desktop, and move its pointer; where another window got the keyboard in between, look again."""
    async with asyncio.timeout(30):
        while True:
            look = await desktop.observe_computer(c.ObserveComputer())
            effect = c.ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=c.Move(x=5, y=5))
            try:
                return await desktop.computer(effect)
            except Stale:
                continue


@dataclass(frozen=True)
class Agent:
    """An agent with one browser."""

    desktop: Desktop
    browser_id: str

    @classmethod
    async def open(cls, desktop: Desktop, url: str = "about:blank", **options: object) -> "Agent":
        browser_id = new_id("b")
        spec = {"browser_id": browser_id, "session_id": "s_test", "owner": OWNER, "url": url, **options}
        await desktop.open_browser(b.OpenBrowser.model_validate(spec))
        return cls(desktop, browser_id)

    async def look(self, page_id: str | None = None) -> b.Snapshot:
        return await self.desktop.snapshot(b.SnapshotRequest(browser_id=self.browser_id, page_id=page_id))

    async def click(self, element_id: str, effect_id: str | None = None, page_id: str | None = None) -> b.EffectReceipt:
        effect_id = effect_id or new_id("e")
        return await self.desktop.act(
            b.Click(browser_id=self.browser_id, effect_id=effect_id, element_id=element_id, page_id=page_id)
        )

    async def fill(self, element_id: str, text: str) -> b.EffectReceipt:
        return await self.desktop.act(
            b.Fill(browser_id=self.browser_id, effect_id=new_id("e"), element_id=element_id, text=text)
        )

    async def go(self, url: str, seconds: float = 10) -> b.EffectReceipt:
        return await self.desktop.act(
            b.Navigate(browser_id=self.browser_id, effect_id=new_id("e"), url=url, timeout_seconds=seconds)
        )

    async def info(self) -> b.BrowserInfo:
        return await self.desktop.info(b.BrowserRequest(browser_id=self.browser_id))

    def association(self, message_id: str | None = None) -> Association:
        return Association(self.browser_id, "s_test", message_id or new_id("m"))

    async def begin(self, association: Association | None = None, **options: object) -> h.BeginReceipt:
        return await self.desktop.begin(self.hold_request(association, **options))

    def hold_request(self, association: Association | None = None, **options: object) -> h.BeginHold:
        association = association or self.association()
        return h.BeginHold.model_validate(
            {
                "handoff_id": association.handoff_id,
                "browser_id": association.browser_id,
                "session_id": association.session_id,
                "message_id": association.message_id,
                "owner": OWNER,
                "timeout_seconds": 60,
                **options,
            }
        )

    async def finish(self, receipt: h.BeginReceipt) -> h.FinishReceipt:
        return await self.desktop.finish(self.named(receipt))

    def named(self, receipt: h.BeginReceipt) -> h.HoldRequest:
        return h.HoldRequest(
            handoff_id=receipt.handoff_id, browser_id=self.browser_id, handoff_fence=receipt.handoff_fence
        )

    async def is_as_new(self) -> bool:
        """True where another test can have its browser: nothing of this one is left in it."""
        try:
            info = await self.info()
            if info.state != "open" or len(info.pages) != 1:
                return False
            await self.go("about:blank")
            await self.desktop.browsers.get(self.browser_id).page(None).page.context.clear_cookies()
        except HandoffError:
            return False
        return True

    async def close(self) -> None:
        await self.desktop.close_browser(b.BrowserRequest(browser_id=self.browser_id))
