"""Saving what a browser's sites know of its login, and opening a browser with it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from user_handoff.contract.browser import EffectOutcome, OpenBrowser
from user_handoff.contract.conditions import Observation
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import CheckCondition
from user_handoff.contract.ids import new_id
from user_handoff.contract.states import NotKept, SavedState, SaveState
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.evidence.effects import EffectNotes
from user_handoff.desktop.evidence.noting import Notes, Unnoted
from user_handoff.desktop.reservation.gate import Gate
from user_handoff.desktop.running import Running
from user_handoff.desktop.state import write_private
from user_handoff.desktop.states.files import Kept, StateFiles
from user_handoff.desktop.states.sites import pick, within

log = logging.getLogger(__name__)

Check = Callable[[CheckCondition], Awaitable[Observation]]

_STORAGE_SECONDS = 20.0
_FRAME_SECONDS = 1.0
_RESTORED = "state-restored"


class States:
    """The saved states of one desktop."""

    def __init__(
        self, files: StateFiles, gate: Gate, running: Running, browsers: Path, notes: Notes | None = None
    ) -> None:
        """Save and restore.

        Args:
            files: Where states are kept.
            gate: Admits.
            running: So that a person can cut it off.
            browsers: The folder of all browsers.
            notes: Takes what was read of a browser, and given to one; None: nobody does.
        """
        self._noted = EffectNotes(notes or Unnoted())
        self._files = files
        self._browsers = browsers
        self._gate = gate
        self._running = running
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def save(self, browser: ManagedBrowser, request: SaveState, check: Check) -> SavedState:
        """Save a browser's state, under a permit: a browser that a person has is not asked.

        Args:
            browser: The browser.
            request: What to keep, and under which name.
            check: Looks for the condition that shows that the login stands.

        Raises:
            Held: A person has the browser.
            Refused: `action_timeout`: the browser did not tell it in time; or it is too large.
        """
        with self._noted.one(request.effect_id, "SaveState", browser.browser_id):
            async with self._gate.effect("page", browser.browser_id, request.effect_id) as permit:
                with self._running.effect(request.effect_id, browser.browser_id, lambda: False):
                    permit.recheck()
                    self._noted.admitted(request.effect_id, "SaveState", browser.browser_id)
                    found = await _bounded(browser.context.storage_state(indexed_db=True))
                    permit.recheck()
        picked = pick(found, request)
        unkept = await _session_storage(browser, request.sites)
        probe = CheckCondition(
            browser_id=browser.browser_id, condition=request.probe, timeout_seconds=request.probe_seconds
        )
        cookies, origins = picked.content["cookies"], picked.content["origins"]
        manifest = SavedState(
            state_id=request.state_id,
            saved_at=datetime.now(UTC),
            sites=request.sites,
            sso=picked.sso,
            cookies=len(cookies),
            session_cookies=sum(cookie["expires"] < 0 for cookie in cookies),
            local_storage=sum(len(origin["localStorage"]) for origin in origins),
            indexed_db=sum(len(origin.get("indexedDB", ())) for origin in origins),
            encrypted=self._files.encrypts,
            probe=request.probe,
            probe_seconds=request.probe_seconds,
            probe_met=(await check(probe)).met,
            not_kept=(*unkept, *picked.not_kept),
        )
        await asyncio.to_thread(self._files.write, browser.spec.owner, manifest, picked.content)
        log.info("browser %s: its state was saved as %s", browser.browser_id, request.state_id)
        return manifest

    def opening(self, browser_id: str) -> asyncio.Lock:
        """Held while a browser is opened: the same one asked for twice at once is opened once."""
        return self._opening.setdefault(browser_id, asyncio.Lock())

    async def wanted(self, spec: OpenBrowser) -> Kept | None:
        """The state that a browser still has to get; None where it asks for none, or has it.

        A browser that runs already may be without it: its runner was killed in between.

        Raises:
            HandoffError: The state cannot be used; nothing was started.
        """
        if spec.state is None or self._mark(spec.browser_id).exists():
            return None
        return await asyncio.to_thread(self._files.read, spec.owner, spec.state)

    async def restore(self, browser: ManagedBrowser, kept: Kept) -> None:
        """Give a browser what a state holds, in the place of what it has.

        Raises:
            Held: A person has the browser.
            Refused: `action_timeout`: it did not take it in time.
        """
        effect_id, browser_id = new_id("e"), browser.browser_id
        with self._noted.one(effect_id, "RestoreState", browser_id):
            async with self._gate.effect("page", browser_id, effect_id):
                self._noted.admitted(effect_id, "RestoreState", browser_id)
                await _bounded(browser.context.set_storage_state(kept.content))  # type: ignore[arg-type]

    async def prove(self, browser: ManagedBrowser, kept: Kept, check: Check) -> None:
        """See that the login stands, before anybody relies on it.

        Raises:
            Stale: `state_stale`: it does not.
        """
        probe = CheckCondition(
            browser_id=browser.browser_id,
            condition=kept.manifest.probe,
            timeout_seconds=kept.manifest.probe_seconds,
        )
        seen = await check(probe)
        if not seen.met:
            raise make_error(
                ErrorCode.STATE_STALE,
                "The login of the saved state does not stand any more: its condition was not observed.",
                holds="The browser was closed again; the saved state is as it was.",
                do_next="Open a browser without it, have a person sign in, and save it again.",
                state_id=kept.manifest.state_id,
                outcome=str(EffectOutcome.NOT_STARTED),
            )
        write_private(self._mark(browser.browser_id), kept.manifest.state_id.encode())

    def _mark(self, browser_id: str) -> Path:
        return self._browsers / browser_id / _RESTORED


async def _bounded(work: Awaitable[Any]) -> Any:
    try:
        return await asyncio.wait_for(work, _STORAGE_SECONDS)
    except (TimeoutError, PlaywrightError):
        raise _no_storage() from None


def _no_storage() -> HandoffError:
    return make_error(
        ErrorCode.ACTION_TIMEOUT,
        f"The browser did not tell or take its storage within {_STORAGE_SECONDS:g} s.",
        holds="No state was saved or used.",
        do_next="Close dialogs and pages that are busy, then ask again.",
    )


async def _session_storage(browser: ManagedBrowser, sites: tuple[str, ...]) -> list[NotKept]:
    """How much the sites keep where only their tab finds it."""
    frames = [frame for page in browser.pages for frame in page.page.frames]
    found: dict[str, int] = {}
    for origin, count in filter(None, await asyncio.gather(*(_items(frame, sites) for frame in frames))):
        found[origin] = max(count, found.get(origin, 0))
    return [NotKept(what="session_storage", where=origin, count=n) for origin, n in sorted(found.items()) if n]


async def _items(frame: Frame, sites: tuple[str, ...]) -> tuple[str, int] | None:
    script = "() => [location.hostname, location.origin, sessionStorage.length]"
    try:
        host, origin, count = await asyncio.wait_for(frame.evaluate(script), _FRAME_SECONDS)
    except (PlaywrightError, TimeoutError):
        return None  # it has no storage, or is gone
    return (str(origin), int(count)) if any(within(host, site) for site in sites) else None
