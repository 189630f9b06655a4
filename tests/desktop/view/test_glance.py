"""What a glance at a display sees, and what that saves."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

from tests.desktop.surfaces.programs import program, window
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import A, viewing
from tests.desktop.view.stopping import standing_still
from tests.waiting import until
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.view.curtain import Found
from user_handoff.desktop.view.glance import Glance, Seen
from user_handoff.desktop.view.stage import Stage

SECONDS = 5.0


@contextlib.asynccontextmanager
async def glancing(desktop: Desktop) -> AsyncIterator[Glance]:
    glance = await asyncio.to_thread(Glance, desktop.display)
    await glance.attach()
    yield glance
    glance.close()


async def seen_by(glance: Glance) -> Seen:
    seen = await glance.now(SECONDS)
    assert seen is not None
    return seen


async def test_two_glances_see_the_same_while_nothing_happens(desktop: Desktop) -> None:
    async with glancing(desktop) as glance:
        assert await seen_by(glance) == await seen_by(glance)


async def test_a_glance_sees_that_a_window_was_opened(desktop: Desktop) -> None:
    """Whoever opened it knows that it is there before the next glance is asked for: no waiting."""
    async with glancing(desktop) as glance:
        before = await seen_by(glance)
        with program(desktop.display, window("other", unmanaged=True)):
            assert (await seen_by(glance)).changes > before.changes
            assert glance.changed.is_set()


async def test_a_glance_sees_who_has_the_keyboard(desktop: Desktop) -> None:
    with program(desktop.display, window("one"), window("two", (400, 60, 300, 200))) as both:
        async with glancing(desktop) as glance:
            for number in (0, 1):
                both.tell("focus", number)
                assert (await seen_by(glance)).focus == both.windows[number]


async def test_whoever_glances_at_a_display_that_is_gone_sees_nothing(desktop: Desktop) -> None:
    async with glancing(desktop) as glance:
        asked = asyncio.create_task(glance.now(SECONDS))
        await asyncio.sleep(0)
        glance.close()
        assert await asked is None
        assert await glance.now(SECONDS) is None


async def test_a_glance_that_gets_no_answer_in_time_sees_nothing(desktop: Desktop) -> None:
    """And an answer that comes too late is not taken for that of a later question."""
    with program(desktop.display, window("one")) as one:
        async with glancing(desktop) as glance:
            with standing_still(desktop):
                assert await glance.now(0.05) is None
            one.tell("focus", 0)
            assert (await seen_by(glance)).focus == one.windows[0]


async def test_a_press_has_nobody_look_again_while_nothing_has_changed(stand: Stand) -> None:
    """Each click is a change for the window manager; the view has looked again before the next one."""
    stage = stand.view._stage
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        await until(lambda: knows(stage))
        with looks(stage) as looked:
            await viewer.press(A)
            await viewer.until_passed()
        assert looked == []
        await stand.until("a")


async def knows(stage: Stage) -> bool:
    assert stage._glance is not None
    seen = await seen_by(stage._glance)
    return stage._known is not None and stage._known[0] == seen


@contextlib.contextmanager
def looks(stage: Stage) -> Iterator[list[float]]:
    """Each look of the stage's thread, from now on."""
    looked: list[float] = []
    look = stage._look

    async def counted(seconds: float) -> Found:
        looked.append(seconds)
        return await look(seconds)

    stage._look = counted  # type: ignore[method-assign]
    yield looked
    stage._look = look  # type: ignore[method-assign]
