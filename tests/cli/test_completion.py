"""What a shell completes."""

import asyncio

import pytest

from tests.cli.conftest import Handoff
from tests.gateway.world import World


def completing(*words: str) -> dict[str, str]:
    """What bash sets when Tab is pressed behind these words."""
    typed = ["handoff", *words]
    return {"_HANDOFF_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(typed), "COMP_CWORD": str(len(typed) - 1)}


@pytest.mark.parametrize("command", ["show", "watch"])
async def test_the_ids_of_handoffs_are_completed(
    world: World, environment: dict[str, str], handoff: Handoff, command: str
) -> None:
    receipt = await world.held()
    env = environment | completing(command, receipt.handoff_id[:20])
    async with asyncio.timeout(30):
        while (said := await asyncio.to_thread(handoff, env=env)).stdout.split() != [receipt.handoff_id]:
            assert said.returncode == 0  # what Temporal lists lags a moment behind
    await world.client.close(receipt.handoff_id)


async def test_answers_are_completed(handoff: Handoff, environment: dict[str, str]) -> None:
    done = await asyncio.to_thread(handoff, env=environment | completing("reply", "handoff/b/s/m", "d"))

    assert done.stdout.split() == ["done", "declined"]


def test_where_no_server_answers_nothing_is_said(handoff: Handoff, environment: dict[str, str]) -> None:
    done = handoff(env=environment | completing("show", "hand") | {"TEMPORAL_ADDRESS": "127.0.0.1:1"})

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(handoff: Handoff, environment: dict[str, str], shell: str) -> None:
    done = handoff(env=environment | {"_HANDOFF_COMPLETE": f"source_{shell}"})

    assert done.returncode == 0 and f"_HANDOFF_COMPLETE=complete_{shell}" in done.stdout
