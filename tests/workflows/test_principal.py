"""Which session is meant by `current`, on a real server."""

from collections.abc import Awaitable

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import BeginReceipt
from user_handoff.contract.ids import Association, new_id, principal_workflow_id, session_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.session import CURRENT, PostMessage, SessionChange
from user_handoff.worker.server import server_worker
from user_handoff.workflows import principal as principal_module
from user_handoff.workflows.principal import Carried, PrincipalWorkflow


class Principal:
    """A principal of its own, with sessions."""

    def __init__(self, handoffs: Handoffs) -> None:
        self.client = HandoffClient(handoffs.client, patience_seconds=20)
        self.owner = new_id("agent")
        self._handoffs = handoffs

    async def open(self) -> str:
        return (await self.client.open_session(new_id("s"), self.owner)).session_id

    async def close(self, session_id: str) -> None:
        session = self.client.temporal.get_workflow_handle(session_workflow_id(session_id))
        await session.signal(Workflows.CLOSE)
        await session.result()

    async def current(self, key: str | None = None) -> str:
        return await self.client.exact_session(CURRENT, self.owner, key or new_id("m"))

    async def post(self) -> str:
        message = PostMessage(message_id=new_id("m"), text="Sign in")
        return (await self.client.post_message(CURRENT, message, owner=self.owner)).message_id

    async def begin(self, message_id: str, **more: object) -> BeginReceipt:
        request = await self._handoffs.request(
            **{"session_id": CURRENT, "message_id": message_id, "owner": self.owner, **more}
        )
        return await self.client.begin(request)


@pytest.fixture
def principal(handoffs: Handoffs) -> Principal:
    return Principal(handoffs)


async def _code(call: Awaitable[object]) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        await call
    assert refused.value.holds and refused.value.do_next
    return refused.value.code


async def test_current_is_the_newest_open_session_as_soon_as_it_is_opened(principal: Principal) -> None:
    """A4: nothing lags; when one ends, it is the one before."""
    sessions = []
    for _ in range(3):
        sessions.append(await principal.open())
        assert await principal.current() == sessions[-1]
    await principal.client.open_session(sessions[0], principal.owner)
    assert await principal.current() == sessions[2], "opening an open session again makes it no newer"
    await principal.close(sessions[2])
    await principal.close(sessions[0])
    assert await principal.current() == sessions[1]
    await principal.close(sessions[1])
    assert await _code(principal.current()) is ErrorCode.SESSION_NOT_FOUND


async def test_a_principal_that_never_opened_a_session_has_none(principal: Principal) -> None:
    """A4."""
    assert await _code(principal.current()) is ErrorCode.SESSION_NOT_FOUND
    assert await _code(principal.begin("m1")) is ErrorCode.SESSION_NOT_FOUND


async def test_no_principal_reaches_the_session_of_another_by_current(principal: Principal, handoffs: Handoffs) -> None:
    """A4: it is resolved by the caller's own name, before the owner is checked."""
    other = Principal(handoffs)
    await principal.open()
    await other.open()
    message_id = await principal.post()
    assert await _code(other.begin(message_id)) is ErrorCode.MESSAGE_NOT_OPEN
    assert await _code(principal.client.exact_session(CURRENT, None, "m")) is ErrorCode.INVALID_REQUEST


async def test_no_session_can_be_called_current(principal: Principal) -> None:
    assert await _code(principal.client.open_session(CURRENT, principal.owner)) is ErrorCode.INVALID_REQUEST


async def test_a_handoff_begins_in_the_exact_session_and_again_there_when_another_is_newer(
    principal: Principal, handoffs: Handoffs
) -> None:
    """A4, A7, A17: a lost receipt is asked for again by the same words, whatever was opened meanwhile."""
    session_id = await principal.open()
    message_id, browser_id = await principal.post(), new_id("b")
    receipt = await principal.begin(message_id, browser_id=browser_id)
    assert receipt.handoff_id == Association(browser_id, session_id, message_id).handoff_id
    newer = await principal.open()
    assert await principal.begin(message_id, browser_id=browser_id) == receipt
    assert await principal.current(message_id) == session_id
    assert await principal.current() == newer
    await principal.client.close(receipt.handoff_id)


