"""What `handoff reply` says of a handoff that is over."""

from tests.cli.conftest import Call
from tests.gateway.world import World


async def test_an_answer_to_a_handoff_that_has_ended_points_to_how_it_ended(world: World, call: Call) -> None:
    receipt = await world.held()
    waits = await call("reply", receipt.handoff_id, "declined")
    await call("close", receipt.handoff_id)

    over = await call("reply", receipt.handoff_id, "declined")

    assert f"`handoff watch {receipt.handoff_id}` tells how it goes on." in waits.stdout
    assert over.stdout.rstrip().endswith(f"The handoff is closed. `handoff show {receipt.handoff_id}` tells how.")
