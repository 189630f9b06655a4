"""`handoff watch ID --control`, and how long who took over keeps it: a real lease, and a desktop in memory."""

import asyncio
import contextlib
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio import activity

from tests.cli.conftest import SECONDS, command
from tests.gateway.world import World
from tests.waiting import until
from tests.workflows.fake_takeovers import FakeTakeovers
from user_handoff.cli.controlling import told
from user_handoff.contract import takeover as t
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.desktop.lease.lease import Lease
from user_handoff.desktop.lease.leases import Leases
from user_handoff.desktop.serving import Serving, write_serving
from user_handoff.desktop.state import private_folder

TTL = 0.6
"""A lease that is renewed five times a second; the test's own stands longer, however busy the machine is."""


@dataclass
class Desk(FakeTakeovers):
    """Takes a lease as a real one does."""

    leases: Leases | None = None

    @activity.defn(name=Activities.BEGIN_TAKEOVER)
    async def begin(self, request: t.BeginTakeover) -> t.TakeoverBegun:
        begun = await super().begin(request)
        assert self.leases is not None
        lease = self.leases.take("desktop", request.number, request.takeover_id, seconds=60, ttl=20)
        return begun.model_copy(update={"lease_id": lease.lease_id, "ttl_seconds": TTL})

    @property
    def lease(self) -> Lease | None:
        assert self.leases is not None
        return self.leases.current("desktop")


@pytest.fixture
def desk(environment: dict[str, str]) -> Iterator[Desk]:
    """A desktop that is served from the state folder."""
    desk = Desk()
    folder = private_folder(Path(environment["HANDOFF_STATE"]) / "desktop")
    write_serving(folder, Serving(desk.client_id, desk.desktop_id))
    desk.leases = Leases(folder / f"{desk.desktop_id}.leases.db")
    yield desk
    desk.leases.close()


@contextlib.asynccontextmanager
async def controlling(world: World, desk: Desk, environment: dict[str, str]) -> AsyncIterator[Process]:
    """`handoff watch ID --control`, once the browser is taken."""
    arguments = command("watch", new_id("b"), "--control")
    async with desk.serving(world.temporal):
        process = await asyncio.create_subprocess_exec(
            *arguments, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        try:
            assert process.stdout is not None
            said = await asyncio.wait_for(process.stdout.readline(), SECONDS)
            assert b"You have the browser, for 600 s at most" in said
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()
            for takeover_id in desk.now:
                await desk.move(takeover_id, t.TakeoverState.ENDED, t.TakeoverEnd.RETURNED)
                await world.temporal.get_workflow_handle(takeover_id).result()


async def renewed(desk: Desk) -> Lease:
    return await until(lambda: desk.lease, 20, wanted=lambda lease: lease is None or lease.version > 2)


async def test_it_renews_its_lease_until_an_interrupt_gives_the_browser_back(
    world: World, desk: Desk, environment: dict[str, str]
) -> None:
    """E1, E5: without a word."""
    async with controlling(world, desk, environment) as process:
        assert await renewed(desk) is not None
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert (process.returncode, err) == (130, b"")
    assert b"Cancelled after" in out
    assert desk.calls.count(f"{Activities.RETURN_TAKEOVER} cancelled") == 1


async def test_the_first_renewal_that_fails_ends_it(world: World, desk: Desk, environment: dict[str, str]) -> None:
    """E4: it says so, takes no new one, and gives nothing back that is not its own any more."""
    async with controlling(world, desk, environment) as process:
        lease = await renewed(desk)
        assert desk.leases is not None and desk.leases.end(lease)
        out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 1
    assert b"Your control is over" in err and b"You have it no more" in out
    assert (desk.lease, [call for call in desk.calls if Activities.RETURN_TAKEOVER in call]) == (None, [])


async def test_where_nobody_can_tell_whether_it_stands_it_goes_back(
    world: World, desk: Desk, environment: dict[str, str]
) -> None:
    """E2, E4: the desktop takes nothing from the person then, so the agent would wait until the deadline."""
    async with controlling(world, desk, environment) as process:
        assert desk.leases is not None and await renewed(desk) is not None
        desk.leases.close()
        for file in desk.leases.path.parent.glob(f"{desk.leases.path.name}*"):
            file.write_bytes(b"no lease at all" * 300)
        out, err = await asyncio.wait_for(process.communicate(), SECONDS)
    assert process.returncode == 1
    assert b"Your control is over" in err and b"Cancelled after" in out
    assert desk.calls.count(f"{Activities.RETURN_TAKEOVER} cancelled") == 1


@pytest.mark.parametrize("how", [t.TakeoverEnd.CLOSED, t.TakeoverEnd.REVOKED])
def test_of_a_browser_that_is_gone_it_is_not_said_that_its_agent_has_to_look(how: t.TakeoverEnd) -> None:
    summary = t.TakeoverSummary(
        takeover_id="takeover/b_1/t_1",
        browser_id="b_1",
        state=t.TakeoverState.ENDED,
        how=how,
        role="desk",
        by="Ada",
        cause="person",
        requested_at=datetime.now(UTC),
        seconds=0,
    )
    assert told(summary) == f"{how.capitalize()}: the browser is gone, and nothing is left to give back."
