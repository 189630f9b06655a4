"""A person takes a browser over and gives it back, on a real desktop."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.desktop.support import Agent, code_of, move
from tests.desktop.takeover.support import Taker
from tests.waiting import until
from user_handoff.contract import browser as b
from user_handoff.contract import takeover as t
from user_handoff.contract.errors import ErrorCode, Held
from user_handoff.contract.ids import new_id
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.handoff.records import HoldRecord, Phase
from user_handoff.desktop.takeover import telling
from user_handoff.desktop.takeover.takeovers import SUBJECT


@pytest.fixture
async def other(desktop: Desktop) -> AsyncIterator[Agent]:
    agent = await Agent.open(desktop)
    yield agent
    await agent.close()


async def test_while_taken_over_every_effect_is_refused_by_its_name_and_looking_works(taker: Taker) -> None:
    """B8, E1, E2: the agent learns of it from what it is refused with."""
    begun = await taker.take(why="that is the wrong account")
    assert begun.ttl_seconds == 30
    with pytest.raises(Held) as held:
        await taker.agent.go("about:blank")
    assert held.value.code is ErrorCode.BROWSER_HELD
    assert (held.value.details["handoff_id"], held.value.details["kind"]) == (taker.takeover_id, "takeover")
    assert await code_of(move(taker.agent.desktop)) is ErrorCode.DESKTOP_HELD
    assert (await taker.agent.look()).resumed is None
    info = await taker.agent.info()
    assert info.held_by is not None
    assert (info.state, info.held_by.kind, info.held_by.role) == ("held", "takeover", "desk")
    assert taker.record().phase is Phase.HELD


async def test_asked_again_it_is_the_same_takeover(taker: Taker) -> None:
    """E1: a lost receipt is asked for again."""
    begun = await taker.take()
    again = await taker.agent.desktop.begin_takeover(taker.request())
    assert (again.lease_id, again.expires_at) == (begun.lease_id, begun.expires_at)


async def test_the_end_has_one_order(taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    """E5: nothing is typed any more, a picture, evidence, the browser waits for a look, and the lease goes last."""
    seen: list[tuple[str, bool]] = []
    takeovers = taker.takeovers

    def step(name: str) -> None:
        seen.append((name, taker.lease_remains()))

    def keep(picture: bytes, browser_id: str, about: str) -> None:
        assert (picture[:4], browser_id, about) == (b"\x89PNG", taker.agent.browser_id, taker.takeover_id)
        step("picture")

    monkeypatch.setattr(takeovers.witness, "keep", keep)
    monkeypatch.setattr(takeovers.witness, "notes", Told(step))
    taker.agent.desktop.holds.listen(watch := Watch(taker, step))
    await taker.take()
    seen.clear()
    now = await taker.give_back()
    watch.taker = None
    assert now.state is t.TakeoverState.RECOVERING
    steps = [("returning", True), ("picture", True), ("takeover_return", True), ("recovering", True)]
    assert seen == steps
    assert not taker.lease_remains()


class Told:
    """Notes that a test looks at."""

    def __init__(self, step: Callable[[str], None]) -> None:
        self.step = step

    def note(self, event: str, **facts: object) -> None:
        self.step(event)


class Watch:
    """Tells each phase of one takeover."""

    def __init__(self, taker: Taker, step: Callable[[str], None]) -> None:
        self.taker: Taker | None = taker
        self.step = step

    def __call__(self, record: HoldRecord) -> None:
        if self.taker is not None and record.handoff_id == self.taker.takeover_id and self.taker.lease_id:
            self.step(str(record.phase))


async def test_the_first_look_tells_what_there_was_and_only_then_the_agent_acts(taker: Taker) -> None:
    """B8, E5: who (a role), why, how long, which pages changed; once."""
    await taker.take(why="wrong account", role="operator", by="ada@example.test")
    page = taker.agent.desktop.browsers.get(taker.agent.browser_id).page(None).page
    await page.evaluate("document.title = 'elsewhere'")
    await taker.give_back("it is signed in now")
    assert await code_of(taker.agent.go("about:blank")) is ErrorCode.BROWSER_HELD
    look = await taker.agent.look()
    told = look.resumed
    assert told is not None
    assert (told.role, told.why, told.note) == ("operator", "wrong account", "it is signed in now")
    assert (told.how, told.cause) == (t.TakeoverEnd.RETURNED, "person")
    assert told.changes is not None and told.changes.titles
    assert "ada" not in look.model_dump_json()
    assert (await taker.agent.look()).resumed is None
    await taker.agent.go("about:blank")


async def test_a_look_that_begins_while_it_goes_back_is_told_too(taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    """B8: it is the first one, and no other is told."""
    browser = taker.agent.desktop.browsers.get(taker.agent.browser_id)
    recover, recovering, looked = browser.control.recover, asyncio.Event(), asyncio.Event()

    async def slowly(*args: Any) -> None:
        recovering.set()
        await looked.wait()
        await recover(*args)

    await taker.take()
    monkeypatch.setattr(browser.control, "recover", slowly)
    going_back = asyncio.create_task(taker.give_back())
    await recovering.wait()
    looking = asyncio.create_task(taker.agent.look())
    await until(lambda: browser.page(None).looking.locked())
    looked.set()
    await going_back
    assert (await looking).resumed is not None


async def test_cancelled_it_goes_back_the_same_way(taker: Taker) -> None:
    """E5."""
    await taker.take()
    now = await taker.give_back(how="cancelled")
    assert now.how is t.TakeoverEnd.CANCELLED
    assert taker.record().phase is Phase.RECOVERING


async def test_a_lease_that_is_not_renewed_ends_it_and_one_that_is_goes_on(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1, E4, K03: soon after the lease."""
    monkeypatch.setattr(taker.takeovers, "ttl", 1.0)
    await taker.take()
    began = time.monotonic()
    while time.monotonic() - began < 2.2:  # more than two leases
        taker.takeovers.renew(taker.takeover_id)
        ends = time.monotonic() + 1.0
        await asyncio.sleep(0.15)
    assert taker.record().phase is Phase.HELD
    record = await taker.until(Phase.RECOVERING)
    assert time.monotonic() - ends < 3
    assert record.taken is not None and record.taken.how is t.TakeoverEnd.TIMEOUT
    assert await code_of(_renew(taker)) is ErrorCode.LEASE_LOST


