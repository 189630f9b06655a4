"""What is said of takeovers: where one stands, what the agent is told, and refusals."""

import math

from user_handoff.contract.errors import ErrorCode, HandoffError, make_error
from user_handoff.contract.takeover import HeldBy, Resumed, TakeoverEnd, TakeoverNow, TakeoverState
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.lease.lease import Lease

_STATES = {
    Phase.BEGINNING: TakeoverState.REQUESTED,
    Phase.HELD: TakeoverState.HELD,
    Phase.EXPIRED: TakeoverState.HELD,
    Phase.RETURNING: TakeoverState.RETURNING,
    Phase.RECOVERING: TakeoverState.RECOVERING,
    Phase.RECOVERED: TakeoverState.ENDED,
    Phase.CLOSED: TakeoverState.ENDED,
    Phase.REVOKED: TakeoverState.ENDED,
}


def now(record: HoldRecord) -> TakeoverNow:
    """Where a takeover stands."""
    assert record.taken is not None
    how = record.taken.how
    if record.phase in (Phase.CLOSED, Phase.REVOKED):
        how = TakeoverEnd(str(record.phase))
    return TakeoverNow(
        takeover_id=record.handoff_id,
        state=_STATES[record.phase],
        how=how,
        reason=None if record.reason is None else str(record.reason),
        seconds=record.taken.seconds if record.taken.how else None,
        changes=record.finish.changes if record.finish else None,
    )


def held_by(record: HoldRecord) -> HeldBy:
    """Who has a browser."""
    taken = record.taken
    return HeldBy(
        kind=record.kind,
        id=record.handoff_id,
        role=taken.role if taken else None,
        why=taken.why if taken else "",
        seconds_left=round(record.seconds_left, 1),
    )


def resumed(record: HoldRecord) -> Resumed | None:
    """What the agent is told with its first look; None where there is nothing to tell."""
    taken = record.taken
    if taken is None or taken.how is None or record.phase is not Phase.RECOVERING:
        return None
    return Resumed(
        takeover_id=record.handoff_id,
        role=taken.role,
        cause=taken.cause,
        why=taken.why,
        note=taken.note,
        how=taken.how,
        seconds=math.ceil(taken.seconds),
        changes=record.finish.changes if record.finish else None,
    )


def over(takeover_id: str) -> HandoffError:
    """It has ended: nothing brings it back."""
    return make_error(
        ErrorCode.LEASE_LOST,
        "This takeover is over.",
        holds="Nothing more is typed under it.",
        do_next="Take the browser over anew.",
        takeover_id=takeover_id[:140],
    )


def lease_taken(lease: Lease) -> HandoffError:
    """Somebody else acts on the desktop."""
    return make_error(
        ErrorCode.LEASE_TAKEN,
        "Another person has control of this desktop.",
        holds="They keep it; nothing was begun, and nothing waits in a queue.",
        do_next="Wait until they are done, then take over.",
        about=lease.about,
        cause=lease.cause,
    )


def not_automatic() -> HandoffError:
    """Control changes hands by a person's act alone, unless the policy file says otherwise."""
    return make_error(
        ErrorCode.FORBIDDEN,
        "This desktop's policy lets nobody but a person take a browser over.",
        holds="Nothing was begun.",
        do_next="Set automatic_takeover under [limits] in the policy file, if that is meant.",
    )


def no_watchdog(why: str) -> HandoffError:
    """Without the process that ends a lease whatever happens, none is given."""
    return make_error(
        ErrorCode.RESERVATION_CLOSED,
        f"The watchdog of a takeover could not be started ({why}).",
        holds="Nobody was given control; the agent goes on.",
        do_next="Look at the machine's memory and process limits, then take over again.",
    )
