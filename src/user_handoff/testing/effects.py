"""Effects in memory: each at most once, and none on what a person has."""

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from user_handoff.contract import browser as b
from user_handoff.contract import computer as c
from user_handoff.contract.boundary import READ_ONLY, Boundary, Seen, Shown, refusal
from user_handoff.contract.boundary.refusal import limit
from user_handoff.contract.claims import digest_of_effect, id_reused
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.urls import redact_url
from user_handoff.testing.browser import MemoryBrowser, Tab
from user_handoff.testing.holds import Holds
from user_handoff.testing.pages import Control


@dataclass(frozen=True, slots=True)
class Done:
    """An effect that was done.

    Attributes:
        kind: ``click``, ``fill``, ``press``, ``select``, ``navigate``, ``back``, ``download``, ``closepage`` or
            ``computer``.
        effect: What was asked for.
        control: The element that it was done to; None where it was none.
    """

    kind: str
    effect: b.PageEffect | c.ComputerEffect
    control: Control | None = None


class Effects:
    """Does effects, and keeps the receipts."""

    def __init__(self, holds: Holds, downloads: Path, done: list[Done]) -> None:
        self._done = done
        self.failures: list[ErrorCode] = []
        self._holds = holds
        self._downloads = downloads
        self._receipts: dict[str, b.EffectReceipt] = {}
        self._asked: dict[str, str] = {}
        self._generation = ""
        self._clipboard = ""

    def known(self, effect: b.PageEffect | c.ComputerEffect) -> Any:
        """The receipt of an effect that was done before, or None.

        Raises:
            Refused: ``id_reused``: it was another effect.
        """
        effect_id = effect.effect_id
        if self._asked.get(effect_id) not in (None, digest_of_effect(effect)):
            raise id_reused("This effect id was used for another effect.", effect_id=effect_id)
        return self._receipts.get(effect_id)

    def on_page(self, browser: MemoryBrowser, effect: b.PageEffect) -> b.EffectReceipt:
        """Do an effect on a page.

        Raises:
            HandoffError: Refused; nothing was done. Or ``outcome_unknown``, where a test wants that.
        """
        tab, control = self._admitted(browser, effect)
        _do(browser, tab, effect, control)
        page = browser.page_info(tab) if tab.page_id in browser.tabs else None
        return self._keep(effect, control, b.EffectReceipt(**_completed(effect), page=page))

    def download(self, browser: MemoryBrowser, effect: b.Download) -> b.DownloadReceipt:
        """Download what a control has, into a file of the test.

        Raises:
            HandoffError: Refused; nothing was done.
        """
        tab, control = self._admitted(browser, effect)
        if control is None or control.downloads is None:
            raise _failed(f"No download starts from {control.name if control else 'there'}.")
        path = self._downloads / effect.effect_id
        path.write_bytes(control.downloads)
        receipt = b.DownloadReceipt(
            **_completed(effect),
            page=browser.page_info(tab),
            path=str(path),
            bytes=len(control.downloads),
            sha256=hashlib.sha256(control.downloads).hexdigest(),
        )
        self._keep(effect, control, receipt)
        return receipt

    def look(self, windows: tuple[c.WindowInfo, ...], picture: b.Picture | None) -> c.DisplayLook:
        """Look at the desktop: one effect may follow."""
        self._generation = secrets.token_hex(8)
        return c.DisplayLook(generation=self._generation, focused_window=1, windows=windows, picture=picture)

    def native(self, effect: c.ComputerEffect) -> c.ComputerReceipt:
        """Do an effect on the whole desktop: it is written down, and the clipboard kept.

        Raises:
            HandoffError: Refused; nothing was done.
        """
        self._holds.check_effect(None)
        if effect.generation != self._generation:
            raise make_error(
                ErrorCode.STALE_GENERATION,
                "The look that this effect follows no longer stands.",
                holds="Nothing was done.",
                do_next="Look at the desktop again.",
            )
        self._fail_first()
        self._generation = ""
        match effect.action:
            case c.SetClipboard():
                self._clipboard = effect.action.text
            case c.ClearClipboard():
                self._clipboard = ""
        text = self._clipboard if isinstance(effect.action, c.GetClipboard) else None
        receipt = c.ComputerReceipt(**_completed(effect), text=text)
        self._keep(effect, None, receipt)
        return receipt

    def _admitted(self, browser: MemoryBrowser, effect: b.PageEffect) -> tuple[Tab, Control | None]:
        self._holds.check_effect(browser)
        tab = browser.tab(effect.page_id)
        if tab.needs_snapshot:
            raise make_error(
                ErrorCode.SNAPSHOT_REQUIRED,
                "A person had this page, and it was not looked at since.",
                holds="Nothing was done.",
                do_next="Take a fresh snapshot of this page, then act on what it shows.",
                page_id=tab.page_id,
            )
        element_id = getattr(effect, "element_id", None)
        control = browser.control(tab, element_id) if element_id is not None else None
        _check_boundary(browser, tab, effect, control)
        self._fail_first()
        return tab, control

    def _fail_first(self) -> None:
        if self.failures and self.failures[0] is not ErrorCode.OUTCOME_UNKNOWN:
            raise make_error(
                self.failures.pop(0), "The test lets this effect fail.", holds="Nothing was done.", do_next="Go on."
            )

    def _keep(self, effect: Any, control: Control | None, receipt: b.EffectReceipt) -> b.EffectReceipt:
        kind = "computer" if isinstance(effect, c.ComputerEffect) else type(effect).__name__.lower()
        self._done.append(Done(kind, effect, control))
        self._receipts[effect.effect_id] = receipt
        self._asked[effect.effect_id] = digest_of_effect(effect)
        if self.failures:
            raise make_error(
                self.failures.pop(0),
                "The test loses the receipt of this effect.",
                holds="It may have happened.",
                do_next="Take a snapshot and look, before anything is done again.",
                outcome=str(b.EffectOutcome.OUTCOME_UNKNOWN),
                effect_id=effect.effect_id,
            )
        return receipt


