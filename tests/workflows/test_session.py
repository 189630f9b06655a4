"""Sessions and their messages."""

from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError

from tests.workflows.handoffs import OWNER, Handoffs
from user_handoff.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.failures import from_failure
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.session import (
    SCOPES_OF_A_HANDOFF,
    Message,
    MessageState,
    OpenSession,
    PostMessage,
    ResolveMessage,
    Scope,
    SessionView,
)
from user_handoff.workflows import session as session_module
from user_handoff.workflows.session import SessionWorkflow

Session = WorkflowHandle[SessionWorkflow, SessionView]


@pytest.fixture
def session(client: Client, handoffs: Handoffs) -> Session:
    return client.get_workflow_handle_for(SessionWorkflow.run, session_workflow_id(handoffs.session_id))


async def _refusal(session: Session, name: str, arg: object) -> HandoffError:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await session.execute_update(name, arg)
    error = from_failure(refused.value)
    assert error is not None
    return error


async def test_posting_an_id_again_changes_nothing(session: Session) -> None:
    """A4, A17: the message is its own receipt."""
    first = await session.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Sign in"))
    again = await session.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Something else"))
    await session.signal(Workflows.POST, PostMessage(message_id="m1", text="A third thing"))
    assert first == again == Message(message_id="m1", kind="todo", text="Sign in")
    assert [m.text for m in (await session.query(SessionWorkflow.view)).messages] == ["Sign in"]


async def test_a_message_is_resolved_by_an_explicit_act_alone_and_once(session: Session) -> None:
    """A20."""
    await session.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Sign in"))
    resolved = await session.execute_update(SessionWorkflow.resolve, ResolveMessage(message_id="m1"))
    assert resolved.state is MessageState.ANSWERED
    closing = ResolveMessage(message_id="m1", state=MessageState.CLOSED)
    assert (await session.execute_update(SessionWorkflow.resolve, closing)).state is MessageState.ANSWERED
    error = await _refusal(session, Workflows.RESOLVE, ResolveMessage(message_id="m2"))
    assert error.code is ErrorCode.MESSAGE_NOT_OPEN


async def test_no_handoff_begins_under_a_message_that_is_resolved(handoffs: Handoffs, session: Session) -> None:
    """A4."""
    message_id = await handoffs.post()
    await session.execute_update(SessionWorkflow.resolve, ResolveMessage(message_id=message_id))
    with pytest.raises(HandoffError) as refused:
        await handoffs.begin(message_id=message_id)
    assert refused.value.code is ErrorCode.MESSAGE_NOT_OPEN


async def test_no_handoff_begins_in_a_session_that_is_closed(handoffs: Handoffs, session: Session) -> None:
    """A4: it still tells what it was."""
    message_id = await handoffs.post()
    await session.execute_update(SessionWorkflow.close)
    assert (await session.result()).closed
    with pytest.raises(HandoffError) as refused:
        await handoffs.begin(message_id=message_id)
    assert refused.value.code is ErrorCode.SESSION_CLOSED


@pytest.mark.parametrize("missing", SCOPES_OF_A_HANDOFF)
async def test_no_handoff_begins_where_a_scope_is_missing(handoffs: Handoffs, missing: Scope) -> None:
    """A5: the refusal names it, and the desktop is not asked."""
    client = HandoffClient(handoffs.client)
    granted = tuple(scope for scope in Scope if scope is not missing)
    session = await client.open_session(new_id("s"), OWNER, granted)
    assert session.scopes == granted
    await client.post_message(session.session_id, PostMessage(message_id="m1", text="Sign in"))
    with pytest.raises(HandoffError) as refused:
        await client.begin(await handoffs.request(session_id=session.session_id, message_id="m1"))
    assert refused.value.code is ErrorCode.MISSING_SCOPE
    assert refused.value.details["missing"] == missing and missing in refused.value.what
    assert handoffs.desktop.calls == []


