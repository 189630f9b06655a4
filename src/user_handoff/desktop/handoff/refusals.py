"""The refusals of a hold, in one place."""

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.handoff import BeginHold, HoldRequest
from user_handoff.desktop.handoff.records import HoldRecord


def other_hold(request: BeginHold, active: HoldRecord) -> HandoffError:
    """Another handoff, or a takeover, has this browser."""
    asked = active.kind == "handoff"
    return make_error(
        ErrorCode.HANDOFF_ACTIVE if asked else ErrorCode.TAKEOVER_ACTIVE,
        "Another handoff has this browser." if asked else "A person has taken this browser over.",
        holds="That one goes on untouched; nothing was begun.",
        do_next="Wait for its end, or read its summary.",
        handoff_id=request.handoff_id,
        active_handoff_id=active.handoff_id,
    )


def has_browser(active: HoldRecord) -> HandoffError:
    """A browser that is not to be closed under whoever has it."""
    asked = active.kind == "handoff"
    return make_error(
        ErrorCode.BROWSER_HELD,
        "A handoff holds this browser." if asked else "A person has taken this browser over.",
        holds="It was not closed, and is as it was.",
        do_next=f"`handoff close {active.handoff_id}` ends the handoff, and closes the browser with it."
        if asked
        else "`handoff takeover status` tells who has it: ask them to give it back.",
        handoff_id=active.handoff_id,
        browser_id=active.browser_id,
        kind=active.kind,
    )


def used(handoff_id: str) -> HandoffError:
    """This association had its handoff."""
    return make_error(
        ErrorCode.ASSOCIATION_USED,
        "This browser, session and message had their handoff already.",
        holds="Nothing was begun.",
        do_next="Post a new message and hand over under that one.",
        handoff_id=handoff_id,
    )


def full(browser_id: str, capacity: int) -> HandoffError:
    """The browser has had all the handoffs it can have."""
    return make_error(
        ErrorCode.ASSOCIATION_CAPACITY,
        f"This browser has had its {capacity} handoffs.",
        holds="Nothing was begun.",
        do_next="Close it and open a new one.",
        browser_id=browser_id,
    )


def not_owner(browser_id: str) -> HandoffError:
    """The caller may not act on this browser."""
    return make_error(
        ErrorCode.NOT_OWNER,
        "The browser belongs to another principal.",
        holds="Nothing was begun.",
        do_next="Hand over a browser that you opened.",
        browser_id=browser_id,
    )


def not_handoverable(browser_id: str) -> HandoffError:
    """The browser is headless or ephemeral."""
    return make_error(
        ErrorCode.NOT_HANDOVERABLE,
        "Only a visible browser with a persistent profile can be handed over.",
        holds="Nothing was begun; the browser is as it was.",
        do_next="Open one with visible and persistent left on.",
        browser_id=browser_id,
    )


def unsupported(reason: str) -> HandoffError:
    """The desktop cannot find exact windows."""
    return make_error(
        ErrorCode.HANDOFF_UNSUPPORTED,
        f"This desktop cannot hand a browser over: {reason}.",
        holds="Nothing was begun.",
        do_next="Use a desktop that advertises browser_user_handoff, such as `handoff runner --virtual`.",
    )


def no_lifetime(browser_id: str) -> HandoffError:
    """The browser ends too soon."""
    return make_error(
        ErrorCode.LIFETIME_EXHAUSTED,
        "The browser's lifetime ends in less than a second.",
        holds="Nothing was begun.",
        do_next="Open a new browser.",
        browser_id=browser_id,
    )


def wrong_fence(request: HoldRequest) -> HandoffError:
    """The fence is not this hold's."""
    return make_error(
        ErrorCode.FENCE_MISMATCH,
        "The fence is not the one of this hold.",
        holds="The hold stands as it was.",
        do_next="Use the fence that begin returned; the summary of the handoff has it.",
        handoff_id=request.handoff_id,
    )


def no_hold(handoff_id: str) -> HandoffError:
    """The desktop knows no such hold."""
    return make_error(
        ErrorCode.UNKNOWN_HANDOFF,
        "This desktop knows no such hold.",
        holds="Nothing was changed.",
        do_next="Read the summary of the handoff.",
        handoff_id=handoff_id,
    )


def ended(record: HoldRecord) -> HandoffError:
    """The browser ended while its hold was about to change."""
    return make_error(
        ErrorCode.BROWSER_GONE,
        "The browser has ended, and its hold with it.",
        holds="Nothing is held, and nothing comes back.",
        do_next="Open a new browser.",
        browser_id=record.browser_id,
        handoff_id=record.handoff_id,
    )


def look_first(page_id: str) -> HandoffError:
    """The page changed hands and was not looked at since."""
    return make_error(
        ErrorCode.SNAPSHOT_REQUIRED,
        "A person had this page, and it was not looked at since.",
        holds="Nothing was done.",
        do_next="Take a fresh snapshot of this page, then act on what it shows.",
        page_id=page_id,
    )
