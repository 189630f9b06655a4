"""A runner that is killed while a person has a browser: the watchdog ends the lease, and the next runner goes on."""

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from pathlib import Path

from tests.desktop.support import Agent, code_of
from tests.desktop.takeover.killed_runner import pressed
from tests.desktop.takeover.support import Taker
from tests.desktop.test_start import settings
from tests.waiting import until
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.takeover import TakeoverEnd
from user_handoff.desktop.display.virtual import stop_virtual
from user_handoff.desktop.handoff.records import Phase
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.reservation.ledger import Ledger
from user_handoff.desktop.serving import read_serving
from user_handoff.desktop.start import running_desktop
from user_handoff.desktop.takeover.takeovers import SUBJECT

TTL = 1.5


async def test_what_a_killed_runner_leaves_is_ended_and_stays_paused_until_the_agent_looks(tmp_path: Path) -> None:
    """E3, E4, K03: what was pressed is released, the lease is ended, and nothing is unpaused."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.desktop.takeover.killed_runner", str(tmp_path), str(TTL)),
        stdout=PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    try:
        said = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        assert pressed(tmp_path) == (1, True)
        process.kill()
        killed = time.monotonic()
        await process.wait()
        serving = read_serving(tmp_path)
        leases, ledger = Leases(tmp_path / f"{serving.desktop_id}.leases.db"), Ledger(serving.ledger(tmp_path))
        await until(lambda: not leases.remains(SUBJECT, said["lease_id"]))
        assert time.monotonic() - killed < TTL + 1
        assert pressed(tmp_path) == (0, False)
        assert (tmp_path / "takeovers" / f"{said['lease_id']}.json").exists()
        assert [row.kind for row in ledger.holders()] == ["takeover"]
        leases.close()
        ledger.close()
        async with running_desktop(settings(tmp_path)) as desktop:
            taker = Taker(Agent(desktop, said["browser_id"]), said["number"], said["lease_id"])
            record = taker.record()
            assert record.phase is Phase.RECOVERING
            assert record.taken is not None and record.taken.how is TakeoverEnd.RECOVERED
            assert await code_of(taker.agent.go("about:blank")) is ErrorCode.BROWSER_HELD
            resumed = (await taker.agent.look()).resumed
            assert resumed is not None and (resumed.how, resumed.why) == (TakeoverEnd.RECOVERED, "killed")
            await taker.agent.go("about:blank")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await stop_virtual(tmp_path)
