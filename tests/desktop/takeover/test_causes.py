"""Control changes hands by an explicit act alone."""

import contextlib

from Xlib import X

from examples.portal import Portal
from tests.desktop.support import Agent
from tests.desktop.takeover.support import Taker
from tests.waiting import until
from user_handoff.desktop.desktop import Desktop
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.surfaces.x11_windows import X11Windows

IN_PROMPT, IN_DIALOG = (400, 140), (700, 140)
"""Where Chromium shows a prompt, and beside that a dialog; the page is dark there, or becomes so behind them."""


def is_white(desktop: Desktop, place: tuple[int, int]) -> bool:
    """Whether a prompt or a dialog is shown there."""
    with connection(desktop.display.name, desktop.display.xauthority) as x:
        shown = x.screen().root.get_image(*place, 1, 1, X.ZPixmap, 0xFFFFFFFF).data
    return bytes(shown[:3]) == b"\xff\xff\xff"


async def test_a_prompt_a_dialog_and_a_navigation_change_nothing(agent: Agent, portal: Portal) -> None:
    """K80: Chromium asks for a permission, a page opens a dialog, another comes. The cause of a change is recorded."""
    desktop = agent.desktop
    ledger = desktop.holds._ledger
    page = desktop.browsers.get(agent.browser_id).page(None).page
    before = ledger.epoch()
    await page.bring_to_front()  # the windows of others are on this desktop too
    pid = (await agent.info()).pid
    with contextlib.closing(X11Windows(desktop.display)) as windows:
        await until(lambda: (focused := windows.focused()) and windows.pid_of(focused) == pid)
    await until(lambda: not is_white(desktop, IN_PROMPT) and not is_white(desktop, IN_DIALOG))
    await page.evaluate("navigator.geolocation.getCurrentPosition(() => {}, () => {})")
    await until(lambda: is_white(desktop, IN_PROMPT))
    state = "async () => (await navigator.permissions.query({name: 'geolocation'})).state"
    assert await page.evaluate(state) == "prompt"
    async with page.expect_event("dialog") as dialog:
        await page.evaluate("void setTimeout(() => alert('now'))")
    await until(lambda: is_white(desktop, IN_DIALOG))
    await (await dialog.value).accept()
    await agent.go(f"{portal.url}/login")
    assert (ledger.epoch(), desktop.holds.active(agent.browser_id), ledger.holders()) == (before, None, [])
    assert desktop.view.control.standing is None

    taker = Taker(agent)
    await taker.take()
    held = ledger.epoch()
    await page.evaluate("navigator.geolocation.getCurrentPosition(() => {}, () => {})")
    await page.evaluate("location.hash = 'elsewhere'")
    taken = taker.record().taken
    assert taken is not None and (taken.cause, taken.role) == ("person", "desk")
    assert ledger.epoch() == held
    assert [(row.kind, row.handoff_id) for row in ledger.holders()] == [("takeover", taker.takeover_id)]
