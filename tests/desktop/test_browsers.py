"""How long and how many, where nobody says so."""

import pytest
from pydantic import ValidationError

from user_handoff.contract.browser import OpenBrowser
from user_handoff.contract.handoff import BeginHold
from user_handoff.desktop.browsers import BrowserLimits


def test_a_browser_lives_four_hours_and_half_an_hour_unused() -> None:
    """A8: by default, in seconds."""
    spec = OpenBrowser(browser_id="b_1", session_id="s_1", owner="agent:test", url="about:blank")
    assert (spec.idle_seconds, spec.lifetime_seconds) == (1_800, 14_400)


def test_a_desktop_carries_four_browsers_of_sixteen_pages() -> None:
    """A8: by default."""
    assert BrowserLimits() == BrowserLimits(browsers=4, pages=16)


def test_no_hold_of_more_than_ten_minutes_can_be_asked_for() -> None:
    """A8."""
    asked = {"handoff_id": "handoff/b/s/m", "browser_id": "b", "session_id": "s", "message_id": "m", "owner": "o"}
    assert BeginHold.model_validate(asked | {"timeout_seconds": 600})
    with pytest.raises(ValidationError, match="timeout_seconds"):
        BeginHold.model_validate(asked | {"timeout_seconds": 601})
