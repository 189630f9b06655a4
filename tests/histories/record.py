"""Record the histories that the replay test holds every change of a workflow against.

``python -m tests.histories.record`` records the scenes that have no history yet. What is recorded stays: delete it, to
record it anew, only for a change that is meant to break running workflows.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.worker import Worker

from tests.histories import told
from tests.histories.writing import write
from tests.waiting import until
from tests.workflows import agents
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.fake_takeovers import FakeTakeovers
from tests.workflows.handoffs import Handoffs, start_server
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.client.claims import claim
from user_handoff.contract.access import AuditEntry, SignedIn
from user_handoff.contract.boundary import CONFIRM, Boundary, Category
from user_handoff.contract.claims import digest_of
from user_handoff.contract.conditions import Completion
from user_handoff.contract.entering import LinkStep, UseLink
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import HandoffState, LinkGrant, RevokeReason
from user_handoff.contract.ids import KEYS_WORKFLOW_ID, claim_workflow_id, principal_workflow_id, session_workflow_id
from user_handoff.contract.names import Activities, Workflows
from user_handoff.contract.session import CURRENT, PostMessage, ReplyMessage, Scope
from user_handoff.worker.server import server_worker

HERE = Path(__file__).parent
CONFIRMING = Boundary(
    rule_id=CONFIRM, category=Category.ACCOUNT, page_id="p1", url="https://portal.example/form", reason="a form"
)

Handle = WorkflowHandle[Any, Any]


async def _finished(h: Handoffs) -> Handle:
    handoff, _ = await h.begin()
    await h.finished(handoff)
    return handoff.handle


async def _declined(h: Handoffs) -> Handle:
    handoff, _ = await h.begin()
    await h.finished(handoff, "declined")
    return handoff.handle


async def _expired(h: Handoffs) -> Handle:
    handoff, receipt = await h.begin(timeout_seconds=0.5)
    await handoff.until(HandoffState.EXPIRED)
    await handoff.reply()
    await handoff.finish(receipt.handoff_fence)
    h.desktop.look(handoff.id)
    await handoff.outcome()
    return handoff.handle


async def _closed(h: Handoffs) -> Handle:
    handoff, _ = await h.begin()
    await h.idle(handoff)
    await handoff.close()
    await handoff.outcome()
    return handoff.handle


async def _refused(h: Handoffs) -> Handle:
    h.desktop.refuse[Activities.BEGIN] = ErrorCode.SURFACE_NOT_FOUND
    handoff = await h.start()
    await handoff.outcome()
    del h.desktop.refuse[Activities.BEGIN]
    return handoff.handle


async def _revoked(h: Handoffs) -> Handle:
    handoff, _ = await h.begin()
    h.desktop.end(handoff.id, "revoked", RevokeReason.IDLE)
    await handoff.outcome()
    return handoff.handle


async def _cancelled(h: Handoffs) -> Handle:
    handoff, _ = await h.begin()
    await handoff.handle.cancel()
    await handoff.outcome()
    return handoff.handle


async def _observed(h: Handoffs) -> Handle:
    """The condition ends the person's turn, who has confirmed what the agent wants to submit."""
    h.desktop.observes.clear()
    handoff, _ = await h.begin(completion=Completion.BOTH, boundary=CONFIRMING)
    await handoff.reply()
    h.desktop.observes.set()
    await until(lambda: handoff.id in h.desktop.finished)
    h.desktop.look(handoff.id)
    await handoff.outcome()
    return handoff.handle


async def _session(h: Handoffs) -> Handle:
    await h.post()
    handle = h.client.get_workflow_handle(session_workflow_id(h.session_id))
    await handle.signal(Workflows.CLOSE)
    await handle.result()
    return handle


