"""What the plugin does to a user's own client and worker."""

import dataclasses
from collections.abc import Sequence

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter, DefaultPayloadConverter, PayloadCodec
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import Activities
from user_handoff.plugin import HandoffPlugin, with_our_converter, with_our_models, with_our_modules
from user_handoff.worker.server import server_worker


class OwnConverter(DefaultPayloadConverter):
    """A user's own."""


class OwnCodec(PayloadCodec):
    """A user's own."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)


def test_only_the_default_payload_converter_is_replaced_and_a_codec_stays() -> None:
    codec = OwnCodec()
    taught = with_our_models(dataclasses.replace(DataConverter.default, payload_codec=codec))
    assert taught.payload_converter_class is PydanticPayloadConverter and taught.payload_codec is codec
    own = dataclasses.replace(DataConverter.default, payload_converter_class=OwnConverter)
    assert with_our_models(own) is own


def test_a_runner_without_a_sandbox_stays() -> None:
    runner = UnsandboxedWorkflowRunner()
    assert with_our_modules(runner) is runner


async def test_a_client_that_knows_our_models_stays(client: Client) -> None:
    assert with_our_converter(client) is client


async def test_the_plugin_registers_nothing(client: Client) -> None:
    """Roles stay apart: an agent's worker does no desktop's work."""
    config = HandoffPlugin().configure_worker({"client": client, "task_queue": "q"})
    assert not config.get("workflows") and not config.get("activities")


async def test_an_error_of_ours_that_leaves_a_workflow_keeps_its_code(client: Client) -> None:
    """B5: for whoever waits for the agent."""
    desktop = FakeDesktop(refuse={Activities.OPEN_BROWSER: ErrorCode.CHROMIUM_MISSING})
    async with (
        server_worker(client),
        desktop.serving(client, shared=True),
        Worker(client, task_queue="plugged", workflows=agents.ALL),
    ):
        await Handoffs.open(client, desktop)
        with pytest.raises(WorkflowFailureError) as failed:
            await client.execute_workflow(agents.Clicker.run, id=new_id("a"), task_queue="plugged")
    cause = failed.value.cause
    assert isinstance(cause, ApplicationError) and cause.type == ErrorCode.CHROMIUM_MISSING
