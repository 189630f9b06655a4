"""What ends a person's turn: their word, the observed condition, either or both."""

import pytest
from pydantic import ValidationError
from temporalio.client import Client

from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from user_handoff.contract.boundary import CONFIRM, Boundary, Category
from user_handoff.contract.conditions import Completion, Url
from user_handoff.contract.handoff import HandoffRequest, HandoffState, Outcome, Result
from user_handoff.contract.names import Activities
from user_handoff.worker.server import server_worker

HELD = HandoffState.HELD
ASKED = Boundary(
    rule_id=CONFIRM, category=Category.ACCOUNT, page_id="p1", url="https://a.example/form", reason="a form"
)


async def ended(handoffs: Handoffs, completion: Completion, events: str) -> Outcome | None:
    """Let these things happen one after the other; the outcome, or None where the person's turn goes on after them."""
    desktop = handoffs.desktop
    handoff, _ = await handoffs.begin(completion=completion)
    for event in events.split():
        if event == "seen":
            desktop.observes.set()
            await until(lambda: desktop.calls.count(Activities.GUARD) == 2)
        else:
            await handoff.reply(event)
    if (await handoff.summary()).state is HELD:
        await handoffs.idle(handoff)  # a wrong finish would be in flight
        assert (await handoff.summary()).state is HELD
        await handoff.close()
        return None
    await until(lambda: handoff.id in desktop.finished)
    desktop.look(handoff.id)
    return await handoff.outcome()


@pytest.mark.parametrize(
    ("completion", "events", "result"),
    [
        (Completion.PERSON, "done", Result.VERIFIED),
        (Completion.OBSERVED, "seen", Result.VERIFIED),
        (Completion.OBSERVED, "done", None),
        (Completion.OBSERVED, "done seen", Result.VERIFIED),
        (Completion.OBSERVED, "declined", Result.DECLINED),
        (Completion.EITHER, "seen", Result.VERIFIED),
        (Completion.EITHER, "done", Result.VERIFIED),
        (Completion.BOTH, "seen", None),
        (Completion.BOTH, "done", None),
        (Completion.BOTH, "seen done", Result.VERIFIED),
        (Completion.BOTH, "done seen", Result.VERIFIED),
        (Completion.BOTH, "could_not", Result.FAILED),
    ],
)
async def test_a_turn_ends_by_what_was_asked_for(
    client: Client, completion: Completion, events: str, result: Result | None
) -> None:
    """B4: and whatever ended it, nothing is verified but what is observed after the recovery."""
    desktop = FakeDesktop()
    async with server_worker(client), desktop.serving(client):
        outcome = await ended(await Handoffs.open(client, desktop), completion, events)
    assert (None if outcome is None else outcome.result) == result


async def test_what_was_seen_during_the_hold_is_looked_for_again_and_may_be_gone(client: Client) -> None:
    """B4, K20."""
    desktop = FakeDesktop(met=False)
    async with server_worker(client), desktop.serving(client):
        outcome = await ended(await Handoffs.open(client, desktop), Completion.EITHER, "seen")
    assert outcome is not None
    assert (outcome.result, bool(outcome)) == (Result.NOT_VERIFIED, False)


async def test_a_guard_that_died_after_it_saw_watches_again(client: Client) -> None:
    """A17: the observation is asked for again, and the turn ends once."""
    desktop = FakeDesktop()
    async with server_worker(client), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        desktop.observes.set()
        desktop.crash_once.add(Activities.GUARD)
        handoff, _ = await handoffs.begin(completion=Completion.EITHER)
        await until(lambda: handoff.id in desktop.finished)
        desktop.look(handoff.id)
        assert (await handoff.outcome()).verified
    assert desktop.calls.count(Activities.FINISH) == 1


@pytest.mark.parametrize(
    ("answer", "asked", "confirmed"), [("done", ASKED, True), ("declined", ASKED, False), ("done", None, False)]
)
async def test_the_desktop_is_told_of_a_confirmation_only_where_one_was_asked_for(
    client: Client, answer: str, asked: Boundary | None, confirmed: bool
) -> None:
    """B2: a person's done to another question lets nothing be submitted."""
    desktop = FakeDesktop()
    async with server_worker(client), desktop.serving(client):
        handoffs = await Handoffs.open(client, desktop)
        handoff, _ = await handoffs.begin(boundary=asked)
        await handoffs.finished(handoff, answer)
    assert (handoff.id in desktop.confirmed) is confirmed


def test_what_is_to_be_observed_must_be_said() -> None:
    request = {"browser_id": "b", "session_id": "s", "message_id": "m", "client_id": "c", "desktop_id": "d"}
    request |= {"queue": "q", "owner": "o", "instructions": "i", "completion": "either"}
    with pytest.raises(ValidationError):
        HandoffRequest.model_validate(request)
    assert HandoffRequest.model_validate({**request, "verify": Url("**")}).completion is Completion.EITHER


@pytest.mark.parametrize("result", [result for result in Result if result is not Result.VERIFIED])
def test_no_other_outcome_can_be_taken_for_success(result: Result) -> None:
    """B4, K21: neither by its truth nor by its words."""
    outcome = Outcome(handoff_id="handoff/b/s/m", result=result)
    assert not outcome
    assert str(outcome).startswith(f"NOT DONE ({result})")
    done = Outcome(handoff_id="handoff/b/s/m", result=Result.VERIFIED)
    assert done and str(done).startswith("VERIFIED")
