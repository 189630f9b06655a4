"""Which rules a page or a control meets."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from user_handoff.contract.boundary.patterns import MATCHED_CHARACTERS
from user_handoff.contract.boundary.readings import readings
from user_handoff.contract.boundary.rules import (
    AnyRule,
    Boundary,
    ControlRule,
    Refused,
    ResponseRule,
    UrlRule,
    WallRule,
)
from user_handoff.contract.boundary.walls import signals
from user_handoff.contract.urls import matches, redact_url

_MAX_REFUSED = 50
_KNOWN = 20_000
_OF_WALLS = ("button", "link", "textbox")


@dataclass(frozen=True, slots=True)
class Shown:
    """One control that a page shows.

    Attributes:
        role: Its role.
        names: What it is called: its accessible name, and on the desktop every other text that it goes by.
        tokens: What kind of field it is.
        element_id: Its id in the snapshot; empty where it has none.
    """

    role: str
    names: tuple[str, ...] = ()
    tokens: frozenset[str] = frozenset()
    element_id: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a page.

    Attributes:
        url: Its URL.
        controls: What it shows.
        status: The status of its main document; None where it is not known.
        frames: The URLs of the frames that are seen in it.
    """

    url: str
    controls: tuple[Shown, ...] = ()
    status: int | None = None
    frames: tuple[str, ...] = field(default=())


Met = tuple[AnyRule, str]
"""A rule, and the reason why it is met."""


class StopList:
    """Rules, ready to be asked."""

    def __init__(self, rules: Iterable[AnyRule]) -> None:
        self.rules = tuple(rules)
        self._controls = tuple(rule for rule in self.rules if isinstance(rule, ControlRule))
        self._prefilters = _prefilters(self._controls)
        self._known: dict[tuple[str, tuple[str, ...], frozenset[str]], tuple[Met, ...]] = {}
        self._tokens = frozenset(token for rule in self._controls for token in rule.fields)

    def reads(self, role: str) -> bool:
        """True where a name of this role can matter: most of what a page shows cannot."""
        return role in self._prefilters or role in _OF_WALLS

    def boundary(self, page_id: str, seen: Seen) -> Boundary | None:
        """The first rule that a page meets, controls before URLs, or None."""
        found = next(self._of_page(seen), None)
        if found is None:
            return None
        rule, reason = found
        url = redact_url(seen.url)
        return Boundary(rule_id=rule.rule_id, category=rule.category, page_id=page_id, url=url, reason=reason)

    def refused(self, seen: Seen) -> tuple[Refused, ...]:
        """The elements of a snapshot on which effects are refused, 50 at most."""
        found = []
        for shown in seen.controls:
            met = self.control(shown) if shown.element_id else None
            if met is not None:
                found.append(Refused(element_id=shown.element_id, rule_id=met[0].rule_id, category=met[0].category))
                if len(found) == _MAX_REFUSED:
                    break
        return tuple(found)

    def control(self, shown: Shown) -> Met | None:
        """The first rule by which effects on a control are refused."""
        return next((met for met in self._met(shown) if met[0].forbids), None)

    def address(self, url: str) -> Met | None:
        """The first rule by which going to a URL is refused."""
        for rule in self.rules:
            if isinstance(rule, UrlRule) and rule.forbids and matches(rule.glob, url):
                return rule, f"URL matches {rule.glob}"
        return None

    def whole_page(self, seen: Seen) -> Met | None:
        """The first rule by which every effect on a page is refused, except to leave it."""
        found = self.address(seen.url)
        if found is None:
            found = next((met for met in self._answered(seen) if met[0].forbids), None)
        return found

    def frame(self, url: str) -> Met | None:
        """The first rule by which effects within a frame are refused."""
        for rule in self.rules:
            if isinstance(rule, UrlRule) and rule.frames and rule.refuses is not False and matches(rule.glob, url):
                return rule, f"a frame matches {rule.glob}"
        return None

    def _of_page(self, seen: Seen) -> Iterator[Met]:
        met = [found for shown in seen.controls for found in self._met(shown)]
        for rule in self._controls:
            if rule.page:
                yield from ((other, reason) for other, reason in met if other is rule)
        for address in self.rules:
            if isinstance(address, UrlRule):
                if address.frames and any(matches(address.glob, frame) for frame in seen.frames):
                    yield address, f"a frame matches {address.glob}"
                if matches(address.glob, seen.url):
                    yield address, f"URL matches {address.glob}"
        yield from self._answered(seen)
        yield from self._walls(seen)

    def _answered(self, seen: Seen) -> Iterator[Met]:
        for rule in self.rules:
            if isinstance(rule, ResponseRule) and seen.status in rule.statuses and matches(rule.glob, seen.url):
                yield rule, f"status {seen.status}"

    def _walls(self, seen: Seen) -> Iterator[Met]:
        for rule in self.rules:
            if isinstance(rule, WallRule):
                controls = ((s.role, name, s.tokens) for s in seen.controls for name in s.names or ("",))
                if why := signals(seen.url, seen.status, controls):
                    yield rule, "; ".join(why)

    def _met(self, shown: Shown) -> tuple[Met, ...]:
        """The rules that a control meets; most meet none, and it is asked twice of each, and again at the next look."""
        key = (shown.role, shown.names, shown.tokens)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            found = self._known[key] = tuple(self._met_by(shown))
        return found

    def _met_by(self, shown: Shown) -> Iterator[Met]:
        names = [(read, name) for name in shown.names for read in readings(name) if self._may_be(shown.role, read)]
        if not names and not (shown.tokens & self._tokens):
            return
        for rule in self._controls:
            name = next((name for read, name in names if rule.names(shown.role, read)), None)
            if name is not None:
                yield rule, f'{shown.role} "{name[:100]}"'
            elif token := next((token for token in rule.fields if token in shown.tokens), None):
                yield rule, f"{shown.role} with {token}"

    def _may_be(self, role: str, name: str) -> bool:
        """One look for all rules of a role: nearly every control meets none."""
        prefilter = self._prefilters.get(role)
        return prefilter is not None and prefilter.search(name[:MATCHED_CHARACTERS]) is not None


def _prefilters(rules: Iterable[ControlRule]) -> dict[str, re.Pattern[str]]:
    by_role: dict[str, list[str]] = {}
    for rule in rules:
        for role in rule.roles if rule.name else ():
            by_role.setdefault(role, []).append(f"(?:{rule.name})")
    return {role: re.compile("|".join(names), re.IGNORECASE) for role, names in by_role.items()}


@lru_cache(maxsize=64)
def stop_list(rules: tuple[AnyRule, ...]) -> StopList:
    """The same list for the same rules."""
    return StopList(rules)
