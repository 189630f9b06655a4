"""Keys, grants and the audit, on a real server."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.waiting import until
from tests.workflows.handoffs import start_server
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.client.fresh import Fresh
from user_handoff.contract.access import AUDIT_KEPT, AuditEntry, GrantView
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import KEYS_WORKFLOW_ID, new_id, session_workflow_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.session import PostMessage, Scope
from user_handoff.worker.server import server_worker

OWNER = "agent:access"
MAKES = "agent:makes"


@pytest.fixture(scope="module")
async def env() -> AsyncIterator[WorkflowEnvironment]:
    env = await start_server()
    yield env
    await env.shutdown()


@pytest.fixture(scope="module")
async def client(env: WorkflowEnvironment) -> AsyncIterator[HandoffClient]:
    async with server_worker(env.client):
        yield HandoffClient(env.client, patience_seconds=30)


@pytest.fixture
async def access(client: HandoffClient) -> AsyncIterator[Access]:
    """The access of one process."""
    access = Access(client, patience_seconds=30)
    yield access
    await access.aclose()


@pytest.fixture
async def elsewhere(client: HandoffClient) -> AsyncIterator[Access]:
    """The access of another process."""
    access = Access(client, patience_seconds=30)
    yield access
    await access.aclose()


@pytest.fixture
async def session_id(client: HandoffClient) -> str:
    return (await client.open_session(new_id("s"), OWNER)).session_id


async def code(call: Awaitable[object]) -> ErrorCode:
    with pytest.raises(HandoffError) as refused:
        await call
    return refused.value.code


async def refused_within(seconds: float, call: Callable[[], Awaitable[object]], expected: ErrorCode) -> None:
    """Ask until it is refused, and not for longer than this after now."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    while True:
        asked = clock()
        try:
            await call()
        except HandoffError as error:
            assert error.code is expected
            return
        assert asked < deadline, "still let in"
        await asyncio.sleep(0.02)


def entry(number: int, **more: Any) -> AuditEntry:
    fields = {"at": datetime.now(UTC), "who": "grant g1", "tool": "control_browser", "action": f"click {number}"}
    return AuditEntry.model_validate({**fields, "outcome": "completed", **more})


# --- keys ---


async def test_a_key_names_its_principal_and_its_scopes(access: Access) -> None:
    key = await access.create_key("agent:k", [Scope.BROWSER_CONTROL, Scope.BROWSER_CONTROL])
    principal = await access.principal(key)
    assert (principal.name, principal.scopes) == ("agent:k", (Scope.BROWSER_CONTROL,))
    assert key.startswith(f"hk_{principal.key_id}.") and len(key.split(".")[1]) >= 32
    assert principal.key_id in [view.key_id for view in await access.list_keys()]


async def test_a_key_is_kept_nowhere_but_as_its_hash(env: WorkflowEnvironment, access: Access) -> None:
    secret = (await access.create_key("agent:k", [])).split(".")[1]
    history = await env.client.get_workflow_handle(KEYS_WORKFLOW_ID).fetch_history()
    assert secret not in history.to_json()
    assert secret not in repr(await access.list_keys())


async def test_a_revoked_key_lets_nobody_in_within_a_second_in_every_process(access: Access, elsewhere: Access) -> None:
    key = await access.create_key("agent:k", [])
    key_id = (await elsewhere.principal(key)).key_id
    first = await access.revoke_key(key_id)
    assert await code(access.principal(key)) is ErrorCode.UNAUTHORIZED
    await refused_within(1.1, lambda: elsewhere.principal(key), ErrorCode.UNAUTHORIZED)
    assert await access.revoke_key(key_id) == first, "it was revoked once"


@pytest.mark.parametrize("forge", ["", "hk_", "hk_k.x", "hg_{id}.{secret}", "hk_{id}.{other}", "hk_k_other.{secret}"])
async def test_no_other_words_are_a_key(access: Access, forge: str) -> None:
    """D2: one answer, whatever is wrong."""
    key_id, _, secret = (await access.create_key("agent:k", [])).removeprefix("hk_").partition(".")
    forged = forge.format(id=key_id, secret=secret, other="A" * 43)
    assert await code(access.principal(forged)) is ErrorCode.UNAUTHORIZED


async def test_what_is_no_key_cannot_be_made_or_revoked(access: Access) -> None:
    await access.create_key("agent:k", [])
    assert await code(access.create_key("", [])) is ErrorCode.INVALID_REQUEST
    assert await code(access.revoke_key("k_none")) is ErrorCode.INVALID_REQUEST
    assert await code(access.revoke_key("k/none")) is ErrorCode.INVALID_REQUEST


