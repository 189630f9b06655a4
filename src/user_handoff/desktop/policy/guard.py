"""The check right before every effect: what crosses a boundary is refused, whatever door it came by."""

import asyncio
import contextlib
from collections.abc import Iterable

from playwright.async_api import ElementHandle, Frame, Locator
from playwright.async_api import Error as PlaywrightError

from user_handoff.contract.boundary import Boundary, Refused, Seen, Shown, StopList, together
from user_handoff.contract.boundary.meeting import Met, stop_list
from user_handoff.contract.boundary.rules import UrlRule
from user_handoff.contract.browser import Back, Click, ClosePage, Download, Navigate, PageEffect, Press, Select
from user_handoff.contract.conditions import AnyCondition, Probe, leaves
from user_handoff.contract.urls import matches
from user_handoff.desktop.browser.managed import ManagedBrowser
from user_handoff.desktop.browser.pages import ManagedPage
from user_handoff.desktop.policy import keys, refusals
from user_handoff.desktop.policy.confirming import Confirmed, is_submitting
from user_handoff.desktop.policy.facts import (
    ElementFacts,
    Fact,
    PageFacts,
    facts_of,
    facts_of_frame,
    facts_of_page,
    frames_in,
    is_like_a_button,
    seen_frames,
)
from user_handoff.desktop.policy.file import Policy
from user_handoff.desktop.policy.focus import focused_element
from user_handoff.desktop.snapshots.bindings import Binding, stale
from user_handoff.desktop.snapshots.redact import scrub
from user_handoff.desktop.snapshots.take import Look


