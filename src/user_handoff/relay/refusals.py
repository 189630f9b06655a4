"""Why the relay answers in the place of a server."""

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.relay.calls import Call
from user_handoff.relay.tools import Kind


def discarded() -> HandoffError:
    """What was seen is of no worth any more."""
    return make_error(
        ErrorCode.OBSERVATION_DISCARDED,
        "Control changed hands while it was looked at.",
        holds="What was seen was thrown away.",
        do_next="Look again once no person has control.",
    )


def kept_since() -> HandoffError:
    """What the server has kept may show what a person did."""
    return make_error(
        ErrorCode.OBSERVATION_DISCARDED,
        "A person has had control since this server was started, and what it kept may show what they did.",
        holds="Nothing was shown.",
        do_next="Start the server anew, or look at the page as it is now.",
    )


def not_looked() -> HandoffError:
    """A person had control, and nobody has looked at what they left."""
    return make_error(
        ErrorCode.SNAPSHOT_REQUIRED,
        "A person has had control, and the page was not looked at since.",
        holds="The effect was not started.",
        do_next="Look at the page by a tool that only reads, such as a snapshot, then act.",
    )


def ended(call: Call) -> HandoffError:
    """The server will not answer a call."""
    if call.kind is not Kind.EFFECT:
        return make_error(
            ErrorCode.FAILED,
            "The server ended before it answered.",
            holds="Nothing was shown.",
            do_next="Start the server anew, then ask again.",
        )
    return make_error(
        ErrorCode.OUTCOME_UNKNOWN,
        "The server ended before it answered.",
        holds="What was asked for may have been done.",
        do_next="Start the server anew, and look before you act again.",
        outcome="outcome_unknown",
    )
