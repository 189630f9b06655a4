"""Workers that die and come back in the middle of a handoff."""

from pathlib import Path

from temporalio.client import Client

from tests.histories import told
from tests.histories.record import SCENES, record
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.names import Activities, Workflows
from user_handoff.worker.server import server_worker

UNCACHED = {
    "lost_effect",
    "lost_receipts",
    "lost_close",
    "expired",
    "revoked",
    "cancelled",
    "told",
    "takeover_returned",
}
"""Of the scenes those in which most can go wrong: without a cache each task costs a whole replay."""


async def test_a_handoff_goes_on_with_another_worker_after_each_step(client: Client) -> None:
    """F3, F10, A19: nothing is lost and nothing doubled."""
    desktop = FakeDesktop()
    async with desktop.serving(client):
        async with server_worker(client):
            handoffs = await Handoffs.open(client, desktop)
            handoff, receipt = await handoffs.begin(finish_on_reply=False)
            await handoffs.idle(handoff)
        async with server_worker(client):
            assert (await handoff.summary()).receipt == receipt
            await handoff.update(Workflows.REPLY, {"answer": "done"}, id="r")
        async with server_worker(client):
            assert (await handoff.update(Workflows.REPLY, {"answer": "declined"}, id="r")).accepted
            await handoff.finish(receipt.handoff_fence)
        async with server_worker(client):
            assert (await handoff.summary()).state is HandoffState.RECOVERING
            desktop.look(handoff.id)
            assert (await handoff.outcome()).verified
    counts = [desktop.calls.count(name) for name in (Activities.BEGIN, Activities.GUARD, Activities.FINISH)]
    assert counts == [1, 1, 1]


async def test_a_handoff_needs_no_cache(client: Client) -> None:
    """F3: every task replays the whole of it."""
    desktop = FakeDesktop()
    async with server_worker(client, max_cached_workflows=0), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        assert (await handoffs.finished(handoff)).verified
        closed, _ = await handoffs.begin()
        assert (await closed.close()).state is HandoffState.CLOSED


async def test_scenes_in_which_something_is_lost_or_ends_early_need_no_cache(client: Client, tmp_path: Path) -> None:
    """F3, A17: lost receipts, expiry, revocation, cancellation, a session, what people are told and a takeover."""
    for name in {*SCENES, *told.SCENES} - UNCACHED:
        (tmp_path / f"{name}.json").touch()
    await record(client, tmp_path, max_cached_workflows=0)
    assert all((tmp_path / f"{name}.json").stat().st_size for name in UNCACHED)
