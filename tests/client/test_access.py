"""Grants, on a real server."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.client.conftest import OWNER, code, refused_within
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.contract.access import GrantView
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.ids import session_workflow_id
from user_handoff.contract.names import Workflows
from user_handoff.contract.session import PostMessage


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


def test_what_is_told_of_a_grant_has_no_hash() -> None:
    assert "sha256" not in GrantView.model_fields
