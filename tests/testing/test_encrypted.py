"""With the codec on, Temporal's server keeps nothing of what an agent, a page and a person say."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHistory
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DefaultFailureConverterWithEncodedAttributes
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import Replayer, Worker

from tests.testing import agents
from tests.testing.conftest import QUEUE
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.codec import KEYS_VARIABLE, EncryptionCodec, KeyRing
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Result
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.plugin import HandoffPlugin
from user_handoff.testing import Control, InMemoryDesktop, Page, ScriptedPerson

CANARY = "canary7f3a"
OLD = KeyRing.generate("old")
NEW = KeyRing.parse(f"{KeyRing.generate('new').text},{OLD.text}")

LOGIN = Page("https://portal.example/login", [Control("textbox", "Password")], title=CANARY)
HOME = Page("https://portal.example/home", [Control("heading", CANARY)], behind=LOGIN)


async def connected(client: Client, keys: KeyRing | None) -> Client:
    codec = None if keys is None else EncryptionCodec(keys)
    return await Client.connect(client.service_client.config.target_host, plugins=[HandoffPlugin(codec=codec)])


@contextlib.asynccontextmanager
async def told(client: Client) -> AsyncIterator[InMemoryDesktop]:
    person = ScriptedPerson("could_not", note=CANARY)
    async with (
        InMemoryDesktop(client, pages=[HOME], person=person) as desktop,
        Worker(client, task_queue=QUEUE, workflows=agents.ALL, activities=[agents.fail]),
    ):
        yield desktop


async def history_of(client: Client, workflow_id: str) -> bytes:
    """All that the server keeps of a workflow, as it is on the wire."""
    request = GetWorkflowExecutionHistoryRequest(
        namespace=client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
    )
    return (await client.workflow_service.get_workflow_execution_history(request)).SerializeToString()


async def run_teller(client: Client) -> str:
    """Run an agent that says it everywhere, and fails with it; the id of its workflow."""
    name = new_id("a")
    with pytest.raises(WorkflowFailureError) as failed:
        await client.execute_workflow(agents.Teller.run, CANARY, id=name, task_queue=QUEUE)
    assert isinstance(failed.value.cause, ApplicationError) and CANARY in str(failed.value.cause)
    assert isinstance(failed.value.cause.cause, ActivityError) and CANARY in str(failed.value.cause.cause.cause)
    return name


async def test_no_history_has_what_was_said(client: Client) -> None:
    """E10, B7: inputs, results, a page, a person's note, the messages and the traces of errors."""
    encrypting = await connected(client, OLD)
    async with told(encrypting) as desktop:
        agent_id = await run_teller(encrypting)
        (asked,) = desktop.asked
        outcome = await HandoffClient(encrypting).result(asked.handoff_id)
    assert CANARY in asked.instructions and (outcome.result, outcome.note) == (Result.FAILED, CANARY)
    session_id = session_workflow_id(asked.handoff_id.split("/")[2])
    for workflow_id in (agent_id, asked.handoff_id, session_id):
        kept = await history_of(client, workflow_id)
        assert CANARY.encode() not in kept, workflow_id
        assert len(kept) > 1_000 and b"binary/encrypted" in kept


async def test_without_the_codec_the_same_histories_have_it(client: Client) -> None:
    """What the test before looks for would be found."""
    plain = await connected(client, None)
    async with told(plain) as desktop:
        agent_id = await run_teller(plain)
    for workflow_id in (agent_id, desktop.asked[0].handoff_id):
        assert CANARY.encode() in await history_of(client, workflow_id)


async def test_a_workflow_goes_on_over_a_rotation_of_the_key(client: Client) -> None:
    """E10."""
    before, after = await connected(client, OLD), await connected(client, NEW)
    async with told(before):
        agent_id = await run_teller(before)
    history = WorkflowHistory.from_json(
        agent_id, (await before.get_workflow_handle(agent_id).fetch_history()).to_json()
    )
    replayer = Replayer(workflows=agents.ALL, plugins=[HandoffPlugin(codec=EncryptionCodec(NEW))])
    await replayer.replay_workflow(history)
    with pytest.raises(WorkflowFailureError) as failed:
        await after.get_workflow_handle(agent_id).result()
    assert CANARY in str(failed.value.cause)


async def test_a_client_with_another_key_is_told_so_by_a_code(client: Client) -> None:
    encrypting, other = await connected(client, OLD), await connected(client, KeyRing.generate("other"))
    async with told(encrypting) as desktop:
        await run_teller(encrypting)
        with pytest.raises(HandoffError) as caught:
            await HandoffClient(other).summary(desktop.asked[0].handoff_id)
    assert caught.value.code is ErrorCode.CODEC_KEY_UNKNOWN


async def test_what_connects_by_the_environment_encrypts_by_its_keys(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E10: so do `handoff server`, `handoff runner` and every other command."""
    monkeypatch.setenv(KEYS_VARIABLE, OLD.text)
    connected = await connect_temporal(client.service_client.config.target_host)
    assert isinstance(connected.data_converter.payload_codec, EncryptionCodec)
    assert connected.data_converter.payload_codec.keys == OLD
    assert connected.data_converter.payload_converter_class is PydanticPayloadConverter
    assert connected.data_converter.failure_converter_class is DefaultFailureConverterWithEncodedAttributes
