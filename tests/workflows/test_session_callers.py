"""Whom a session lets in, what it is asked in text, and what it carries on, on a real server."""

from collections.abc import Awaitable
from datetime import UTC, datetime

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from tests.workflows import agents
from tests.workflows.agents import WALL
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import OWNER, Handoffs
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.contract.access import AuditBatch, AuditEntry, GrantView
from user_handoff.contract.boundary import Boundary, Category
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import Result
from user_handoff.contract.ids import new_id, session_workflow_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.session import MessageState, PostMessage, ReplyMessage, SessionView
from user_handoff.worker.server import server_worker
from user_handoff.workflows.session import SessionWorkflow

Session = WorkflowHandle[SessionWorkflow, SessionView]


@pytest.fixture
def session(client: Client, handoffs: Handoffs) -> Session:
    return client.get_workflow_handle_for(SessionWorkflow.run, session_workflow_id(handoffs.session_id))


@pytest.fixture
def asks(client: Client) -> HandoffClient:
    return HandoffClient(client, patience_seconds=30)


@pytest.fixture
def access(asks: HandoffClient) -> Access:
    return Access(asks, patience_seconds=30, fresh_seconds=0)


async def code(call: Awaitable[object]) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        await call
    return refused.value.code


async def verified(handoffs: Handoffs, boundary: Boundary | None) -> Result:
    handoff, _ = await handoffs.begin(boundary=boundary)
    return (await handoffs.finished(handoff)).result


# --- the auth context ---


async def test_a_grant_from_before_a_sign_in_is_refused_after_it_until_issued_again(
    handoffs: Handoffs, access: Access
) -> None:
    """C3."""
    token, before = await access.issue_grant(handoffs.session_id, OWNER)
    assert await verified(handoffs, WALL) is Result.VERIFIED
    assert await code(access.grant(token)) is ErrorCode.AUTH_CONTEXT_CHANGED
    again, after = await access.issue_grant(handoffs.session_id, OWNER)
    assert (await access.grant(again)).auth_version == after.auth_version == before.auth_version + 1
    assert "signed in 1" in [entry.action for entry in await access.read_audit(handoffs.session_id)]


@pytest.mark.parametrize("category", [None, *(c for c in Category if c is not Category.AUTHENTICATION)])
async def test_another_step_leaves_grants_as_they_are(
    handoffs: Handoffs, access: Access, category: Category | None
) -> None:
    """C3: nobody signed in."""
    token, _ = await access.issue_grant(handoffs.session_id, OWNER)
    boundary = WALL.model_copy(update={"category": category}) if category else None
    assert await verified(handoffs, boundary) is Result.VERIFIED
    assert (await access.grant(token)).auth_version == 0


async def test_a_sign_in_that_was_not_seen_leaves_grants_as_they_are(handoffs: Handoffs, access: Access) -> None:
    """C3, K20."""
    token, _ = await access.issue_grant(handoffs.session_id, OWNER)
    handoffs.desktop.met = False
    assert await verified(handoffs, WALL) is Result.NOT_VERIFIED
    assert (await access.grant(token)).auth_version == 0


async def test_a_sign_in_for_a_session_that_was_closed_meanwhile_ends_verified_all_the_same(
    handoffs: Handoffs, asks: HandoffClient
) -> None:
    handoff, _ = await handoffs.begin(boundary=WALL)
    await asks.close_session(handoffs.session_id)
    assert (await handoffs.finished(handoff)).verified


# --- what is carried on ---


async def test_a_session_carries_grants_receipts_and_audit_into_its_next_run(
    handoffs: Handoffs, session: Session, asks: HandoffClient, access: Access
) -> None:
    """A17, C8: the server forgets update ids when a run continues as new; nothing may be forgotten with them."""
    message = await asks.post_message(handoffs.session_id, PostMessage(message_id="m1", text="Sign in"))
    reply = ReplyMessage(message_id="m1", text="Later", by="Ada")
    replied = await asks.reply_message(handoffs.session_id, reply)
    token, issued = await access.issue_grant(handoffs.session_id, OWNER)
    gone, _ = await access.issue_grant(handoffs.session_id, OWNER)
    await access.revoke_grant(gone)
    await verified(handoffs, WALL)
    fresh, after = await access.issue_grant(handoffs.session_id, OWNER)
    entry = AuditEntry(at=datetime.now(UTC), who="a", tool="t", action="click", outcome="completed")
    batch = AuditBatch(batch_id="b1", entries=(entry,))
    await session.signal(Workflows.AUDIT, batch)
    before = (await session.query(SessionWorkflow.view), await session.query(SessionWorkflow.access))
    calls = await access.read_audit(handoffs.session_id)

    await handoffs.pad(session, Workflows.AUDIT, batch)

    assert (await session.query(SessionWorkflow.view), await session.query(SessionWorkflow.access)) == before
    assert await access.read_audit(handoffs.session_id) == calls, "a batch is noted once"
    assert await asks.post_message(handoffs.session_id, PostMessage(message_id="m1", text="Else")) == replied
    assert replied == message.model_copy(update={"reply": reply})
    assert await access.grant(fresh) == after
    assert await code(access.grant(token)) is ErrorCode.AUTH_CONTEXT_CHANGED
    assert await code(access.grant(gone)) is ErrorCode.GRANT_REVOKED
    assert issued.auth_version < after.auth_version


