"""What is said of an effect that was broken off."""

from user_handoff.contract.browser import EffectOutcome
from user_handoff.contract.errors import ErrorCode, HandoffError, make_error


def broken_off(done: str, error: HandoffError, **details: int) -> HandoffError:
    """The error of an effect of which a part was done, and why the rest was not."""
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        f"{done}, then: {error.what}",
        holds="The rest was not done.",
        do_next="Look at the desktop before you act again.",
        outcome=str(EffectOutcome.OUTCOME_UNKNOWN),
        because=str(error.code),
        **details,
        **{name: value for name, value in error.details.items() if name == "handoff_id"},
    )