class Guard:
    """Asks the stop list. It belongs to the desktop: callers can add rules to it, and take none away.

    Attributes:
        policy: What the desktop was started with.
        confirmed: What a person has let an agent submit, once.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.confirmed = Confirmed()

    def rules(self, browser: ManagedBrowser) -> StopList:
        """The desktop's rules, and beside them those that the browser was opened with."""
        return stop_list(together(self.policy.rules, browser.spec.rules))

    def is_read_only(self, browser: ManagedBrowser) -> bool:
        """True where an agent may go to pages and look, and do nothing to them."""
        return self.policy.read_only or browser.spec.read_only

    def confirms(self, browser: ManagedBrowser) -> bool:
        """True where a person must confirm what is submitted."""
        return self.policy.confirm_before_submit or browser.spec.confirm_before_submit

    # --- looking ---

    async def read(self, browser: ManagedBrowser, page: ManagedPage) -> tuple[PageFacts, tuple[str, ...]]:
        """What the stop list has to know of a page beside its snapshot: its fields, and the frames that are seen.

        It needs nothing of the snapshot, so that both are asked at once.
        """
        frames = _matching(page, self.rules(browser))
        return await asyncio.gather(facts_of_page(page, "fields"), seen_frames(page, frames))

    def judge(
        self, browser: ManagedBrowser, page: ManagedPage, look: Look, beside: tuple[PageFacts, tuple[str, ...]]
    ) -> tuple[Boundary | None, tuple[Refused, ...]]:
        """What of the stop list a snapshot shows: the page's own boundary, and the elements that are refused.

        Args:
            browser: The browser.
            page: The page that was looked at.
            look: The snapshot.
            beside: What was read beside it.
        """
        bound, (facts, frames) = look.ids, beside
        rules = self.rules(browser)
        shown = [
            _bound(f"{bound.snapshot_id}.{ref}", binding)
            for ref, binding in bound.elements.items()
            if binding.clickable or rules.reads(binding.role)
        ]
        seen = Seen(
            url=page.page.url,
            controls=(*shown, *_shown(facts.controls)),
            status=facts.status,
            frames=frames,
        )
        boundary = rules.boundary(page.page_id, seen)
        if boundary is not None:
            secret = {*look.values, *browser.secrets}
            told = {"reason": scrub(boundary.reason, secret), "url": scrub(boundary.url, secret)}
            boundary = boundary.model_copy(update=told)
        return boundary, rules.refused(seen)

    async def shows_boundary(self, browser: ManagedBrowser, page: ManagedPage) -> Boundary | None:
        """What native input could cross on a page, wherever on it: its own boundary, or a control that is refused.

        Raises:
            Refused: `action_timeout`: the page, or a frame of it, does not say what it shows.
        """
        rules, facts = self.rules(browser), await facts_of_page(page, "controls")
        if not facts.whole:
            raise refusals.not_said(page.page_id)
        seen = _seen(page, facts, await seen_frames(page, _matching(page, rules)))
        boundary = rules.boundary(page.page_id, seen)
        if boundary is not None:
            return boundary
        met = rules.whole_page(seen) or _first(rules.control(shown) for shown in _shown(facts.controls))
        return refusals.boundary(page, met) if met else None

    # --- effects ---

    async def check(
        self, browser: ManagedBrowser, page: ManagedPage, effect: PageEffect, target: Locator | None
    ) -> None:
        """Refuse an effect that would cross a boundary.

        Args:
            browser: The browser.
            page: The page that the effect is on.
            effect: What is to be done.
            target: The element that it names; None where it names none.

        Raises:
            Refused: `boundary_reached`, with the rule's id and category; nothing was done.
        """
        rules = self.rules(browser)
        confirmed = await self._is_confirmed(browser, page)
        if isinstance(effect, ClosePage):
            return
        match effect:
            case Navigate():
                self._refuse(page, rules.address(effect.url), effect)
                return
            case Back():
                self._refuse(page, rules.address(await page.previous_url() or ""), effect)
                return
        if self.is_read_only(browser):
            raise refusals.read_only(page, effect)
        await self._check_page(rules, page, effect)
        reached = await self._check_element(rules, page, effect, target)
        if self.confirms(browser) and not confirmed and is_submitting(effect, reached):
            raise refusals.confirm(page, effect)

    def check_condition(self, browser: ManagedBrowser, condition: AnyCondition) -> None:
        """Refuse a condition that is looked for where an agent may not go: a probe asks with the person's cookies.

        Raises:
            Refused: `boundary_reached`; nothing was asked.
        """
        for leaf in leaves(condition):
            if isinstance(leaf, Probe) and (met := self.rules(browser).address(leaf.url)) is not None:
                raise refusals.probe(met, leaf.url)

    async def _check_page(self, rules: StopList, page: ManagedPage, effect: PageEffect) -> None:
        seen = Seen(page.page.url)
        if any(rule.kind == "response" and rule.forbids for rule in rules.rules):
            seen = _seen(page, await facts_of_page(page, "fields"), ())
        self._refuse(page, rules.whole_page(seen), effect)

    async def _check_element(
        self, rules: StopList, page: ManagedPage, effect: PageEffect, target: Locator | None
    ) -> tuple[Fact, ...]:
        """Refuse what the element, or what is around it, is for a person; otherwise tell what the effect would use."""
        element = await (_handle(target, effect) if target else focused_element(page))
        if element is None:
            return ()  # a key that no element has asked for
        facts = await facts_of(page, element)
        called = await _called(page, effect) if target is not None else ()
        if target is not None and isinstance(effect, Press) and not facts.focusable:
            return await self._check_element(rules, page, effect, None)
        _check_seen(page, effect, facts)
        await self._check_frames(rules, page, effect, element)
        reached = _reached(effect, facts, called)
        if facts.frames and isinstance(effect, Click | Download):
            for frame in await frames_in(page, element):
                reached = (*reached, *await self._inside(rules, page, effect, frame))
        for fact in reached:
            for shown in fact.shown():
                self._refuse(page, rules.control(shown), effect)
            for url in fact.urls:
                self._refuse(page, rules.address(url), effect)
        if isinstance(effect, Select):
            for label in effect.labels:
                self._refuse(page, rules.control(Shown("menuitem", (label,))), effect)
        return reached

    async def _check_frames(
        self, rules: StopList, page: ManagedPage, effect: PageEffect, element: ElementHandle
    ) -> None:
        frame: Frame | None = None
        with contextlib.suppress(PlaywrightError):
            frame = await page.bounded(element.owner_frame())
        while frame is not None and frame.parent_frame is not None:
            self._refuse(page, rules.frame(frame.url), effect)
            frame = frame.parent_frame

    async def _inside(
        self, rules: StopList, page: ManagedPage, effect: PageEffect, element: ElementHandle
    ) -> tuple[Fact, ...]:
        """All that a frame shows: a click goes to whatever is in the middle of it."""
        frame = await page.bounded(element.content_frame())
        if frame is None:
            return ()
        self._refuse(page, rules.frame(frame.url), effect)
        facts = await facts_of_frame(frame, "controls")
        if facts is None or facts.more or frame.child_frames:
            raise refusals.not_said(page.page_id)
        return facts.controls

    async def _is_confirmed(self, browser: ManagedBrowser, page: ManagedPage) -> bool:
        """Whether a person has confirmed this page for the very next effect, which this is."""
        document = await page.document() if self.confirms(browser) else ""
        return self.confirmed.take(browser.browser_id, page.page_id, document)

    async def confirm(self, browser: ManagedBrowser) -> None:
        """A person has seen what the pages of a browser show, and lets its agent submit it."""
        self.confirmed.put(browser.browser_id, {page.page_id: await page.document() for page in browser.pages})

    def _refuse(self, page: ManagedPage, met: Met | None, effect: PageEffect) -> None:
        if met is not None:
            raise refusals.refused(page, met, effect)


