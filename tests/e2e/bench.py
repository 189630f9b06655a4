"""A browser at the lab, and one effect of each kind, whose receipts can be lost."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from temporalio.client import ActivityFailureError

from tests.e2e.far import Far
from tests.e2e.lab import Lab
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities


@dataclass
class Bench:
    """A browser at the lab."""

    far: Far
    lab: Lab
    spec: b.OpenBrowser

    async def look(self, page_id: str | None = None) -> b.Snapshot:
        ask = b.SnapshotRequest(browser_id=self.spec.browser_id, page_id=page_id)
        return await self.far.stack.ask(Activities.SNAPSHOT, ask, b.Snapshot)

    async def fresh(self) -> b.Snapshot:
        """The lab's page, as it is at first."""
        await self.far.stack.ask(Activities.NAVIGATE, b.Navigate(**self.new(), url=self.lab.url), b.EffectReceipt)
        return await self.look()

    def new(self) -> dict[str, Any]:
        return {"browser_id": self.spec.browser_id, "effect_id": new_id("e")}

    async def popup(self, page: b.Snapshot) -> str:
        """Open a second page."""
        click = b.Click(**self.new(), element_id=page.find(role="button", name="Open"))
        await self.far.stack.ask(Activities.CLICK, click, b.EffectReceipt)
        look = await until(self.look, wanted=lambda look: len(look.pages) == 2)
        return next(each.page_id for each in look.pages if each.page_id != page.page.page_id)

    async def lost(self, name: str, effect: Any, kind: type[Any], done: Callable[[], object]) -> Any:
        """Do it so that its receipt is lost for good, and ask again under the same id."""
        wire = self.far.runner
        wire.deaf = True
        asked = asyncio.ensure_future(self.far.stack.ask(name, effect, kind, seconds=1))
        await until(done)
        with pytest.raises(ActivityFailureError):
            await asked
        wire.drop()
        return await self.told(name, effect, kind)

    async def told(self, name: str, effect: Any, kind: type[Any]) -> Any:
        """Ask until there is an answer: the server may give a task to a connection that has just ended."""
        async with asyncio.timeout(30):
            while True:
                try:
                    return await self.far.stack.ask(name, effect, kind, seconds=4)
                except ActivityFailureError as failure:
                    if error := from_failure(failure):
                        raise error from failure


Make = Callable[[Bench, b.Snapshot], Awaitable[Any]]


def _element(kind: type[Any], role: str, name: str, **more: Any) -> Make:
    async def make(bench: Bench, page: b.Snapshot) -> Any:
        return kind(**bench.new(), element_id=page.find(role=role, name=name), **more)

    return make


async def _navigate(bench: Bench, page: b.Snapshot) -> b.Navigate:
    return b.Navigate(**bench.new(), url=f"{bench.lab.url}/there")


async def _back(bench: Bench, page: b.Snapshot) -> b.Back:
    there = b.Navigate(**bench.new(), url=f"{bench.lab.url}/there")
    await bench.far.stack.ask(Activities.NAVIGATE, there, b.EffectReceipt)
    return b.Back(**bench.new())


async def _close_page(bench: Bench, page: b.Snapshot) -> b.ClosePage:
    return b.ClosePage(**bench.new(), page_id=await bench.popup(page))


async def _computer(bench: Bench, page: b.Snapshot) -> c.ComputerEffect:
    look = await bench.far.stack.ask(Activities.OBSERVE_COMPUTER, c.ObserveComputer(), c.DisplayLook)
    window = next(w for w in look.windows if w.focused)
    click = c.ClickAt(x=window.x + window.width // 2, y=window.y + window.height // 2)
    return c.ComputerEffect(effect_id=new_id("e"), generation=look.generation, action=click)


EFFECTS: dict[str, tuple[Make, type[b.EffectReceipt], str]] = {
    Activities.CLICK: (_element(b.Click, "button", "Click"), b.EffectReceipt, "/click"),
    Activities.FILL: (_element(b.Fill, "textbox", "Text", text="x"), b.EffectReceipt, "/fill"),
    Activities.PRESS: (_element(b.Press, "textbox", "Keys", key="a"), b.EffectReceipt, "/press"),
    Activities.SELECT: (_element(b.Select, "combobox", "Choice", labels=("Two",)), b.EffectReceipt, "/select"),
    Activities.NAVIGATE: (_navigate, b.EffectReceipt, "/there"),
    Activities.BACK: (_back, b.EffectReceipt, "/shown"),
    Activities.DOWNLOAD: (_element(b.Download, "link", "File"), b.DownloadReceipt, "/file"),
    Activities.CLOSE_PAGE: (_close_page, b.EffectReceipt, ""),
    Activities.COMPUTER: (_computer, c.ComputerReceipt, "/native"),
}
