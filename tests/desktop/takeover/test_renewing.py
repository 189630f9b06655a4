"""A takeover is renewed at its desktop by who is elsewhere, by the same rules as at the desk."""

from tests.desktop.support import code_of
from tests.desktop.takeover.support import Taker
from user_handoff.contract import takeover as t
from user_handoff.contract.errors import ErrorCode
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.takeover.takeovers import SUBJECT


def renewal(taker: Taker) -> t.RenewTakeover:
    return t.RenewTakeover(takeover_id=taker.takeover_id, browser_id=taker.agent.browser_id)


async def test_who_renews_keeps_it_and_who_stops_has_lost_it(taker: Taker) -> None:
    """E1, E4: no renewal moves its deadline, and what is over is never renewed."""
    await taker.take(seconds=60)
    desktop, leases = taker.agent.desktop, taker.takeovers._leases
    before = leases.current(SUBJECT)
    renewed = await desktop.renew_takeover(renewal(taker))
    after = leases.current(SUBJECT)
    assert before is not None and after is not None
    assert after.expires > before.expires and after.deadline == before.deadline
    assert 0 < renewed.expires_in_seconds < 60
    taker.shorten(0.1)
    await taker.until(Phase.RECOVERING)
    assert await code_of(desktop.renew_takeover(renewal(taker))) is ErrorCode.LEASE_LOST


async def test_what_nobody_began_is_not_renewed(taker: Taker) -> None:
    """E9."""
    taker.number = "t_none"
    assert await code_of(taker.agent.desktop.renew_takeover(renewal(taker))) is ErrorCode.UNKNOWN_TAKEOVER