def _check_seen(page: ManagedPage, effect: PageEffect, facts: ElementFacts) -> None:
    if facts.closed and isinstance(effect, Press) and not keys.leaves(effect.key):
        raise refusals.not_said(page.page_id)


def _reached(effect: PageEffect, facts: ElementFacts, called: tuple[str, ...]) -> tuple[Fact, ...]:
    """What an effect would use: a click whatever is there, other effects the element itself."""
    itself, *around = facts.chain
    itself = itself.model_copy(update={"names": tuple(dict.fromkeys((*itself.names, *called)))})
    match effect:
        case Click() | Download():
            return (itself, *around, *facts.near)
        case Press():
            return _pressed(effect.key, facts, itself)
        case _:
            # what is put into a label goes into its field
            return (itself, *(fact for fact in around if fact.field))


def _pressed(key: str, facts: ElementFacts, itself: Fact) -> tuple[Fact, ...]:
    if keys.moves_on(key):
        return facts.choices if keys.chooses(key) else ()
    if keys.is_enter(key):
        return (*facts.enter, itself, *(() if itself.field else facts.chain[1:]))
    if itself.field or keys.is_space(key):
        return (itself, *facts.choices)
    return ()


async def _called(page: ManagedPage, effect: PageEffect) -> tuple[str, ...]:
    """What the snapshot calls the element that an effect names: what it was chosen by."""
    element_id = str(getattr(effect, "element_id", ""))
    binding = (await page.bound(element_id)).resolve(element_id)
    return tuple(filter(None, (binding.name, binding.text if binding.role == "generic" else "")))


async def _handle(target: Locator, effect: PageEffect) -> ElementHandle:
    try:
        return await target.element_handle(timeout=effect.timeout_seconds * 1000)
    except PlaywrightError:
        raise stale(str(getattr(effect, "element_id", ""))) from None


def _matching(page: ManagedPage, rules: StopList) -> tuple[Frame, ...]:
    globs = [rule.glob for rule in rules.rules if isinstance(rule, UrlRule) and rule.frames]
    return tuple(frame for frame in page.page.frames[1:] if any(matches(glob, frame.url) for glob in globs))


def _shown(facts: Iterable[Fact]) -> tuple[Shown, ...]:
    return tuple(shown for fact in facts for shown in fact.shown())


def _seen(page: ManagedPage, facts: PageFacts, frames: tuple[str, ...]) -> Seen:
    return Seen(page.page.url, _shown(facts.controls), facts.status, frames)


def _bound(element_id: str, binding: Binding) -> Shown:
    if binding.clickable and is_like_a_button(binding.role):
        return Shown("button", (binding.name or binding.text,), element_id=element_id)
    return Shown(binding.role, (binding.name,), element_id=element_id)


def _first(met: Iterable[Met | None]) -> Met | None:
    return next((each for each in met if each is not None), None)
