"""An agent stops the input of a person's page for a moment, and the person has the last word."""

import pytest

from tests.desktop.support import OWNER, code_of
from tests.desktop.takeover.support import Taker
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import SHIFT, A, B, viewing
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.locking import LockUi, UiLocked
from user_handoff.desktop.view.locking import Locks


class Told:
    """Notes that a test looks at."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str | None]] = []

    def note(self, event: str, *, browser_id: str | None = None, about: str | None = None, **facts: object) -> None:
        self.events.append((event, about))


async def lock(stand: Stand, seconds: float = 30, owner: str = OWNER) -> UiLocked:
    return await stand.agent.desktop.lock_ui(LockUi(browser_id=stand.agent.browser_id, owner=owner, seconds=seconds))


async def test_while_it_stands_nothing_of_the_page_arrives_and_one_click_ends_it(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C7: the page is told; what is held down is released; the override is recorded."""
    monkeypatch.setattr(stand.view.locks, "_notes", told := Told())
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.press(A)
        await stand.until("a")
        await viewer.hold_down(SHIFT)
        await viewer.until_passed()
        locked = await lock(stand)
        assert (locked.seconds, bool(locked.lock_id)) == (30, True)
        assert (await viewer.heard("locked"))["seconds"] > 29
        await viewer.press(B, B)
        await viewer.until_passed()
        assert not stand.mask()
        assert await stand.text() == "a"
        await viewer.tell(t="override")
        await viewer.heard("locked", seconds=0)
        await viewer.press(B)
        await stand.until("ab")
    assert told.events == [("lock_ui", stand.handoff_id), ("lock_ui_overridden", stand.handoff_id)]


async def test_it_delays_nobodys_control(stand: Stand) -> None:
    """C7: control is taken while it stands, and a hold that begins ends it."""
    await lock(stand)
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await viewer.heard("locked")
        assert (await viewer.take())["who"] == "you"
    await stand.finish()
    taker = Taker(stand.agent)
    await taker.take()
    assert stand.view.locks.standing(stand.agent.browser_id) is None
    await taker.give_back()
    await stand.agent.look()


async def test_it_has_an_owner_and_is_not_prolonged(stand: Stand) -> None:
    """C7: another agent sets none; the owner ends its own."""
    assert await code_of(lock(stand, owner="agent:other")) is ErrorCode.NOT_OWNER
    await lock(stand)
    assert await code_of(lock(stand, seconds=60)) is ErrorCode.ALREADY_DECIDED
    assert (await lock(stand, seconds=0)).lock_id is None
    assert stand.view.locks.standing(stand.agent.browser_id) is None


def test_it_ends_by_itself() -> None:
    """C7: a minute at most."""
    now = [100.0]
    locks = Locks(lambda browser_id: None, clock=lambda: now[0])
    locks.set(LockUi(browser_id="b", owner="o", seconds=60), None)
    now[0] += 59
    assert locks.standing("b") is not None
    now[0] += 1
    assert locks.standing("b") is None
    with pytest.raises(ValueError, match="less than or equal to 60"):
        LockUi(browser_id="b", owner="o", seconds=61)


def test_once_overridden_the_input_is_not_locked_again_in_that_hold() -> None:
    """C7: else an agent that locks again after each click would keep the person from their page."""
    locks = Locks(lambda browser_id: None)
    request = LockUi(browser_id="b_1", owner="a", seconds=30)
    locks.set(request, "handoff/1")
    locks.override("b_1", "v_1", "handoff/1")
    with pytest.raises(HandoffError) as refused:
        locks.set(request, "handoff/1")
    assert refused.value.code is ErrorCode.ALREADY_DECIDED
    assert locks.standing("b_1") is None
    locks.forget("b_1")
    locks.set(request, "handoff/2")
    assert locks.standing("b_1") is not None