def _check_boundary(browser: MemoryBrowser, tab: Tab, effect: b.PageEffect, control: Control | None) -> None:
    """Refuse what the stop list keeps for a person, as a desktop does."""
    page = browser.shown(tab)
    match effect:
        case b.ClosePage() | b.Back():
            return
        case b.Navigate():
            met = browser.rules.address(effect.url)
        case _:
            met = browser.rules.whole_page(Seen(page.url))
            if control is not None:
                led = browser.rules.address(control.leads_to) if control.leads_to else None
                met = met or browser.rules.control(Shown(control.role, (control.name,))) or led
            if browser.spec.read_only:
                what = "This browser is for reading alone."
                raise refusal(limit(READ_ONLY, tab.page_id, redact_url(page.url), what), what)
    if met is not None:
        rule, reason = met
        crossed = Boundary(
            rule_id=rule.rule_id,
            category=rule.category,
            page_id=tab.page_id,
            url=redact_url(page.url),
            reason=reason,
        )
        raise refusal(crossed, f"The {type(effect).__name__.lower()} was refused: {reason}.")


def _do(browser: MemoryBrowser, tab: Tab, effect: b.PageEffect, control: Control | None) -> None:
    match effect:
        case b.Click() if control and control.leads_to:
            browser.go(tab, control.leads_to)
        case b.Click() if control and control.opens:
            browser.go(browser.open_tab(browser.shown(tab)), control.opens)
        case b.Navigate():
            browser.go(tab, effect.url)
        case b.Back() if len(tab.history) > 1:
            tab.history.pop()
            tab.elements = {}
        case b.ClosePage():
            browser.close_tab(tab)


def _completed(effect: b.PageEffect | c.ComputerEffect) -> dict[str, Any]:
    return {"effect_id": effect.effect_id, "outcome": b.EffectOutcome.COMPLETED}


def _failed(what: str) -> HandoffError:
    return make_error(
        ErrorCode.ACTION_FAILED,
        what,
        holds="Nothing was done.",
        do_next="Give the Control of the test what it downloads.",
        outcome=str(b.EffectOutcome.NOT_STARTED),
    )