async def test_what_was_granted_is_neither_added_to_nor_lost(client: Client, handoffs: Handoffs) -> None:
    """A5: opening a session again grants nothing, and its next run has the same."""
    sessions = HandoffClient(client)
    session_id = new_id("s")
    await sessions.open_session(session_id, OWNER, (Scope.RUNTIME_READ,))
    assert (await sessions.open_session(session_id, OWNER)).scopes == (Scope.RUNTIME_READ,)
    session = client.get_workflow_handle(session_workflow_id(session_id))
    await handoffs.pad(session, Workflows.POST, PostMessage(message_id="m1", text="Sign in"))
    assert (await sessions.session(session_id)).scopes == (Scope.RUNTIME_READ,)
    await session.execute_update(SessionWorkflow.close)


async def test_no_handoff_begins_in_a_session_that_was_ended_by_force(handoffs: Handoffs, session: Session) -> None:
    """A4: it never said that it is closed."""
    message_id = await handoffs.post()
    await session.terminate()
    with pytest.raises(HandoffError) as refused:
        await handoffs.begin(message_id=message_id)
    assert refused.value.code is ErrorCode.SESSION_NOT_FOUND


@pytest.mark.parametrize("kind", ["question", "todo"])
async def test_a_handoff_begins_under_a_question_and_under_a_todo(handoffs: Handoffs, kind: Any) -> None:
    """A4."""
    message = PostMessage(message_id=new_id("m"), kind=kind, text="Sign in")
    await HandoffClient(handoffs.client).post_message(handoffs.session_id, message)
    handoff, receipt = await handoffs.begin(message_id=message.message_id)
    assert receipt.handoff_id.endswith(message.message_id)
    await handoff.close()


async def test_a_message_id_that_is_not_exact_names_nothing(handoffs: Handoffs) -> None:
    """A4."""
    message_id = await handoffs.post()
    for other in (message_id[:-1], message_id.upper(), f"{message_id}0"):
        with pytest.raises(HandoffError) as refused:
            await handoffs.begin(message_id=other)
        assert refused.value.code is ErrorCode.MESSAGE_NOT_OPEN


async def test_a_full_session_refuses_the_next_message(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """D4's kind: an old one is never pushed out."""
    monkeypatch.setattr(session_module, "MAX_MESSAGES", 2)
    for n in range(2):
        await session.execute_update(SessionWorkflow.post, PostMessage(message_id=f"m{n}", text="Sign in"))
    error = await _refusal(session, Workflows.POST, PostMessage(message_id="m2", text="Sign in"))
    assert error.code is ErrorCode.INVALID_REQUEST
    await session.signal(Workflows.POST, PostMessage(message_id="m3", text="Sign in"))
    assert [m.message_id for m in (await session.query(SessionWorkflow.view)).messages] == ["m0", "m1"]


async def test_what_a_session_carries_into_its_next_run_is_all_of_it(client: Client, handoffs: Handoffs) -> None:
    """The server forgets update ids when a run continues as new: the messages must not be forgotten with them."""
    message = Message(message_id="m1", kind="question", text="Which year?", state=MessageState.ANSWERED)
    session_id = new_id("s")
    carried = SessionView(session_id=session_id, owner="agent:test", closed=False, messages=(message,))
    session = await client.start_workflow(
        SessionWorkflow.run, carried, id=session_workflow_id(session_id), task_queue=SERVER_QUEUE
    )
    assert await session.query(SessionWorkflow.view) == carried
    again = await session.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Again"))
    assert again == message
    await session.execute_update(SessionWorkflow.close)


async def test_a_long_session_continues_as_new_and_keeps_its_messages(client: Client, handoffs: Handoffs) -> None:
    session_id = new_id("s")
    session = await client.start_workflow(
        SessionWorkflow.run,
        OpenSession(session_id=session_id, owner="agent:test"),
        id=session_workflow_id(session_id),
        task_queue=SERVER_QUEUE,
    )
    await session.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Sign in"))
    await handoffs.pad(session, Workflows.POST, PostMessage(message_id="m1", text="Sign in"))
    current = client.get_workflow_handle(session.id)
    again = await current.execute_update(SessionWorkflow.post, PostMessage(message_id="m1", text="Again"))
    assert again.text == "Sign in"
    assert (await current.describe()).run_id != session.first_execution_run_id
    await current.execute_update(SessionWorkflow.close)
