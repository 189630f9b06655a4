"""What is sent to the display, and what waits for it."""

import asyncio

import pytest

from tests.desktop.surfaces.programs import program, window
from tests.desktop.view.conftest import Stand
from tests.desktop.view.raw import A, viewing
from tests.desktop.view.stopping import standing_still
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.view.picture import Picture


async def test_a_key_reaches_nobody_who_took_the_keyboard_while_the_display_read_what_came_before(
    stand: Stand, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B9: that may take long; who is typed to is seen after it."""
    async with viewing(stand.view, stand.handoff_id) as viewer:
        await stand.enter(viewer)
        with program(desktop.display, window("thief", (60, 80, 500, 300))) as thief:
            settled = Picture.settled
            waited: list[Picture] = []

            async def long(picture: Picture) -> None:
                if not waited:
                    thief.tell("focus", 0)
                waited.append(picture)
                await settled(picture)

            monkeypatch.setattr(Picture, "unread", property(lambda picture: not waited))
            monkeypatch.setattr(Picture, "settled", long)
            await viewer.press(A)
            await viewer.until_passed()
            assert waited and thief.typed() == ""
        await stand.until("a")


async def test_who_has_no_control_does_not_wait_for_the_display(stand: Stand, desktop: Desktop) -> None:
    """F5: what they send is dropped at once, also while the display stands still."""
    async with viewing(stand.view, stand.handoff_id, "watch") as viewer:
        with standing_still(desktop):
            await viewer.press(A, A)
            async with asyncio.timeout(1.5):  # one look at the display would take two seconds
                await viewer.tell(t="text", n=1, text="a")
                await viewer.heard("typed", n=1, ok=False)
