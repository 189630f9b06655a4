"""One effect: at most once, under a permit, on a page that may be acted on."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from user_handoff.contract.browser import (
    ClosePage,
    Download,
    DownloadReceipt,
    EffectOutcome,
    EffectReceipt,
    PageEffect,
)
from user_handoff.contract.claims import digest_of_effect, id_reused
from user_handoff.contract.computer import ComputerEffect, ComputerReceipt
from user_handoff.contract.errors import ErrorCode, HandoffError, Held, Refused, from_dict, make_error
from user_handoff.desktop.browser import actions
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.evidence.effects import EffectNotes
from user_handoff.desktop.evidence.noting import Notes, Unnoted
from user_handoff.desktop.handoff import refusals
from user_handoff.desktop.input.computer import Computer
from user_handoff.desktop.policy.guard import Guard
from user_handoff.desktop.policy.native import check_native
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.reservation.records import STARTED
from user_handoff.desktop.reservation.rows import Permit
from user_handoff.desktop.running import Running

R = TypeVar("R", bound=EffectReceipt)

_READ = 16
"""Texts of the clipboard that are kept in memory, for who asks again."""


class Effects:
    """Runs effects. The ledger keeps what became of each, under its own id."""

    def __init__(
        self,
        ledger: Ledger,
        gate: Gate,
        running: Running,
        downloads: Path,
        guard: Guard,
        notes: Notes | None = None,
    ) -> None:
        self._noted = EffectNotes(notes or Unnoted())
        self._guard = guard
        self._ledger = ledger
        self._gate = gate
        self._running = running
        self._downloads = downloads
        self._native = asyncio.Lock()
        self._asked: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._read: dict[str, str] = {}

    async def on_page(self, browser: ManagedBrowser, effect: PageEffect) -> EffectReceipt:
        """Click, fill, press, select, navigate, go back or close a page.

        Raises:
            HandoffError: Typed, with what is known of the outcome.
        """

        async def run(permit: Permit) -> EffectReceipt:
            page = _page(browser, effect)
            actions.check(effect)
            target = await actions.target_of(page, effect)
            await self._guard.check(browser, page, effect, target)
            self._dispatch(permit, effect)
            await actions.act(page, effect, target)
            info = None if page.gone else await page.info()
            return EffectReceipt(effect_id=effect.effect_id, outcome=EffectOutcome.COMPLETED, page=info)

        return await self._once(browser, effect, EffectReceipt, run)

    async def download(self, browser: ManagedBrowser, effect: Download) -> DownloadReceipt:
        """Click what starts a download, and keep the file on the desktop.

        Raises:
            HandoffError: Typed, with what is known of the outcome.
        """

        async def run(permit: Permit) -> DownloadReceipt:
            page = _page(browser, effect)
            target = await actions.target_of(page, effect)
            if target is None:
                raise make_error(ErrorCode.INVALID_REQUEST, "A download needs the element that starts it.")
            await self._guard.check(browser, page, effect, target)
            self._dispatch(permit, effect)
            path, size, digest = await actions.save_download(page, effect, target, self._downloads)
            return DownloadReceipt(
                effect_id=effect.effect_id,
                outcome=EffectOutcome.COMPLETED,
                page=None if page.gone else await page.info(),
                path=str(path),
                bytes=size,
                sha256=digest,
            )

        return await self._once(browser, effect, DownloadReceipt, run)

    async def native(
        self, computer: Computer, effect: ComputerEffect, browsers: Iterable[ManagedBrowser]
    ) -> ComputerReceipt:
        """Act on the desktop itself; one effect at a time, since there is one pointer and one keyboard.

        Args:
            computer: Who does it.
            effect: What is to be done.
            browsers: Who lives on the desktop, and may be reached by it.

        Raises:
            HandoffError: Typed, with what is known of the outcome.
        """
        effect_id = effect.effect_id
        async with self._native:
            before = self._before(effect)
            if before is not None:
                return _again(ComputerReceipt, before).model_copy(update={"text": self._read.get(effect_id)})
            with self._noted.one(effect_id, effect.action.action, None):
                return await self._native_once(computer, effect, browsers)

    async def _native_once(
        self, computer: Computer, effect: ComputerEffect, browsers: Iterable[ManagedBrowser]
    ) -> ComputerReceipt:
        effect_id, action = effect.effect_id, effect.action.action
        if not self._ledger.holders():  # else it is refused as held; and what held at the look ends its generation
            await check_native(self._guard, browsers, await computer.windows(), effect.action)

        def begins() -> None:
            self._begin(effect, action)
            self._noted.admitted(effect_id, action, None)

        with self._running.effect(effect_id, None, lambda: self._started(effect_id)):
            try:
                receipt = await computer.do(effect, begins)
            except Refused:
                self._ledger.drop_effect(effect_id)
                raise
            # what was on the clipboard is not written down
            self._remember(effect_id, receipt.text)
            self._ledger.end_effect(effect_id, receipt.model_copy(update={"text": None}).model_dump_json())
            return receipt

    def _remember(self, effect_id: str, text: str | None) -> None:
        if text is not None:
            self._read[effect_id] = text
        while len(self._read) > _READ:
            del self._read[next(iter(self._read))]

    def _begin(self, effect: PageEffect | ComputerEffect, action: str, browser_id: str | None = None) -> None:
        effect_id, sha256 = effect.effect_id, digest_of_effect(effect)
        if self._ledger.begin_effect(effect_id, action=action, browser_id=browser_id, sha256=sha256) is not None:
            raise actions.unknown(effect_id, "An effect of this id was started before.")

    def _started(self, effect_id: str) -> bool:
        return self._ledger.see_effect(effect_id) is not None

    def _dispatch(self, permit: Permit, effect: PageEffect) -> None:
        self._begin(effect, type(effect).__name__, effect.browser_id)
        try:
            permit.recheck()
        except Held:
            self._ledger.drop_effect(effect.effect_id)
            raise
        self._noted.admitted(effect.effect_id, type(effect).__name__, effect.browser_id)

    def _before(self, effect: PageEffect | ComputerEffect) -> str | None:
        effect_id = effect.effect_id
        before = self._ledger.see_effect(effect_id)
        if before is not None and self._ledger.request_of(effect_id) not in (None, digest_of_effect(effect)):
            raise id_reused("This effect id was used for another effect.", effect_id=effect_id)
        if before == STARTED:
            raise actions.unknown(effect_id, "An effect of this id was started, and its end was not seen.")
        return before

    async def _once(
        self, browser: ManagedBrowser, effect: PageEffect, kind: type[R], run: Callable[[Permit], Awaitable[R]]
    ) -> R:
        effect_id = effect.effect_id
        async with self._asked.setdefault(effect_id, asyncio.Lock()):
            before = self._before(effect)
            if before is not None:
                return _again(kind, before)
            browser_id = browser.browser_id
            with self._noted.one(effect_id, type(effect).__name__, browser_id):
                async with self._gate.effect("page", browser_id, effect_id) as permit:
                    with self._running.effect(effect_id, browser_id, lambda: self._started(effect_id)):
                        return await self._run(effect_id, run(permit))

    async def _run(self, effect_id: str, running: Awaitable[R]) -> R:
        try:
            receipt = await running
        except HandoffError as error:
            if error.details.get("outcome") == EffectOutcome.NOT_STARTED:
                self._ledger.end_effect(effect_id, json.dumps({"error": error.to_dict()}))
            raise
        self._ledger.end_effect(effect_id, receipt.model_dump_json())
        return receipt


def _again(kind: type[R], kept: str) -> R:
    found = json.loads(kept)
    if "error" in found:
        raise from_dict(found["error"])
    return kind.model_validate(found)


def _page(browser: ManagedBrowser, effect: PageEffect) -> ManagedPage:
    page = browser.page(effect.page_id)
    if page.needs_snapshot:
        raise refusals.look_first(page.page_id)
    if len(browser.pages) > browser.max_pages and not isinstance(effect, ClosePage):
        raise make_error(
            ErrorCode.PAGE_LIMIT,
            f"This browser has more than its {browser.max_pages} pages open.",
            holds="Nothing was done.",
            do_next="Close pages first.",
            browser_id=browser.browser_id,
        )
    return page
