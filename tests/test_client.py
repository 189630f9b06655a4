"""The client, on a real server."""

import asyncio
import dataclasses
import socket
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.contrib.pydantic import PydanticPayloadConverter, pydantic_data_converter
from temporalio.converter import DataConverter, DefaultPayloadConverter, PayloadCodec
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import WorkflowEnvironment

from tests.cut_wire import CutWire
from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs, start_server
from user_handoff.client import HandoffClient, connect_temporal
from user_handoff.client.calls import ask
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, NotCompleted, OutcomeUnknown, SetupError, Stale
from user_handoff.contract.handoff import Answer, HandoffState, Reply, Result
from user_handoff.contract.ids import Association, new_id
from user_handoff.contract.session import PostMessage
from user_handoff.worker.server import server_worker

DONE = Reply(answer=Answer.DONE, by="alice")


@pytest.fixture(scope="module")
async def env() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture(scope="module")
async def handoffs(env: WorkflowEnvironment) -> AsyncIterator[Handoffs]:
    desktop = FakeDesktop()
    async with server_worker(env.client), desktop.serving(env.client):
        yield await Handoffs.open(env.client, desktop)


@pytest.fixture
def client(env: WorkflowEnvironment) -> HandoffClient:
    return HandoffClient(env.client, patience_seconds=20)


async def until_in(client: HandoffClient, handoff_id: str, state: HandoffState) -> None:
    await until(lambda: client.summary(handoff_id), 20, wanted=lambda now: now.state is state, what=state)


async def test_the_same_begin_returns_the_same_receipt(client: HandoffClient, handoffs: Handoffs) -> None:
    """A6, A7, A17."""
    request = await handoffs.request()
    first, second = await asyncio.gather(client.begin(request), client.begin(request))
    assert first == second and first.handoff_fence
    await client.close(request.handoff_id)
    assert await client.begin(request) == first


async def test_an_association_that_had_its_handoff_is_refused(client: HandoffClient, handoffs: Handoffs) -> None:
    """A18: begun by somebody else, ended, and begun again."""
    request = await handoffs.request()
    handoff = await handoffs.start(request)
    await until_in(client, handoff.id, HandoffState.HELD)
    await client.close(handoff.id)
    with pytest.raises(HandoffError) as caught:
        await client.begin(request)
    assert caught.value.code is ErrorCode.ASSOCIATION_USED and caught.value.do_next


async def test_a_refused_begin_is_typed(client: HandoffClient, handoffs: Handoffs) -> None:
    """A4."""
    with pytest.raises(HandoffError) as caught:
        await client.begin(await handoffs.request(message_id="m_unknown"))
    assert caught.value.code is ErrorCode.MESSAGE_NOT_OPEN


async def test_the_first_reply_stands_under_its_id(client: HandoffClient, handoffs: Handoffs) -> None:
    """K23, K24: the same id returns the same receipt, also after the end; another one is told what stands."""
    receipt = await client.begin(await handoffs.request())
    first = await client.reply(receipt.handoff_id, DONE, "r1")
    assert first.accepted and first == await client.reply(receipt.handoff_id, DONE, "r1")
    declined = Reply(answer=Answer.DECLINED)
    assert not (await client.reply(receipt.handoff_id, declined, "r2")).accepted
    await until_in(client, receipt.handoff_id, HandoffState.RECOVERING)
    handoffs.desktop.look(receipt.handoff_id)
    assert (await client.result(receipt.handoff_id)).result is Result.VERIFIED
    assert first == await client.reply(receipt.handoff_id, declined, "r1")
    late = await client.reply(receipt.handoff_id, declined, "r3")
    assert (late.accepted, late.answer, late.state) == (False, Answer.DONE, HandoffState.COMPLETED)


async def test_a_reply_before_the_hold_is_kept(client: HandoffClient, handoffs: Handoffs) -> None:
    """K22."""
    handoff = await handoffs.start()
    assert (await client.reply(handoff.id, DONE, "r1")).accepted
    await until_in(client, handoff.id, HandoffState.RECOVERING)


