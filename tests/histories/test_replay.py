"""Workflows that began under an earlier version go on under this one."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from tests.histories import told
from tests.histories.record import SCENES
from tests.workflows import agents
from user_handoff.plugin import HandoffPlugin
from user_handoff.worker.server import WORKFLOWS
from user_handoff.workflows.inbound import WellFormed

HISTORIES = sorted(Path(__file__).parent.glob("*.json"))


def _history(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, json.loads(path.read_text()))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_recorded_history_replays(path: Path) -> None:
    """F3."""
    history = _history(path)
    replayer = Replayer(workflows=[*WORKFLOWS, *agents.ALL], plugins=[HandoffPlugin()], interceptors=[WellFormed()])
    await replayer.replay_workflow(history)


def test_every_scene_has_its_history() -> None:
    assert {path.stem for path in HISTORIES} == set(SCENES) | set(told.SCENES)