async def _renew(taker: Taker) -> None:
    taker.takeovers.renew(taker.takeover_id)


@pytest.mark.parametrize("step", [-7200.0, 0.0, 7200.0])
async def test_the_deadline_ends_it_however_the_clock_is_set(
    taker: Taker, monkeypatch: pytest.MonkeyPatch, step: float
) -> None:
    """E4: by the wall clock and by the one that nobody can set, whichever is first."""
    await taker.take(seconds=600 if step > 0 else 1)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + step)
    record = await taker.until(Phase.RECOVERING)
    assert record.taken is not None and record.taken.how is t.TakeoverEnd.TIMEOUT


async def test_a_handoff_is_untouched_by_a_takeover_and_a_takeover_by_a_handoff(taker: Taker) -> None:
    """B8, E1."""
    receipt = await taker.agent.begin()
    assert await code_of(taker.take()) is ErrorCode.HANDOFF_ACTIVE
    hold = taker.agent.desktop.holds.active(taker.agent.browser_id)
    assert hold is not None and (hold.handoff_id, hold.phase) == (receipt.handoff_id, Phase.HELD)
    await taker.agent.finish(receipt)
    await taker.agent.look()
    await taker.take()
    assert await code_of(taker.agent.begin()) is ErrorCode.TAKEOVER_ACTIVE
    assert await code_of(Taker(taker.agent).take()) is ErrorCode.TAKEOVER_ACTIVE
    assert taker.record().phase is Phase.HELD


async def test_one_person_has_the_desktop_and_nobody_waits_in_a_queue(taker: Taker, other: Agent) -> None:
    """E1: the second is refused, and does not get it later either."""
    await taker.take()
    second = Taker(other)
    assert await code_of(second.take()) is ErrorCode.LEASE_TAKEN
    assert (await other.info()).state == "open"
    await taker.give_back()
    assert other.desktop.holds.active(other.browser_id) is None


async def test_the_desktop_is_free_when_the_last_of_several_holds_ends(taker: Taker, other: Agent) -> None:
    """K82."""
    receipt = await other.begin()
    await taker.take()
    await taker.give_back()
    await taker.agent.look()
    assert await code_of(move(other.desktop)) is ErrorCode.DESKTOP_HELD
    await taker.agent.go("about:blank")
    await other.finish(receipt)
    await other.look()
    await move(other.desktop)