async def test_a_reply_nobody_can_use_any_more_is_refused(client: HandoffClient, handoffs: Handoffs) -> None:
    """K24."""
    receipt = await client.begin(await handoffs.request())
    await client.close(receipt.handoff_id)
    with pytest.raises(HandoffError) as caught:
        await client.reply(receipt.handoff_id, DONE, "r1")
    assert caught.value.code is ErrorCode.NOT_HELD


async def test_finish_needs_the_exact_fence(client: HandoffClient, handoffs: Handoffs) -> None:
    """A12, K09, K25: another handoff's fence changes nothing; the right one gives the same receipt twice."""
    receipt = await client.begin(await handoffs.request(finish_on_reply=False))
    other = await client.begin(await handoffs.request())
    with pytest.raises(Stale) as caught:
        await client.finish(receipt.handoff_id, other.handoff_fence)
    assert caught.value.code is ErrorCode.FENCE_MISMATCH
    finished = await client.finish(receipt.handoff_id, receipt.handoff_fence)
    assert all(page.needs_snapshot for page in finished.pages)
    assert finished == await client.finish(receipt.handoff_id, receipt.handoff_fence)
    assert (await client.summary(other.handoff_id)).state is HandoffState.HELD


async def test_no_fence_is_in_an_update_id(client: HandoffClient, handoffs: Handoffs) -> None:
    """B7: update ids are plain text, whatever codec is used."""
    receipt = await client.begin(await handoffs.request(finish_on_reply=False))
    await client.finish(receipt.handoff_id, receipt.handoff_fence)
    history = await client.temporal.get_workflow_handle(receipt.handoff_id).fetch_history()
    ids = [e.workflow_execution_update_accepted_event_attributes.protocol_instance_id for e in history.events]
    assert any(i.startswith("finish.") for i in ids)
    assert not any(receipt.handoff_fence in i for i in ids)


async def test_close_twice_tells_the_same(client: HandoffClient, handoffs: Handoffs) -> None:
    receipt = await client.begin(await handoffs.request())
    assert (await client.close(receipt.handoff_id)).state is HandoffState.CLOSED
    assert (await client.close(receipt.handoff_id)).state is HandoffState.CLOSED
    outcome = await client.result(receipt.handoff_id)
    with pytest.raises(NotCompleted):
        outcome.require_verified()


@pytest.mark.parametrize("handoff_id", ["handoff/b/s/m", "handoff/b", "session/s_1", ""])
async def test_an_unknown_handoff_is_gone(client: HandoffClient, handoff_id: str) -> None:
    for call in (client.summary, client.result, client.close):
        with pytest.raises(Gone) as caught:
            await call(handoff_id)
        assert caught.value.code is ErrorCode.UNKNOWN_HANDOFF
    with pytest.raises(Gone):
        await client.reply(handoff_id, DONE, "r1")


async def test_waiting_lists_what_nobody_has_answered(client: HandoffClient, handoffs: Handoffs) -> None:
    """F8: whatever visibility says late, an answered or ended handoff is not in it."""
    session = new_id("s")
    await client.open_session(session, "agent:test")
    own = Handoffs(handoffs.client, handoffs.desktop, session)
    receipts = [await client.begin(await own.request()) for _ in range(3)]
    await until(lambda: client.waiting(session_id=session), 20, wanted=lambda waiting: len(waiting) == 3)
    await client.reply(receipts[0].handoff_id, DONE, "r1")
    await client.close(receipts[1].handoff_id)
    assert [s.handoff_id for s in await client.waiting(session_id=session)] == [receipts[2].handoff_id]
    with pytest.raises(HandoffError, match="not an id"):
        await client.waiting(session_id="x' OR '1'='1")


