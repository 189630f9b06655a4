"""Saved states in memory: which walls a browser had passed."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

from user_handoff.contract import browser as b
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.states import SavedState, SaveState
from user_handoff.testing.browser import MemoryBrowser
from user_handoff.testing.conditions import observe


class States:
    """What was saved, by owner and name."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[SavedState, frozenset[str]]] = {}

    def save(self, browser: MemoryBrowser, request: SaveState) -> SavedState:
        """Keep which walls of some sites were passed."""
        hosts = {url: urlsplit(url).hostname or "" for url in browser.passed}
        passed = frozenset(
            url for url, host in hosts.items() if any(host == s or host.endswith(f".{s}") for s in request.sites)
        )
        state = SavedState(
            state_id=request.state_id,
            saved_at=datetime.now(UTC),
            sites=request.sites,
            cookies=len(passed),
            session_cookies=0,
            local_storage=0,
            indexed_db=0,
            encrypted=False,
            probe=request.probe,
            probe_seconds=request.probe_seconds,
            probe_met=observe(browser, request.probe).met,
        )
        self._kept[browser.spec.owner, request.state_id] = (state, passed)
        return state

    def restore(self, browser: MemoryBrowser) -> None:
        """Let a new browser pass what the one that was saved had passed.

        Raises:
            Gone: `unknown_state`.
            Stale: `state_stale`: the condition that it was saved with does not hold.
        """
        spec: b.OpenBrowser = browser.spec
        if spec.state is None:
            return
        found = self._kept.get((spec.owner, spec.state))
        if found is None:
            raise make_error(
                ErrorCode.UNKNOWN_STATE,
                "There is no saved state of that name.",
                holds="Nothing was opened.",
                do_next="Save one first, under the same owner.",
                state_id=spec.state,
            )
        state, passed = found
        browser.passed |= passed
        if not observe(browser, state.probe).met:
            raise make_error(
                ErrorCode.STATE_STALE,
                "The login of the saved state does not stand any more: its condition was not observed.",
                holds="Nothing was opened.",
                do_next="Open a browser without it, and have a person sign in.",
                state_id=spec.state,
            )
