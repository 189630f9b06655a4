"""The audit, on a real server."""

from datetime import UTC, datetime
from typing import Any

from temporalio.testing import WorkflowEnvironment

from tests.client.conftest import OWNER
from tests.waiting import until
from user_handoff.client.access import Access
from user_handoff.contract.access import AUDIT_KEPT, AuditEntry
from user_handoff.contract.ids import session_workflow_id


def entry(number: int, **more: Any) -> AuditEntry:
    fields = {"at": datetime.now(UTC), "who": "grant g1", "tool": "control_browser", "action": f"click {number}"}
    return AuditEntry.model_validate({**fields, "outcome": "completed", **more})


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
    kept = await until(lambda: elsewhere.read_audit(session_id))
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