async def test_waiting_leaves_out_what_a_person_is_too_late_for(client: HandoffClient, handoffs: Handoffs) -> None:
    """D1, F8: its browser stays held, so it goes on; no answer would count any more."""
    receipt = await client.begin(await handoffs.request(timeout_seconds=1))
    browser_id = Association.parse(receipt.handoff_id).browser_id
    await until(lambda: client.summary(receipt.handoff_id), wanted=lambda seen: seen.state is HandoffState.EXPIRED)
    assert await until(lambda: client.going_on(browser_id=browser_id))
    assert await client.waiting(browser_id=browser_id) == []
    await client.close(receipt.handoff_id)


async def test_a_session_takes_messages_once(client: HandoffClient, handoffs: Handoffs) -> None:
    session, message = new_id("s"), PostMessage(message_id=new_id("m"), text="Sign in")
    with pytest.raises(HandoffError) as caught:
        await client.post_message(session, message)
    assert caught.value.code is ErrorCode.SESSION_NOT_FOUND
    assert await client.open_session(session, "agent:a") == await client.open_session(session, "agent:a")
    assert await client.post_message(session, message) == await client.post_message(session, message)
    view = await client.session(session)
    assert view.owner == "agent:a" and [m.message_id for m in view.messages] == [message.message_id]


async def test_a_lost_receipt_is_asked_again_under_the_same_id(
    env: WorkflowEnvironment, client: HandoffClient, handoffs: Handoffs
) -> None:
    """A17, F3: the server took the answer, its receipt was lost, and the connection with it."""
    receipt = await client.begin(await handoffs.request())
    host, port = env.client.service_client.config.target_host.split(":")
    async with CutWire(host, int(port)).serving() as wire:
        far = HandoffClient(await connect_temporal(wire.address), patience_seconds=30)
        wire.mute = True
        replying = asyncio.create_task(far.reply(receipt.handoff_id, DONE, "r1"))
        await until(lambda: client.summary(receipt.handoff_id), 20, wanted=lambda now: now.answer)
        assert not replying.done()
        wire.mute = False
        wire.drop()
        assert (await replying).accepted


async def test_an_outage_is_bounded_and_says_what_to_do(
    env: WorkflowEnvironment, client: HandoffClient, handoffs: Handoffs
) -> None:
    """K12: a change may have been made; a look changed nothing."""
    receipt = await client.begin(await handoffs.request())
    host, port = env.client.service_client.config.target_host.split(":")
    async with CutWire(host, int(port)).serving() as wire:
        far = HandoffClient(await connect_temporal(wire.address), patience_seconds=0.5)
        wire.cut = True
        wire.drop()
        with pytest.raises(OutcomeUnknown, match="same call again"):
            await far.reply(receipt.handoff_id, DONE, "r1")
        with pytest.raises(SetupError) as caught:
            await far.summary(receipt.handoff_id)
        assert caught.value.code is ErrorCode.TEMPORAL_UNREACHABLE
        wire.cut = False
        assert (await far.within(20).reply(receipt.handoff_id, DONE, "r1")).accepted


async def test_an_outage_longer_than_the_library_waits_is_sat_out() -> None:
    """F10: the library gives up after about ten seconds; the same call is made again."""
    calls = []

    async def call() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise RPCError("down", RPCStatusCode.UNAVAILABLE, b"")
        return "up"

    assert await ask(call, "handoff/b/s/m", patience_seconds=20) == "up"
    assert len(calls) == 3


async def test_what_temporal_refuses_is_not_asked_again() -> None:
    calls = []

    async def call() -> str:
        calls.append(1)
        raise RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")

    with pytest.raises(SetupError, match="permission_denied"):
        await ask(call, "handoff/b/s/m", patience_seconds=20)
    assert len(calls) == 1


async def test_waiting_for_the_end_is_not_an_outage() -> None:
    """The outage is bounded from where it begins, however long the call had waited before."""
    calls = []

    async def call() -> str:
        calls.append(1)
        if len(calls) == 1:
            # Longer than the patience, and then the connection is lost.
            await asyncio.wait_for(asyncio.Event().wait(), 0.3)
        return "end"

    assert await ask(call, "handoff/b/s/m", patience_seconds=0.2, bounded=False) == "end"