async def _exported(h: Handoffs, agent_id: str) -> tuple[Handle, Handle]:
    async with Worker(h.client, task_queue="agents", workflows=agents.ALL):
        known = set(h.desktop.holds)
        agent = await h.client.start_workflow(agents.Exporter.run, 600, id=agent_id, task_queue="agents")
        await until(lambda: len(h.desktop.holds) > len(known))
        (handoff_id,) = set(h.desktop.holds) - known
        child = h.client.get_workflow_handle(handoff_id)
        await child.execute_update(Workflows.REPLY, {"answer": "done"})
        with contextlib.suppress(WorkflowFailureError):  # as it is where the effect at the end was lost
            await agent.result()
        return agent, child


async def _agent(h: Handoffs) -> Handle:
    return (await _exported(h, "agent"))[0]


async def _child(h: Handoffs) -> Handle:
    return (await _exported(h, "agent_of_child"))[1]


async def _lost_effect(h: Handoffs) -> Handle:
    h.desktop.crash_once.add(Activities.CLICK)
    return (await _exported(h, "agent_lost_effect"))[0]


async def _lost_receipts(h: Handoffs) -> Handle:
    h.desktop.crash_once |= {Activities.BEGIN, Activities.FINISH, Activities.GUARD}
    handoff, receipt = await h.begin(id="begin", finish_on_reply=False)
    for _ in range(2):
        await h.begin(handoff.request, id="begin")
        await h.begin(handoff.request)
        await handoff.reply()
        await handoff.update(Workflows.REPLY, {"answer": "done"}, id="r1")
        await handoff.finish(receipt.handoff_fence)
    h.desktop.look(handoff.id)
    await handoff.outcome()
    return handoff.handle


async def _lost_close(h: Handoffs) -> Handle:
    h.desktop.crash_once.add(Activities.CLOSE)
    handoff, _ = await h.begin()
    await handoff.update(Workflows.CLOSE, id="c1")
    await handoff.update(Workflows.CLOSE, id="c1")
    await handoff.outcome()
    return handoff.handle


async def _told_session(h: Handoffs) -> Handle:
    """A session that tells its principal."""
    client = HandoffClient(h.client)
    session_id = (await client.open_session("told", "agent:told")).session_id
    await client.exact_session(CURRENT, "agent:told", "m1")
    handle = h.client.get_workflow_handle(session_workflow_id(session_id))
    await handle.signal(Workflows.CLOSE)
    await handle.result()
    return handle


async def _principal(h: Handoffs) -> Handle:
    client = HandoffClient(h.client)
    await client.open_session("known", "agent:known")
    await client.exact_session(CURRENT, "agent:known", "m1")
    return h.client.get_workflow_handle(principal_workflow_id("agent:known"))


async def _keys(h: Handoffs) -> Handle:
    access = Access(HandoffClient(h.client))
    for name in ("agent:a", "agent:b"):
        await access.create_key(name, [Scope.RUNTIME_READ])
    await access.revoke_key((await access.list_keys())[0].key_id)
    return h.client.get_workflow_handle(KEYS_WORKFLOW_ID)


async def _granted_session(h: Handoffs) -> Handle:
    """A session with grants, a reply, an audit, and a question that was dropped."""
    client = HandoffClient(h.client)
    access = Access(client)
    session_id = (await client.open_session("granted", "agent:granted")).session_id
    handle = h.client.get_workflow_handle(session_workflow_id(session_id))
    await client.post_message(session_id, PostMessage(message_id="m1", kind="question", text="Which invoice?"))
    await client.reply_message(session_id, ReplyMessage(message_id="m1", text="The last", by="Ada"))
    secret = PostMessage(message_id="m2", kind="question", text="What is your password?")
    for _ in range(2):
        await handle.signal(Workflows.POST, secret)
    token, _ = await access.issue_grant(session_id, "agent:granted")
    call = AuditEntry(at=datetime.now(UTC), who="grant g", tool="wait", action="wait", outcome="completed")
    await access.audit(session_id, call)
    await access.aclose()
    await handle.signal(Workflows.SIGNED_IN, SignedIn(handoff_id="handoff/b/s/m"))
    await access.revoke_grant(token)
    await client.close_session(session_id)
    await handle.result()
    return handle


