"""Which cookies and items of storage a saved state takes, and which it leaves out."""

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from user_handoff.contract.states import NotKept, SaveState


@dataclass
class Picked:
    """What a saved state takes of what a browser has.

    Attributes:
        content: Cookies and storage, as Playwright takes them.
        sso: The domains of single sign-on of which something was taken.
        not_kept: What was left out, without names and values.
    """

    content: dict[str, Any]
    sso: tuple[str, ...]
    not_kept: list[NotKept] = field(default_factory=list)


def within(host: str, site: str) -> bool:
    """Whether a host is a site or a subdomain of it."""
    return host == site or host.endswith(f".{site}")


def pick(found: dict[str, Any], request: SaveState) -> Picked:
    """Take what belongs to the sites that were asked for, without what a rule leaves out.

    Args:
        found: Everything that the browser has, as Playwright tells it.
        request: Which sites, and which rules.
    """
    wanted = _Wanted(request)
    rules = [(rule, re.compile(fnmatch.translate(rule.name), re.IGNORECASE)) for rule in request.prune]
    pruned: Counter[str] = Counter()

    def kept(name: str) -> bool:
        for rule, pattern in rules:
            if pattern.match(name):
                pruned[rule.rule_id] += 1
                return False
        return True

    mine = [cookie for cookie in found["cookies"] if wanted.cookie(cookie["domain"])]
    origins = []
    for origin in found["origins"]:
        if wanted.host(urlsplit(origin["origin"]).hostname or ""):
            items = [item for item in origin["localStorage"] if kept(item["name"])]
            origins.append({**origin, "localStorage": items})
    content = {"cookies": [cookie for cookie in mine if kept(cookie["name"])], "origins": origins}
    not_kept = [NotKept(what="pre_authentication", where=rule, count=count) for rule, count in sorted(pruned.items())]
    if others := len(found["cookies"]) - len(mine):
        not_kept.append(NotKept(what="other_sites", where="cookies", count=others))
    not_kept += [NotKept(what="nothing_found", where=site) for site in request.sites if site not in wanted.seen]
    return Picked(content, tuple(site for site in request.sso if site in wanted.seen), not_kept)


class _Wanted:
    """The sites that were asked for, and those of which there was something."""

    def __init__(self, request: SaveState) -> None:
        self._sites: Iterable[str] = (*request.sites, *request.sso)
        self._asked = frozenset(request.sites)
        self.seen: set[str] = set()

    def host(self, host: str) -> bool:
        return self._found(site for site in self._sites if within(host, site))

    def cookie(self, domain: str) -> bool:
        """A cookie's domain: one with a dot before it is sent to all hosts below, and so also to a site below."""
        host = domain.lstrip(".").lower()
        below = domain.startswith(".")
        return self._found(
            site for site in self._sites if within(host, site) or (below and site in self._asked and within(site, host))
        )

    def _found(self, sites: Iterable[str]) -> bool:
        sites = set(sites)
        self.seen |= sites
        return bool(sites)