async def test_the_end_of_an_old_takeover_does_nothing_to_the_next(taker: Taker) -> None:
    """K08, K09: neither its return nor its heartbeat."""
    await taker.take()
    old = taker.number, taker.takeover_id
    await taker.give_back()
    await taker.take()
    request = t.ReturnTakeover(takeover_id=old[1], browser_id=taker.agent.browser_id)
    assert (await taker.agent.desktop.return_takeover(request)).takeover_id == old[1]
    with pytest.raises(Exception, match="over"):
        taker.takeovers.renew(old[1])
    assert taker.record().phase is Phase.HELD
    assert taker.lease_remains()


async def test_nobody_but_a_person_takes_over_unless_the_policy_says_so(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K80: off by default, and then the cause is kept apart."""
    assert await code_of(taker.take(cause="automatic")) is ErrorCode.FORBIDDEN
    assert taker.agent.desktop.holds.active(taker.agent.browser_id) is None
    monkeypatch.setattr(taker.takeovers, "_automatic", True)
    await taker.take(cause="automatic")
    taken = taker.record().taken
    assert taken is not None and taken.cause == "automatic"


async def test_a_closed_browser_ends_its_takeover_and_frees_the_lease(desktop: Desktop) -> None:
    """E1, K03."""
    taker = Taker(await Agent.open(desktop))
    await taker.take()
    await taker.agent.close()
    assert taker.record().phase is Phase.CLOSED
    assert not taker.lease_remains()


async def test_how_long_they_had_it_is_not_told_of_a_browser_that_was_gone_first(desktop: Desktop) -> None:
    """E5: rather than no time at all."""
    taker = Taker(await Agent.open(desktop))
    await taker.take()
    await taker.agent.close()
    now = telling.now(taker.record())
    assert (now.how, now.seconds) == (t.TakeoverEnd.CLOSED, None)


async def test_what_is_stuck_refuses_the_takeover_or_is_cut_off(taker: Taker, monkeypatch: pytest.MonkeyPatch) -> None:
    """E2, F1: after the time to drain; nothing is left behind where it is refused."""
    ledger = taker.agent.desktop.holds._ledger
    permit = ledger.acquire("page", taker.agent.browser_id, new_id("e"), taker.agent.desktop.holds._me)
    try:
        assert await code_of(taker.take(drain_seconds=0.2)) is ErrorCode.DRAIN_TIMEOUT
        assert taker.takeovers._leases.current(SUBJECT) is None
        assert not ledger.holders()

        def cut(browser_id: str, handoff_id: str) -> list[str]:
            ledger.release(permit)
            return [permit.effect_id]

        monkeypatch.setattr(taker.agent.desktop.holds._running, "cancel_conflicting", cut)
        await taker.take(drain_seconds=0.2, preempt=True)
    finally:
        ledger.release(permit)


async def test_neither_evidence_nor_a_picture_stands_in_the_way_of_a_return(
    taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E5, F7."""

    def fails(*args: object, **named: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(taker.takeovers.witness, "keep", fails)
    monkeypatch.setattr(taker.takeovers.witness, "notes", Told(fails))
    await taker.take()
    assert (await taker.give_back()).state is t.TakeoverState.RECOVERING
    assert not taker.lease_remains()


async def test_no_takeover_has_an_id_that_nobody_minted(taker: Taker) -> None:
    """E9."""
    taker.number = new_id("t")
    assert await code_of(taker.give_back()) is ErrorCode.UNKNOWN_TAKEOVER


async def test_who_waits_is_told_of_each_state(taker: Taker) -> None:
    """E9: read only."""
    await taker.take()
    guard = t.GuardTakeover(
        takeover_id=taker.takeover_id, browser_id=taker.agent.browser_id, known=t.TakeoverState.REQUESTED
    )
    desktop = taker.agent.desktop
    assert (await desktop.guard_takeover(guard)).state is t.TakeoverState.HELD
    await taker.give_back()
    held = guard.model_copy(update={"known": t.TakeoverState.HELD})
    assert (await desktop.guard_takeover(held)).state is t.TakeoverState.RECOVERING
    await taker.agent.look()
    recovering = guard.model_copy(update={"known": t.TakeoverState.RECOVERING})
    now = await desktop.guard_takeover(recovering)
    assert (now.state, now.how) == (t.TakeoverState.ENDED, t.TakeoverEnd.RETURNED)


async def test_a_person_may_take_over_again_before_the_agent_has_looked(taker: Taker) -> None:
    """B8: they interrupt at any time."""
    await taker.take()
    await taker.give_back()
    await taker.take()
    assert taker.record().phase is Phase.HELD
    assert isinstance(await taker.agent.look(), b.Snapshot)
