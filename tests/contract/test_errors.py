import pickle

import pytest
from temporalio.exceptions import ApplicationError

from user_handoff.contract.errors import (
    ErrorCode,
    Gone,
    HandoffError,
    HandoffExpired,
    Held,
    SetupError,
    Stale,
    error_class,
    from_dict,
    make_error,
)
from user_handoff.contract.failures import from_failure, to_failure


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_survives_a_temporal_failure_as_the_same_class(code: ErrorCode) -> None:
    error = make_error(code, "It happened.", holds="This holds.", do_next="Do that.", browser_id="b_1")
    back = from_failure(to_failure(error))
    assert type(back) is type(error)
    assert back is not None
    assert back.to_dict() == error.to_dict()


def test_a_message_says_what_happened_what_holds_and_what_to_do() -> None:
    assert str(make_error(ErrorCode.NOT_HELD, "A.", holds="B.", do_next="C.")) == "A. B. C."


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.BROWSER_HELD, Held),
        (ErrorCode.STALE_ELEMENT, Stale),
        (ErrorCode.PAGE_GONE, Gone),
        (ErrorCode.EXPIRED, HandoffExpired),
        (ErrorCode.PORT_TAKEN, SetupError),
    ],
)
def test_a_code_has_its_class(code: ErrorCode, kind: type[HandoffError]) -> None:
    assert error_class(code) is kind


def test_an_error_can_be_pickled() -> None:
    error = make_error(ErrorCode.STALE_ELEMENT, "A.", element_id="x.e1")
    assert pickle.loads(pickle.dumps(error)).to_dict() == error.to_dict()


def test_a_refusal_is_never_retried_by_temporal() -> None:
    assert to_failure(make_error(ErrorCode.BROWSER_HELD, "A.")).non_retryable


def test_a_foreign_failure_is_not_taken_for_one_of_ours() -> None:
    assert from_failure(ApplicationError("no", type="something_else")) is None
    assert from_failure(RuntimeError("no")) is None
    assert from_failure(None) is None


def test_an_unknown_code_is_an_error() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        from_dict({"code": "nonsense"})
