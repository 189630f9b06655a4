"""What a handoff tells: its parent, a person, Temporal's UI and search, and its history."""

from datetime import timedelta

import pytest
from temporalio import workflow
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client
from temporalio.worker import Worker

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.boundary import Boundary
from user_handoff.contract.errors import HandoffError
from user_handoff.contract.handoff import HandoffRequest, HandoffState, LinkGrant, Notice, Outcome
from user_handoff.contract.ids import new_id
from user_handoff.contract.names import SERVER_QUEUE, SearchAttributes, Workflows
from user_handoff.worker.server import server_worker

WALL = Boundary.model_validate(
    {
        "rule_id": "sign-in",
        "category": "authentication",
        "page_id": "p1",
        "url": "https://portal.example/login",
        "reason": 'textbox "Password"',
    }
)


@workflow.defn
class Asker:
    """Starts a handoff, and listens to nothing that it says."""

    @workflow.run
    async def run(self, request: HandoffRequest) -> None:
        await workflow.start_child_workflow(
            Workflows.HANDOFF,
            request,
            id=request.handoff_id,
            task_queue=SERVER_QUEUE,
            parent_close_policy=workflow.ParentClosePolicy.ABANDON,
        )


async def test_a_plain_handoff_stays_small(handoffs: Handoffs) -> None:
    """At most 60 events and 25 KB."""
    handoff, _ = await handoffs.begin(boundary=WALL)
    await handoffs.finished(handoff)
    described = await handoff.handle.describe()
    info = described.raw_description.workflow_execution_info
    print(info.history_length, info.history_size_bytes)
    assert info.history_length <= 60
    assert info.history_size_bytes <= 25_000


async def test_a_parent_that_is_gone_hurts_nobody(client: Client, handoffs: Handoffs) -> None:
    request = await handoffs.request()
    async with Worker(client, task_queue="askers", workflows=[Asker]):
        await client.execute_workflow(Asker.run, request, id=new_id("a"), task_queue="askers")
    handoff = handoffs.of(request)
    await handoff.until(HandoffState.HELD)
    assert (await handoffs.finished(handoff)).verified


async def test_the_ui_says_what_is_asked_by_whom_until_when_and_how_to_answer(handoffs: Handoffs) -> None:
    handoff, receipt = await handoffs.begin(boundary=WALL)
    metadata: WorkflowMetadata = await handoff.handle.query(
        "__temporal_workflow_metadata", result_type=WorkflowMetadata
    )
    shown = metadata.current_details
    deadline = (await handoff.summary()).expires_at
    assert deadline
    for part in ("Sign in to the portal", "agent:test", "portal.example/login", f"{deadline:%H:%M:%S}", '"done"'):
        assert part in shown
    assert receipt.handoff_fence in shown
    described = [
        *metadata.definition.signal_definitions,
        *metadata.definition.update_definitions,
        *(q for q in metadata.definition.query_definitions if not q.name.startswith("__")),
    ]
    assert all(each.description for each in described)
    names = {each.name for each in metadata.definition.signal_definitions}
    assert names & {each.name for each in metadata.definition.update_definitions} >= {
        "begin",
        "reply",
        "finish",
        "close",
    }
    await handoff.close()


async def test_a_handoff_is_found_by_its_search_attributes(handoffs: Handoffs) -> None:
    handoff, _ = await handoffs.begin()
    assert handoff.request
    query = (
        f"{SearchAttributes.STATE} = 'held' AND {SearchAttributes.BROWSER} = '{handoff.request.browser_id}'"
        f" AND {SearchAttributes.SESSION} = '{handoffs.session_id}'"
        f" AND {SearchAttributes.CLIENT} = '{handoffs.desktop.client_id}'"
    )

    async def found() -> list[str]:
        return [w.id async for w in handoffs.client.list_workflows(query)]

    await until(found, 20, wanted=lambda ids: ids == [handoff.id])
    await handoff.close()


# --- a person is told ---


class Told:
    """A notifier that keeps what it was given, and fails as often as it is told to."""

    def __init__(self, fails: int = 0) -> None:
        self.notices: list[Notice] = []
        self.fails = fails
        self.link = LinkGrant(sha256="ab" * 32)

    async def __call__(self, notice: Notice) -> LinkGrant:
        self.notices.append(notice)
        if len(self.notices) <= self.fails:
            raise RuntimeError("the messenger is out")
        return self.link


async def test_a_person_is_told_once_and_only_the_hash_of_their_link_is_kept(client: Client) -> None:
    """K81, C6."""
    told, desktop = Told(), FakeDesktop()
    async with server_worker(client, told), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin(boundary=WALL)
        summary = await until(handoff.summary, 20, wanted=lambda now: now.link_hashes)
        assert summary.link_hashes == (told.link.sha256,)
        (notice,) = told.notices
        assert (notice.handoff_id, notice.instructions, notice.boundary) == (handoff.id, "Sign in to the portal", WALL)
        assert (await handoffs.finished(handoff)).verified


async def test_a_notifier_that_fails_is_tried_again_and_never_fails_the_handoff(client: Client) -> None:
    told, desktop = Told(fails=100), FakeDesktop()
    async with server_worker(client, told), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin()
        await until(lambda: len(told.notices) >= 2)
        assert (await handoffs.finished(handoff)).verified


async def test_nobody_is_called_for_a_handoff_that_is_answered_already(client: Client) -> None:
    told, desktop = Told(), FakeDesktop()
    async with server_worker(client, told), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        gate = desktop.gate("desktop_begin_handoff")
        handoff = await handoffs.start()
        await handoff.handle.signal(Workflows.REPLY, {"answer": "declined"})
        gate.set()
        await handoff.until(HandoffState.RECOVERING)
        desktop.look(handoff.id)
        await handoff.outcome()
    assert told.notices == []


async def test_links_are_added_up_to_a_bound(handoffs: Handoffs) -> None:
    """D4's kind: the new one is refused, an old one is never pushed out."""
    handoff, _ = await handoffs.begin()
    for n in range(50):
        await handoff.handle.signal(Workflows.ADD_LINK, LinkGrant(sha256=f"{n:064x}"))
    with pytest.raises(HandoffError):
        await handoff.update(Workflows.ADD_LINK, LinkGrant(sha256="f" * 64))
    await handoff.update(Workflows.ADD_LINK, LinkGrant(sha256=f"{7:064x}"))
    assert len((await handoff.summary()).link_hashes) == 50
    await handoff.close()


async def test_an_outcome_is_kept_and_told_after_the_end(handoffs: Handoffs) -> None:
    """A17: the summary works on a closed handoff."""
    handoff, receipt = await handoffs.begin()
    outcome: Outcome = await handoffs.finished(handoff, note="took a while")
    summary = await handoff.summary()
    assert summary.receipt == receipt and summary.result is outcome.result and summary.note == "took a while"
    assert summary.expires_at and summary.expires_at - summary.requested_at <= timedelta(minutes=10, seconds=10)
