"""The refusals of a hold itself."""

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error


def check_other(stands: str | None, hold_id: str) -> None:
    """Refuse where another hold stands.

    Raises:
        HandoffError: `handoff_active`.
    """
    if stands not in (None, hold_id):
        raise make_error(
            ErrorCode.HANDOFF_ACTIVE,
            "Another hold stands on this browser.",
            holds="It is untouched.",
            do_next="Wait for its end.",
            hold_id=stands,
        )


def mismatch(what: str, stands: str | None) -> HandoffError:
    """The refusal of who names a hold that does not stand."""
    return make_error(
        ErrorCode.FENCE_MISMATCH,
        what,
        holds="The browser stays as it is.",
        do_next="Name the hold that stands, by its own id.",
        hold_id=stands,
    )


def not_drained(left: int, seconds: float) -> HandoffError:
    """The refusal of a hold whose browser did not come to rest."""
    return make_error(
        ErrorCode.DRAIN_TIMEOUT,
        f"{left} effects in flight did not end within {seconds:g} s.",
        holds="The browser is not held; the agent has it.",
        do_next="Try again when the page has come to rest.",
    )