@pytest.mark.parametrize("ended", ["closed", "terminated"])
async def test_no_handoff_begins_in_a_current_session_that_ended_after_the_message(
    principal: Principal, handoffs: Handoffs, ended: str
) -> None:
    """A4: one that was ended by force never said that it is closed, and counts as gone."""
    session_id = await principal.open()
    message_id = await principal.post()
    if ended == "closed":
        await principal.close(session_id)
    else:
        await handoffs.client.get_workflow_handle(session_workflow_id(session_id)).terminate()
    expected = ErrorCode.SESSION_CLOSED if ended == "closed" else ErrorCode.SESSION_NOT_FOUND
    assert await _code(principal.begin(message_id)) is expected
    assert handoffs.desktop.calls == []


async def test_a_principal_carries_its_sessions_and_answers_into_its_next_run(
    principal: Principal, handoffs: Handoffs
) -> None:
    """A17: the server forgets update ids when a run continues as new; the answers must not be forgotten with them."""
    session_id = await principal.open()
    assert await principal.current("m1") == session_id
    entity = handoffs.client.get_workflow_handle(principal_workflow_id(principal.owner))
    change = SessionChange(owner=principal.owner, session_id=session_id, open=True)
    await handoffs.pad(entity, Workflows.TELL, change)
    newer = await principal.open()
    assert await principal.current("m1") == session_id
    assert await principal.current() == newer


async def test_a_late_word_opens_no_ended_session_again(client: Client, handoffs: Handoffs) -> None:
    owner, session_id = new_id("agent"), new_id("s")
    entity = await client.start_workflow(
        PrincipalWorkflow.run, id=principal_workflow_id(owner), task_queue=SERVER_QUEUE
    )
    for is_open in (True, False, True):
        await entity.signal(Workflows.TELL, SessionChange(owner=owner, session_id=session_id, open=is_open))
    asked = HandoffClient(client).exact_session(CURRENT, owner, "m1")
    assert await _code(asked) is ErrorCode.SESSION_NOT_FOUND
    await entity.terminate()


async def test_what_a_principal_keeps_is_bounded(
    client: Client, handoffs: Handoffs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions that ended are given up before open ones."""
    monkeypatch.setattr(principal_module, "MAX_SESSIONS", 2)
    monkeypatch.setattr(principal_module, "MAX_ANSWERS", 2)
    owner = new_id("agent")
    carried = Carried(sessions={"s1": True, "s2": False}, answers={"m1": "s1", "m2": "s1"})
    entity = await client.start_workflow(
        PrincipalWorkflow.run, carried, id=principal_workflow_id(owner), task_queue=SERVER_QUEUE
    )
    asks = HandoffClient(client)
    await entity.signal(Workflows.TELL, SessionChange(owner=owner, session_id="s3", open=True))
    assert [await asks.exact_session(CURRENT, owner, key) for key in ("m2", "m3")] == ["s1", "s3"]
    await entity.signal(Workflows.TELL, SessionChange(owner=owner, session_id="s3", open=False))
    assert [await asks.exact_session(CURRENT, owner, key) for key in ("m4", "m3", "m2")] == ["s1", "s3", "s1"]
    await entity.terminate()


async def test_an_agent_asks_in_the_session_that_another_opened(client: Client) -> None:
    """A4: `Session.current` of the agent's own API, also without a cached workflow."""
    desktop = FakeDesktop()
    async with (
        server_worker(client, max_cached_workflows=0),
        desktop.serving(client, shared=True),
        Worker(client, task_queue="agents", workflows=agents.ALL, max_cached_workflows=0),
    ):
        principal = Principal(await Handoffs.open(client, desktop))
        assert await client.execute_workflow(
            agents.Guest.run, principal.owner, id=new_id("a"), task_queue="agents"
        ) == ["session_not_found"]
        session_id = await principal.open()
        agent = await client.start_workflow(agents.Guest.run, principal.owner, id=new_id("a"), task_queue="agents")
        (handoff_id, state, refused) = await agent.result()
        assert Association.parse(handoff_id).session_id == session_id
        assert [spec.session_id for spec in desktop.opened.values()] == [session_id]
        assert (state, refused) == ("closed", "invalid_request")
        assert (await principal.client.session(session_id)).closed
