import pytest

from user_handoff.contract.boundary import Boundary, Category
from user_handoff.contract.browser import PageInfo, Snapshot
from user_handoff.contract.errors import ErrorCode, HandoffExpired, NotCompleted
from user_handoff.contract.handoff import Outcome, Result

WALL = Boundary(
    rule_id="sign-in-password",
    category=Category.AUTHENTICATION,
    page_id="p_1",
    url="https://portal.example/login",
    reason='textbox "Password"',
)


def test_only_verified_reads_as_success() -> None:
    """A20, K20, K21."""
    for result in Result:
        outcome = Outcome(handoff_id="handoff/b/s/m", result=result)
        assert outcome.verified is (result is Result.VERIFIED)
        if result is not Result.VERIFIED:
            with pytest.raises(NotCompleted):
                outcome.require_verified()


def test_expiry_names_the_boundary() -> None:
    """A14, B5."""
    outcome = Outcome(handoff_id="handoff/b/s/m", result=Result.EXPIRED, boundary=WALL)
    with pytest.raises(
        HandoffExpired, match=r"sign-in-password \(https://portal.example/login\).*stays paused"
    ) as told:
        outcome.require_verified()
    assert told.value.code is ErrorCode.EXPIRED


def snapshot(text: str) -> Snapshot:
    page = PageInfo(page_id="p_1", url="https://a.example/", title="A", needs_snapshot=False)
    return Snapshot(browser_id="b_1", page=page, snapshot_id="abc", text=text)


def test_an_element_is_found_by_role_and_exact_name() -> None:
    page = snapshot('- button "Export" [id=abc.e1]\n- button "Export all" [id=abc.e2] [cursor=pointer]')
    assert page.find(role="button", name="Export") == "abc.e1"


def test_a_name_with_quotes_and_brackets_is_found() -> None:
    assert snapshot('- button "say \\"hi\\" [x]" [disabled] [id=abc.e7]: z').find(role="button", name='say "hi" [x]')


def test_two_equal_elements_are_refused_rather_than_guessed() -> None:
    with pytest.raises(LookupError, match="2 elements match button 'Pay'"):
        snapshot('- button "Pay" [id=abc.e1]\n- button "Pay" [id=abc.e2]').find(role="button", name="Pay")
