"""Letters of either case, from viewers that press no Shift for them, as on-screen keyboards do."""

from Xlib import X

from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import viewing

_SHIFT = 0xFFE1


def caps_lock(stand: Stand) -> bool:
    with stand.agent.desktop.holds._surfaces._windows.connected() as x:  # type: ignore[attr-defined]
        return bool(x.screen().root.query_pointer().mask & X.LockMask)


async def test_a_capital_leaves_no_caps_lock_to_whoever_comes_next(stand: Stand) -> None:
    """K50, E3: by a key, and by a text."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.press(ord("a"), ord("Q"))
        await stand.until("aQ")
        assert not caps_lock(stand)
        await viewer.tell(t="text", n=1, text="xY")
        await viewer.heard("typed", n=1, ok=True)
        await stand.until("aQxY")
        assert not caps_lock(stand)


async def test_a_small_letter_arrives_as_such_while_shift_is_down(stand: Stand) -> None:
    """K50: as where the person's own Caps Lock is on; Shift stays down for what follows."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await viewer.hold_down(_SHIFT)
        await viewer.press(ord("a"), ord("B"), ord("c"))
        await stand.until("aBc")
        assert not caps_lock(stand)
