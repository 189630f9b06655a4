"""What the page says, for every state that a handoff can be in."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.gateway.world import WALL
from user_handoff.cli.tables import facts
from user_handoff.contract.browser import PageInfo
from user_handoff.contract.handoff import (
    Answer,
    BeginReceipt,
    HandoffState,
    Result,
    RevokeReason,
    Summary,
    Surface,
)
from user_handoff.gateway import texts
from user_handoff.gateway.view import view_of

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def summary(state: HandoffState, **more: Any) -> Summary:
    fields: dict[str, Any] = {
        "handoff_id": "handoff/b/s/m",
        "state": state,
        "owner": "agent",
        "instructions": "Sign in",
        "boundary": WALL,
        "requested_at": NOW - timedelta(seconds=10),
        "expires_at": NOW + timedelta(seconds=90),
    }
    return Summary(**{**fields, **more})


def test_a_person_sees_who_where_and_how_long() -> None:
    """B9."""
    view = view_of(summary(HandoffState.HELD), NOW)
    assert (view.phase, view.host, view.path, view.seconds_left) == ("waiting", "portal.example", "/login", 90)
    assert view.title == "Sign in at portal.example"


def test_the_time_left_never_falls_below_nothing() -> None:
    assert view_of(summary(HandoffState.HELD), NOW + timedelta(hours=1)).seconds_left == 0


def test_before_the_hold_there_is_nothing_to_answer() -> None:
    view = view_of(summary(HandoffState.REQUESTED, expires_at=None), NOW)
    assert view.phase == "preparing" and not view.final


@pytest.mark.parametrize("result", list(Result))
def test_every_end_has_words_of_its_own(result: Result) -> None:
    """B4, K21: no two ends read the same, and only `verified` reads as success."""
    state = {
        Result.EXPIRED: HandoffState.EXPIRED,
        Result.CLOSED: HandoffState.CLOSED,
        Result.REVOKED: HandoffState.REVOKED,
        Result.RUNNER_LOST: HandoffState.REVOKED,
        Result.REFUSED: HandoffState.REFUSED,
    }.get(result, HandoffState.COMPLETED)
    view = view_of(summary(state, result=result), NOW)
    assert view.phase == "ended"
    words = texts.NOTHING_TO_CHECK if result is Result.NOT_VERIFIED else texts.ENDS[result][1]
    assert (view.title, view.text) == (texts.ENDS[result][0], words)
    assert (view.tone == "good") == (result is Result.VERIFIED)
    assert len({title for title, _ in texts.ENDS.values()}) == len(Result)


@pytest.mark.parametrize("reason", list(RevokeReason))
def test_a_revoked_handoff_says_why(reason: RevokeReason) -> None:
    """A15."""
    view = view_of(summary(HandoffState.REVOKED, result=Result.REVOKED, reason=reason), NOW)
    assert view.text == texts.REVOKED[reason] and view.final


def test_an_expired_handoff_is_not_the_end_of_its_pause() -> None:
    """A14."""
    view = view_of(summary(HandoffState.EXPIRED), NOW)
    assert view.title == "The time is up" and "stays paused" in view.text and not view.final


def test_an_answer_is_told_to_whoever_gave_it() -> None:
    """F6."""
    answered = summary(HandoffState.RECOVERING, answer=Answer.DONE, answered_by="link 1")
    assert view_of(answered, NOW, "link 1").steps[0].text == "You said that it is done"
    assert view_of(answered, NOW, "link 2").steps[0].text == "link 1 said that it is done"
    assert [s.state for s in view_of(answered, NOW).steps] == ["past", "past", "now"]


def test_each_state_and_answer_is_a_version_of_its_own() -> None:
    held, answered = summary(HandoffState.HELD), summary(HandoffState.HELD, answer=Answer.DONE)
    versions = {view_of(s, NOW).version for s in (held, answered, summary(HandoffState.EXPIRED))}
    assert len(versions) == 3


@pytest.mark.parametrize(
    ("seconds", "words"), [(59, "less than a minute left"), (61, "1 minute left"), (179, "2 minutes left")]
)
def test_time_in_words_is_rounded_down(seconds: float, words: str) -> None:
    assert texts.minutes_left(seconds) == words


def test_a_person_is_told_where_a_programs_code_may_still_act() -> None:
    """F11."""
    page = PageInfo(page_id="p1", url="https://portal.example/login", title="", needs_snapshot=False)
    for ran in (False, True):
        receipt = BeginReceipt(
            handoff_id="handoff/b/s/m",
            handoff_fence="f",
            surface=Surface(backend="x11", window_id=1, pid=1, process_started=1, x=0, y=0, width=1, height=1),
            expires_at=NOW,
            expires_in_seconds=1,
            pages=(page.model_copy(update={"code_ran": ran}),),
        )
        assert view_of(summary(HandoffState.HELD, receipt=receipt), NOW).code_ran is ran
        told = dict(facts(summary(HandoffState.HELD, receipt=receipt)))
        assert ("https://portal.example/login" in told.get("beware", "")) is ran