async def test_without_a_worker_the_call_is_bounded(env: WorkflowEnvironment, handoffs: Handoffs) -> None:
    lonely = HandoffClient(env.client, task_queue="nobody", patience_seconds=0.5)
    with pytest.raises(OutcomeUnknown):
        await lonely.begin(await handoffs.request())


async def test_a_cancelled_call_ends_at_once(env: WorkflowEnvironment, handoffs: Handoffs) -> None:
    lonely = HandoffClient(env.client, task_queue="nobody", patience_seconds=60)
    begin = asyncio.create_task(lonely.begin(await handoffs.request()))
    await asyncio.wait([begin], timeout=0.3)
    begin.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await begin


async def test_the_environment_says_where_temporal_is(
    env: WorkflowEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", env.client.service_client.config.target_host)
    assert (await HandoffClient.connect()).temporal.namespace == "default"


@pytest.mark.parametrize("address", ["silent", "127.0.0.1:1", "nowhere.invalid:7233", "not an address"])
async def test_a_server_that_does_not_answer_is_said(address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        if address == "silent":
            address = f"127.0.0.1:{silent.getsockname()[1]}"
        async with asyncio.timeout(5):
            with pytest.raises(SetupError) as caught:
                await connect_temporal(address, timeout_seconds=0.5)
    assert caught.value.code is ErrorCode.TEMPORAL_UNREACHABLE
    assert address in caught.value.what and caught.value.do_next


async def test_a_missing_namespace_is_said(env: WorkflowEnvironment) -> None:
    with pytest.raises(SetupError, match="has no namespace 'nope'") as caught:
        await connect_temporal(env.client.service_client.config.target_host, "nope")
    assert caught.value.code is ErrorCode.NAMESPACE_MISSING


async def test_a_broken_configuration_file_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "temporal.toml"
    file.write_text("[profile.default\napi_key = 'tsk-secret'")
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(file))
    with pytest.raises(SetupError, match="configuration cannot be read") as caught:
        await connect_temporal()
    assert "tsk-secret" not in str(caught.value)


class Backwards(PayloadCodec):
    """Any codec."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload(metadata={"encoding": b"back"}, data=p.SerializeToString()[::-1]) for p in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload.FromString(p.data[::-1]) for p in payloads]


class Lossy(DefaultPayloadConverter):
    """A payload converter that forgets."""

    def to_payloads(self, values: Sequence[Any]) -> list[Payload]:
        return [Payload(metadata={"encoding": b"json/plain"}, data=b"{}") for _ in values]


class Derived(PydanticPayloadConverter):
    """A payload converter that goes on from the pydantic one."""


async def connected(env: WorkflowEnvironment, converter: DataConverter) -> Client:
    return await Client.connect(env.client.service_client.config.target_host, data_converter=converter)


async def test_a_plain_client_is_taught_our_models_and_keeps_its_codec(env: WorkflowEnvironment) -> None:
    plain = await connected(env, dataclasses.replace(DataConverter.default, payload_codec=Backwards()))
    used = HandoffClient(plain).temporal.data_converter
    assert used.payload_converter_class is PydanticPayloadConverter
    assert isinstance(used.payload_codec, Backwards)
    assert plain.data_converter.payload_converter_class is DefaultPayloadConverter


async def test_a_payload_converter_that_loses_our_models_is_refused(env: WorkflowEnvironment) -> None:
    lossy = await connected(env, DataConverter(payload_converter_class=Lossy))
    with pytest.raises(HandoffError, match=r"converter Lossy .* loses our models") as caught:
        HandoffClient(lossy)
    assert caught.value.code is ErrorCode.INVALID_REQUEST and "pydantic_data_converter" in caught.value.do_next


@pytest.mark.parametrize(
    "converter",
    [pydantic_data_converter, DataConverter(payload_converter_class=Derived)],
    ids=["pydantic", "derived"],
)
async def test_a_payload_converter_that_carries_our_models_stays(
    env: WorkflowEnvironment, converter: DataConverter
) -> None:
    client = await connected(env, converter)
    assert HandoffClient(client).temporal is client