async def test_a_session_takes_no_more_grants_than_it_can_and_keeps_those_it_has(
    handoffs: Handoffs, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K83: bounded, and none is pushed out."""
    monkeypatch.setattr("user_handoff.workflows.grants.MAX_GRANTS", 2)
    monkeypatch.setattr("user_handoff.workflows.grants.MAX_ENDED", 1)
    tokens = [(await access.issue_grant(handoffs.session_id, OWNER))[0] for _ in range(2)]
    assert await code(access.issue_grant(handoffs.session_id, OWNER)) is ErrorCode.INVALID_REQUEST
    assert [(await access.grant(token)).revoked for token in tokens] == [False, False]
    for token in tokens:
        await access.revoke_grant(token)
    await access.issue_grant(handoffs.session_id, OWNER)
    assert await code(access.grant(tokens[0])) is ErrorCode.GRANT_UNKNOWN
    assert await code(access.grant(tokens[1])) is ErrorCode.GRANT_REVOKED


async def test_every_change_makes_another_version_and_what_changes_nothing_does_not(
    handoffs: Handoffs, asks: HandoffClient, access: Access
) -> None:
    """C1."""
    session_id = handoffs.session_id
    versions = [(await asks.session(session_id)).version]

    async def changed(call: Awaitable[object]) -> int:
        await call
        versions.append((await asks.session(session_id)).version)
        return versions[-1] - versions[-2]

    post = PostMessage(message_id="m1", text="Sign in")
    assert await changed(asks.post_message(session_id, post)) == 1
    assert await changed(asks.post_message(session_id, post)) == 0
    assert await changed(access.issue_grant(session_id, OWNER)) == 0
    assert await changed(asks.reply_message(session_id, ReplyMessage(message_id="m1", text="Yes"))) == 1
    assert await changed(asks.resolve_message(session_id, "m1")) == 1
    assert await changed(asks.resolve_message(session_id, "m1", MessageState.CLOSED)) == 0


# --- replies ---


async def test_the_first_reply_to_a_message_stands_and_resolves_nothing(
    handoffs: Handoffs, asks: HandoffClient
) -> None:
    """A20, K23."""
    message_id = await handoffs.post()
    first = await asks.reply_message(handoffs.session_id, ReplyMessage(message_id=message_id, text="Yes", by="Ada"))
    second = await asks.reply_message(handoffs.session_id, ReplyMessage(message_id=message_id, text="No", by="Bob"))
    assert first == second and first.reply is not None and first.reply.text == "Yes"
    assert first.state is MessageState.OPEN


async def test_what_is_not_open_takes_no_reply(handoffs: Handoffs, asks: HandoffClient) -> None:
    message_id = await handoffs.post()
    await asks.resolve_message(handoffs.session_id, message_id)
    for which in (message_id, "m_none"):
        reply = ReplyMessage(message_id=which, text="Yes")
        assert await code(asks.reply_message(handoffs.session_id, reply)) is ErrorCode.MESSAGE_NOT_OPEN


async def test_a_session_that_is_closed_again_stays_closed(handoffs: Handoffs, asks: HandoffClient) -> None:
    assert (await asks.close_session(handoffs.session_id)).closed
    assert (await asks.close_session(handoffs.session_id)).closed
    assert await code(asks.close_session("s_none")) is ErrorCode.SESSION_NOT_FOUND


# --- questions that ask for a secret ---

SECRET = PostMessage(message_id="m_secret", kind="question", text="What is your password?")


async def test_a_question_that_asks_for_a_secret_is_refused_and_points_to_the_handoff(
    handoffs: Handoffs, asks: HandoffClient
) -> None:
    """E10."""
    with pytest.raises(HandoffError) as refused:
        await asks.post_message(handoffs.session_id, SECRET)
    assert refused.value.code is ErrorCode.SECRET_QUESTION
    assert "hand the browser over" in refused.value.do_next
    assert (await asks.session(handoffs.session_id)).messages == ()


async def test_a_signal_posts_no_question_that_asks_for_a_secret(
    handoffs: Handoffs, session: Session, asks: HandoffClient
) -> None:
    """E10: nor does anybody who has Temporal alone."""
    await session.signal(Workflows.POST, SECRET)
    await session.signal(Workflows.POST, PostMessage(message_id="m1", text="Sign in"))
    assert [m.message_id for m in (await session.query(SessionWorkflow.view)).messages] == ["m1"]


@pytest.mark.parametrize("cached", [1000, 0])
async def test_an_agents_workflow_that_asks_for_a_secret_is_refused(client: Client, cached: int) -> None:
    """E10."""
    async with (
        server_worker(client, max_cached_workflows=cached),
        FakeDesktop().serving(client, shared=True),
        Worker(client, task_queue="agents", workflows=agents.ALL, max_cached_workflows=cached),
    ):
        said = await client.execute_workflow(agents.Nosy.run, id=new_id("a"), task_queue="agents")
    assert said == "secret_question"


def test_the_view_of_a_grant_can_be_told_to_anyone() -> None:
    assert not {"sha256", "token"} & set(GrantView.model_fields)


async def test_the_audit_can_be_read_after_a_session_has_ended(
    handoffs: Handoffs, session: Session, asks: HandoffClient, access: Access
) -> None:
    """C8: and calls that come too late harm nothing."""
    entry = AuditEntry(at=datetime.now(UTC), who="a", tool="t", action="click", outcome="completed")
    await access.audit(handoffs.session_id, entry)
    await access.flush_audit()
    await asks.close_session(handoffs.session_id)
    await session.result()
    await access.audit(handoffs.session_id, entry)
    assert len(await access.read_audit(handoffs.session_id)) == 1
