"""A runner whose person has a browser and presses a key and a button through the view, until it is killed."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from tests.desktop.support import Agent
from tests.desktop.takeover.support import Taker
from tests.desktop.test_start import settings
from tests.desktop.view.raw import viewing
from user_handoff.desktop.display.connection import connection
from user_handoff.desktop.display.record import read_record
from user_handoff.desktop.start import running_desktop
from user_handoff.desktop.view.rfb import pointer
from user_handoff.desktop.view.settings import ViewSettings

SHIFT = 0xFFE1


async def main(folder: Path, ttl: float) -> None:
    wanted = replace(settings(folder, keep=True), view=ViewSettings(ttl_seconds=ttl))
    async with running_desktop(wanted) as desktop:
        agent = await Agent.open(desktop)
        taker = Taker(agent)
        await taker.take(why="killed")
        async with viewing(desktop.view, taker.takeover_id) as viewer:
            await viewer.take()
            await viewer.click(600, 400)
            while pressed(folder) != (1, True):  # the keyboard is the browser's a moment after the click
                await viewer.tell(t="renew")
                await viewer.hold_down(SHIFT)
                await viewer.raw(pointer(1, 600, 400).data)
                await asyncio.sleep(0.05)
            said = {"browser_id": agent.browser_id, "number": taker.number, "lease_id": taker.lease_id}
            print(json.dumps(said), flush=True)
            while True:
                await viewer.tell(t="renew")
                await asyncio.sleep(ttl / 4)


def pressed(folder: Path) -> tuple[int, bool]:
    """How many keys are down, and whether a button is."""
    record = read_record(folder)
    assert record is not None
    display = record.display(folder)
    with connection(display.name, display.xauthority) as x:
        keys = sum(byte.bit_count() for byte in x.query_keymap())
        return keys, bool(x.screen().root.query_pointer().mask & 0x1F00)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