async def test_without_any_key_nobody_is_let_in() -> None:
    env = await start_server()
    try:
        access = Access(HandoffClient(env.client), patience_seconds=10)
        assert await access.list_keys() == ()
        assert await code(access.principal(f"hk_k_1.{'A' * 43}")) is ErrorCode.UNAUTHORIZED
        assert await code(access.revoke_key("k_1")) is ErrorCode.INVALID_REQUEST
    finally:
        await env.shutdown()


async def test_three_hundred_forged_keys_cost_few_questions_and_no_memory(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K83: nothing is made or kept for them, and live ones are untouched."""
    key = await access.create_key(MAKES, [])
    asked = []
    ask = access._all_keys

    async def counted() -> Any:
        asked.append(1)
        return await ask()

    monkeypatch.setattr(access, "_all_keys", counted)
    await access.principal(key)
    clock = asyncio.get_running_loop().time
    tracemalloc.start()
    began, before = clock(), tracemalloc.get_traced_memory()[0]
    forged = (code(access.principal(f"hk_k_{number}.{'A' * 43}")) for number in range(300))
    assert set(await asyncio.gather(*forged)) == {ErrorCode.UNAUTHORIZED}
    took = clock() - began
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(asked) <= took * 10 + 2
    assert grown < 500_000
    assert (await access.principal(key)).name == MAKES


# --- grants ---


async def test_a_grant_says_what_it_allows(access: Access, elsewhere: Access, session_id: str) -> None:
    """C1."""
    token, issued = await access.issue_grant(
        session_id, OWNER, capabilities=["observe_browser"], projections=["page.url"], expires_in_seconds=60
    )
    assert await access.grant(token) == issued == await elsewhere.grant(token)
    assert (issued.capabilities, issued.projections) == (("observe_browser",), ("page.url",))
    assert 0 < (issued.expires_at - datetime.now(UTC)).total_seconds() <= 61
    assert len(token.split(".")[1]) * 6 >= 192


async def test_a_grant_lasts_fifteen_minutes_and_allows_all_unless_it_says_otherwise(
    access: Access, session_id: str
) -> None:
    """C1."""
    _, issued = await access.issue_grant(session_id, OWNER)
    assert 890 < (issued.expires_at - datetime.now(UTC)).total_seconds() <= 901
    assert issued.capabilities == "all"


async def test_a_token_is_kept_nowhere_but_as_its_hash(
    env: WorkflowEnvironment, access: Access, session_id: str
) -> None:
    """C1."""
    token, issued = await access.issue_grant(session_id, OWNER)
    history = await env.client.get_workflow_handle(session_workflow_id(session_id)).fetch_history()
    assert token.split(".")[1] not in history.to_json()
    assert issued.grant_id in json.dumps([view.grant_id for view in await access.grants(session_id)])


async def test_a_revoked_grant_is_refused_within_a_second_in_every_process(
    access: Access, elsewhere: Access, session_id: str
) -> None:
    """C1, C2."""
    token, _ = await access.issue_grant(session_id, OWNER)
    await elsewhere.grant(token)
    assert (await access.revoke_grant(token)).revoked
    assert await code(access.grant(token)) is ErrorCode.GRANT_REVOKED
    await refused_within(1.1, lambda: elsewhere.grant(token), ErrorCode.GRANT_REVOKED)
    assert (await access.revoke_grant(token)).revoked


async def test_a_revoked_key_ends_the_grants_that_were_issued_with_it_and_no_other(
    access: Access, elsewhere: Access, session_id: str
) -> None:
    """C1: within a second, in every process."""
    key = await access.create_key(OWNER, [])
    other = await access.create_key(OWNER, [])
    token, issued = await access.issue_grant(session_id, OWNER, key=key)
    stay = [(await access.issue_grant(session_id, OWNER, key=with_key))[0] for with_key in (other, None)]
    assert await elsewhere.grant(token) == issued
    assert issued.key_id is not None
    await access.revoke_key(issued.key_id)
    assert await code(access.grant(token)) is ErrorCode.GRANT_REVOKED
    assert await code(access.standing_grant(session_id, issued.grant_id)) is ErrorCode.GRANT_REVOKED
    await refused_within(1.1, lambda: elsewhere.grant(token), ErrorCode.GRANT_REVOKED)
    for each in stay:
        assert not (await elsewhere.grant(each)).revoked
    assert [view.revoked for view in await access.grants(session_id)] == [True, False, False]


async def test_a_grant_is_issued_with_a_valid_key_of_the_owner_alone(access: Access, session_id: str) -> None:
    """A5, C1."""
    theirs = await access.create_key("agent:other", [])
    assert await code(access.issue_grant(session_id, OWNER, key=theirs)) is ErrorCode.NOT_OWNER
    mine = await access.create_key(OWNER, [])
    await access.revoke_key((await access.principal(mine)).key_id)
    assert await code(access.issue_grant(session_id, OWNER, key=mine)) is ErrorCode.UNAUTHORIZED
    assert await access.grants(session_id) == ()


async def test_a_grant_that_was_issued_a_moment_ago_is_known_in_every_process(
    access: Access, elsewhere: Access, session_id: str
) -> None:
    first, _ = await access.issue_grant(session_id, OWNER)
    await elsewhere.grant(first)
    second, view = await access.issue_grant(session_id, OWNER)
    assert (await elsewhere.grant(second)).grant_id == view.grant_id


async def test_a_grant_is_revoked_by_its_id_too(access: Access, session_id: str) -> None:
    token, issued = await access.issue_grant(session_id, OWNER)
    await access.revoke_grant(issued.grant_id, session_id)
    assert await code(access.grant(token)) is ErrorCode.GRANT_REVOKED
    for unknown in (("g_none", session_id), (issued.grant_id, None), (issued.grant_id, "s_none")):
        assert await code(access.revoke_grant(*unknown)) is ErrorCode.GRANT_UNKNOWN


async def test_an_expired_grant_is_refused(access: Access, session_id: str) -> None:
    """C1, C2."""
    token, _ = await access.issue_grant(session_id, OWNER, expires_in_seconds=0.01)
    await refused_within(30, lambda: access.grant(token), ErrorCode.GRANT_EXPIRED)


async def test_a_grant_of_a_session_that_is_closed_is_refused(
    env: WorkflowEnvironment, access: Access, session_id: str
) -> None:
    """C2."""
    token, _ = await access.issue_grant(session_id, OWNER)
    await env.client.get_workflow_handle(session_workflow_id(session_id)).execute_update(Workflows.CLOSE)
    await refused_within(30, lambda: access.grant(token), ErrorCode.SESSION_CLOSED)
    assert await code(access.issue_grant(session_id, OWNER)) is ErrorCode.SESSION_CLOSED


async def test_a_grant_for_a_version_is_good_for_no_other(
    client: HandoffClient, access: Access, session_id: str
) -> None:
    """C1, C2: the refusal has the version that stands."""
    await client.post_message(session_id, PostMessage(message_id="m1", text="Sign in"))
    version = (await client.session(session_id)).version
    token, _ = await access.issue_grant(session_id, OWNER, require_version=version)
    assert (await access.grant(token)).require_version == version
    await client.post_message(session_id, PostMessage(message_id="m2", text="Sign in again"))
    await refused_within(30, lambda: access.grant(token), ErrorCode.STALE_VERSION)
    with pytest.raises(HandoffError) as refused:
        await access.grant(token)
    assert refused.value.details["version"] == version + 1
    assert await code(access.issue_grant(session_id, OWNER, require_version=version)) is ErrorCode.STALE_VERSION


@pytest.mark.parametrize("forge", ["", "hg_{id}.x", "hk_{id}.{secret}", "hg_{id}.{other}", "hg_none.{secret}"])
async def test_no_other_words_are_a_token(access: Access, session_id: str, forge: str) -> None:
    """C2: one answer, whatever is wrong."""
    token, _ = await access.issue_grant(session_id, OWNER)
    forged = forge.format(id=session_id, secret=token.split(".")[1], other="A" * 43)
    assert await code(access.grant(forged)) is ErrorCode.GRANT_UNKNOWN
    assert await code(access.revoke_grant(forged)) is ErrorCode.GRANT_UNKNOWN
    assert not (await access.grant(token)).revoked


async def test_only_the_owner_of_a_session_lets_agents_in(access: Access, session_id: str) -> None:
    """A5, C3."""
    assert await code(access.issue_grant(session_id, "agent:other")) is ErrorCode.NOT_OWNER
    assert await code(access.issue_grant("s_none", OWNER)) is ErrorCode.SESSION_NOT_FOUND
    assert await access.grants(session_id) == ()


async def test_a_grant_that_makes_no_sense_is_refused(access: Access, session_id: str) -> None:
    nonsense: Any = ["fly"]
    assert await code(access.issue_grant(session_id, OWNER, capabilities=nonsense)) is ErrorCode.INVALID_REQUEST
    assert await code(access.issue_grant(session_id, OWNER, expires_in_seconds=90_000)) is ErrorCode.INVALID_REQUEST


# --- the audit ---


async def test_the_audit_has_the_last_hundred_calls_in_order(
    env: WorkflowEnvironment, access: Access, elsewhere: Access, session_id: str
) -> None:
    """C8: also where they came at once, and at less than an event for each."""
    for number in range(1, 301):
        await access.audit(session_id, entry(number))
        if number % 100 == 0:
            await access.flush_audit()
    kept = await elsewhere.read_audit(session_id)
    assert len(kept) == AUDIT_KEPT
    assert [e.number for e in kept] == list(range(101, 301))
    assert [e.action for e in kept] == [f"click {number}" for number in range(101, 301)]
    described = await env.client.get_workflow_handle(session_workflow_id(session_id)).describe()
    assert described.raw_description.workflow_execution_info.history_length < 60


async def test_calls_reach_the_audit_by_themselves(access: Access, elsewhere: Access, session_id: str) -> None:
    """C8."""
    await access.audit(session_id, entry(1, outcome="browser_held"))
    kept = await until(lambda: elsewhere.read_audit(session_id), 30)
    assert [(e.action, e.outcome) for e in kept] == [("click 1", "browser_held")]


async def test_the_audit_tells_who_was_let_in_and_when_that_ended(access: Access, session_id: str) -> None:
    """C8."""
    token, issued = await access.issue_grant(session_id, OWNER, by="link 1234")
    await access.revoke_grant(token, by="key k1")
    assert [(e.who, e.action) for e in await access.read_audit(session_id)] == [
        ("link 1234", f"issue {issued.grant_id}"),
        ("key k1", f"revoke {issued.grant_id}"),
    ]


async def test_the_audit_of_a_session_that_never_was_harms_no_other(access: Access, session_id: str) -> None:
    await access.audit("s_none", entry(1))
    await access.audit(session_id, entry(2))
    await access.flush_audit()
    assert [e.action for e in await access.read_audit(session_id)] == ["click 2"]


# --- what is kept for a moment ---


async def test_many_who_ask_at_once_put_one_question() -> None:
    asked: list[str] = []
    go = asyncio.Event()

    async def ask(name: str) -> str:
        asked.append(name)
        await go.wait()
        return name.upper()

    fresh = Fresh(ask)
    waiting = [asyncio.create_task(fresh.get("a")) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    go.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert asked == ["a"] and answers[1:] == ["A"] * 49


async def test_what_did_not_help_is_asked_anew_and_shared_by_all_whom_it_did_not_help() -> None:
    answers = ["old"]
    asked: list[str] = []

    async def ask(name: str) -> str:
        asked.append(name)
        return answers[-1]

    fresh = Fresh(ask)
    assert await fresh.get("a") == "old"
    answers.append("new")
    assert await fresh.get("a") == "old"
    assert await asyncio.gather(*(fresh.get("a", lambda kept: kept == "new") for _ in range(50))) == ["new"] * 50
    assert len(asked) == 2


async def test_what_was_made_a_moment_ago_elsewhere_is_known(
    access: Access, elsewhere: Access, session_id: str
) -> None:
    """D2, C1: whoever looked before it was made knows it all the same."""
    known, _ = await elsewhere.issue_grant(session_id, OWNER)
    await access.grant(known)
    await access.principal(await access.create_key("agent:k", []))
    key = await elsewhere.create_key("agent:new", [])
    token, _ = await elsewhere.issue_grant(session_id, OWNER)
    assert (await access.principal(key)).name == "agent:new"
    assert not (await access.grant(token)).revoked


async def test_a_failure_is_kept_for_nobody() -> None:
    answers: list[Any] = [RuntimeError("down"), "up"]

    async def ask(name: str) -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    fresh = Fresh(ask)
    with pytest.raises(RuntimeError):
        await fresh.get("a")
    assert await fresh.get("a") == "up"


async def test_made_up_names_fill_no_memory() -> None:
    """K83."""

    async def ask(name: str) -> None:
        return None

    fresh = Fresh(ask, limit=10)
    for number in range(300):
        await fresh.get(str(number))
    assert len(fresh) == 10


def test_what_is_told_of_a_grant_has_no_hash() -> None:
    assert "sha256" not in GrantView.model_fields