async def _signed_in(h: Handoffs) -> Handle:
    """A handoff that tells its session of a sign-in."""
    handoff, _ = await h.begin(boundary=agents.WALL)
    await h.finished(handoff)
    return handoff.handle


async def _linked(h: Handoffs) -> Handle:
    """A person enters by their link, goes on in another tab, and answers; another person is refused."""
    handoff, _ = await h.begin()
    await handoff.update(Workflows.ADD_LINK, LinkGrant(sha256="a" * 64))
    use = UseLink(step=LinkStep.ATTACH, sha256="a" * 64, seat_sha256="b" * 64, tab_sha256="c" * 64)
    for step in (LinkStep.ATTACH, LinkStep.FINALIZE):
        await handoff.update(Workflows.USE_LINK, use.model_copy(update={"step": step}))
    for more in ({"tab_sha256": "d" * 64}, {"seat_sha256": "e" * 64}):
        with contextlib.suppress(HandoffError):
            await handoff.update(Workflows.USE_LINK, use.model_copy(update={"step": LinkStep.TAKE, **more}))
    await h.finished(handoff)
    return handoff.handle


async def _nosy(h: Handoffs) -> Handle:
    async with Worker(h.client, task_queue="agents", workflows=agents.ALL):
        agent = await h.client.start_workflow(agents.Nosy.run, id="nosy", task_queue="agents")
        await agent.result()
        return agent


async def _secret_instructions(h: Handoffs) -> Handle:
    handoff = await h.start(instructions="Please reply with your password.")
    await handoff.outcome()
    return handoff.handle


async def _claim(h: Handoffs) -> Handle:
    workflow_id = claim_workflow_id("agent:claims", "key")
    await claim(HandoffClient(h.client), workflow_id, digest_of({"text": "x"}), patience_seconds=8)
    handle = h.client.get_workflow_handle(workflow_id)
    await handle.result()
    return handle


async def _takeover(h: Handoffs, *ends: str) -> Handle:
    async with FakeTakeovers().serving(h.client) as desk:
        return await desk.play(h.client, *ends)


SCENES: dict[str, Callable[[Handoffs], Awaitable[Handle]]] = {
    "finished": _finished,
    "declined": _declined,
    "expired": _expired,
    "closed": _closed,
    "refused": _refused,
    "revoked": _revoked,
    "cancelled": _cancelled,
    "agent": _agent,
    "child": _child,
    "lost_effect": _lost_effect,
    "lost_receipts": _lost_receipts,
    "lost_close": _lost_close,
    "told_session": _told_session,
    "principal": _principal,
    "keys": _keys,
    "granted_session": _granted_session,
    "signed_in": _signed_in,
    "nosy": _nosy,
    "lean": _finished,
    "lean_child": _child,
    "lean_signed_in": _signed_in,
    "linked": _linked,
    "secret_instructions": _secret_instructions,
    "claim": _claim,
    "observed": _observed,
    "takeover_returned": lambda h: _takeover(h, "give_back"),
    "takeover_timeout": lambda h: _takeover(h, "timeout"),
    "takeover_refused": lambda h: _takeover(h, "refuse"),
    "session": _session,  # the last: it ends the session of the others
}


async def record(client: Client, folder: Path, *, max_cached_workflows: int = 1000) -> None:
    """Play every scene that has no history in the folder, and write it."""
    desktop = FakeDesktop()
    worker = server_worker(client, max_cached_workflows=max_cached_workflows)
    async with worker, desktop.serving(client, shared=True):
        handoffs = await Handoffs.open(client, desktop)
        for name, play in SCENES.items():
            if (folder / f"{name}.json").exists():
                continue
            await write(await play(handoffs), folder / f"{name}.json")
    for name in told.SCENES:
        if not (folder / f"{name}.json").exists():
            handle = await told.play(client, name, max_cached_workflows)
            await write(handle, folder / f"{name}.json")


async def main() -> None:
    """Record on a server of our own."""
    server = await start_server()
    try:
        await record(server.client, HERE)
    finally:
        await server.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
