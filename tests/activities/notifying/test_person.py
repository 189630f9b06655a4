"""A person is told by the channels that were chosen: on a real server, with a real Apprise target."""

import asyncio
import logging
import re

import httpx
import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.activities.notifying.conftest import BASE_URL, CONSOLE, Newsroom
from tests.receiver import SECRET
from tests.waiting import until
from tests.workflows.handoffs import Handoff
from tests.workflows.test_shown import WALL
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.links import token_hash
from user_handoff.contract.names import Workflows
from user_handoff.contract.notices import How

_LINK = re.compile(rf"{BASE_URL}/j/([A-Za-z0-9_-]+)")


async def _told(handoff: Handoff, count: int) -> dict[tuple[str, int], How]:
    summary = await until(handoff.summary, 20, wanted=lambda now: len(now.told) >= count)
    return {(each.channel, each.number): each.how for each in summary.told}


async def test_a_person_is_told_once_by_every_channel(newsroom: Newsroom) -> None:
    """K81: who asks, what for, where and for how long."""
    channels = (CONSOLE, newsroom.apprise(), newsroom.webhook())
    async with newsroom.telling(channels=channels) as handoffs:
        handoff, _ = await handoffs.begin(boundary=WALL)
        told = await _told(handoff, 3)
        await handoffs.finished(handoff)
    assert told == {(name, 0): How.SENT for name in ("console", "phone", "desk")}
    (line,) = newsroom.lines
    by_path = {r.path: r for r in newsroom.receiver.requests}
    assert len(newsroom.receiver.requests) == 2
    sent = by_path["/notify"].json
    for text in (line, f"{sent['title']} {sent['message']}"):
        for part in ("agent:test asks for you", "Sign in to the portal", "https://portal.example/login", "9 minutes"):
            assert part in text
    asked = by_path["/desk"].verify()
    assert asked["type"] == "handoff.asked" and asked["data"]["instructions"] == "Sign in to the portal"
    assert asked["data"]["link"] is None and not _LINK.search(f"{line}{sent}")


async def test_only_the_chosen_channel_gets_a_link_which_works_and_of_which_its_hash_alone_is_kept(
    newsroom: Newsroom, caplog: pytest.LogCaptureFixture, server: WorkflowEnvironment
) -> None:
    """C6, K41: neither the link nor the address of the channel is in any history or log."""
    caplog.set_level(logging.DEBUG)
    channels = (CONSOLE, newsroom.apprise(link=True, path="/canary-of-the-channel"), newsroom.webhook())
    endpoints = (newsroom.endpoint("canary-of-the-endpoint", details=True),)
    async with newsroom.telling(channels=channels, endpoints=endpoints) as handoffs:
        handoff, _ = await handoffs.begin(boundary=WALL)
        await _told(handoff, 3)
        hashes = (await handoff.summary()).link_hashes
        await handoffs.finished(handoff)
        await newsroom.delivered(handoff)
    found = [
        (received.path, match[1])
        for received in newsroom.receiver.requests
        if (match := _LINK.search(received.body.decode()))
    ]
    ((path, token),) = found
    assert path == "/canary-of-the-channel" and not _LINK.search("".join(newsroom.lines))
    assert hashes == (token_hash(token),)
    histories = [
        (await newsroom.client.get_workflow_handle(workflow.id, run_id=workflow.run_id).fetch_history()).to_json()
        async for workflow in newsroom.client.list_workflows()
    ]
    logs = "\n".join(f"{r.name} {r.getMessage()} {r.args} {r.exc_text}" for r in caplog.records)
    assert any(token_hash(token) in history for history in histories)
    port = newsroom.receiver.base_url.rpartition(":")[2]
    for secret in (token, "/canary-of", f":{port}", SECRET):
        assert secret not in logs
        assert not [history for history in histories if secret in history]


async def test_a_person_is_reminded_as_configured_and_never_after_the_end(newsroom: Newsroom) -> None:
    """K81: seconds after they were asked, and before the time is up."""
    async with newsroom.telling(channels=(newsroom.webhook(),), reminders=(0.3, -1.6, 300)) as handoffs:
        handoff, _ = await handoffs.begin(timeout_seconds=2.5)
        told = await _told(handoff, 3)
        assert newsroom.of("desk") == ["handoff.asked", "handoff.reminder", "handoff.reminder"]
        assert told == {("desk", number): How.SENT for number in range(3)}
        assert len({received.id for received in newsroom.receiver.requests}) == 3
        await handoff.until(HandoffState.EXPIRED)
        await handoff.close()
    assert len(newsroom.receiver.requests) == 3


async def test_a_reminder_that_is_due_after_the_answer_is_not_sent(newsroom: Newsroom) -> None:
    """K81: also where the browser was not taken back yet."""
    async with newsroom.telling(channels=(newsroom.webhook(),), reminders=(0.8,)) as handoffs:
        handoff, _ = await handoffs.begin(finish_on_reply=False)
        await _told(handoff, 1)
        await handoff.reply()
        events = [e.WhichOneof("attributes") async for e in handoff.handle.fetch_history_events()]
        assert "timer_canceled_event_attributes" in events
        await handoff.close()
    assert newsroom.of("desk") == ["handoff.asked"]


async def test_who_answers_while_a_notice_is_being_retried_is_not_told_any_more(newsroom: Newsroom) -> None:
    """K81: it is looked right before sending, not when sending was asked for."""
    newsroom.receiver.answers = [500]
    async with newsroom.telling(channels=(newsroom.webhook(),)) as handoffs:
        handoff, _ = await handoffs.begin(finish_on_reply=False)
        await until(lambda: len(newsroom.receiver.requests) == 1)
        await handoff.reply()
        assert await _told(handoff, 1) == {("desk", 0): How.OVER}
        await handoff.close()
    assert len(newsroom.receiver.requests) == 1


async def test_a_webhook_that_fails_is_sent_again_under_the_same_id(newsroom: Newsroom) -> None:
    newsroom.receiver.answers = [500, 302]
    async with newsroom.telling(channels=(newsroom.webhook(link=True),)) as handoffs:
        handoff, _ = await handoffs.begin()
        assert await _told(handoff, 1) == {("desk", 0): How.SENT}
        links = (await handoff.summary()).link_hashes
        await handoff.close()
    assert len(newsroom.receiver.requests) == 3 and len({r.id for r in newsroom.receiver.requests}) == 1
    # Whichever of them the receiver kept, its link opens the page.
    tokens = [_LINK.search(received.body.decode()) for received in newsroom.receiver.requests]
    assert {token_hash(match[1]) for match in tokens if match} == set(links)


async def test_a_service_that_cannot_dedupe_is_asked_once_and_a_failure_is_shown(
    newsroom: Newsroom, caplog: pytest.LogCaptureFixture
) -> None:
    """K81: it may have told them; the handoff goes on, and says so."""
    newsroom.receiver.answers = [500]
    async with newsroom.telling(channels=(newsroom.apprise(), CONSOLE)) as handoffs:
        handoff, _ = await handoffs.begin()
        told = await _told(handoff, 2)
        assert told == {("phone", 0): How.UNKNOWN, ("console", 0): How.SENT}
        shown = await handoff.handle.query("__temporal_workflow_metadata")
        assert "unknown by phone" in str(shown)
        assert (await handoffs.finished(handoff)).verified
    assert len(newsroom.receiver.requests) == 1
    assert "a notice by channel phone was not confirmed: NotTakenError" in caplog.text


async def test_a_server_that_stops_in_the_middle_tells_nobody_twice(newsroom: Newsroom, client: Client) -> None:
    """K81: what was begun is not begun again by the next one."""
    newsroom.receiver.gate.clear()
    channels = (newsroom.apprise(path="/notify?rto=60"),)  # longer than the server waits for what it does
    async with newsroom.telling(channels=channels) as handoffs:
        handoff, _ = await handoffs.begin()
        await until(lambda: len(newsroom.receiver.requests) == 1)
    newsroom.receiver.gate.set()
    async with newsroom.telling(channels=channels):
        assert await _told(handoff, 1) == {("phone", 0): How.UNKNOWN}
        await handoff.handle.signal(Workflows.REVOKE, "shutdown")
        await handoff.outcome()
    assert len(newsroom.receiver.requests) == 1


async def test_nothing_about_a_failing_channel_holds_up_the_handoff(newsroom: Newsroom) -> None:
    """A channel that is there no more, and a receiver that never answers."""
    newsroom.receiver.gate.clear()
    async with newsroom.telling(channels=(newsroom.webhook(),)) as handoffs:
        handoff, _ = await handoffs.begin()
        await until(lambda: len(newsroom.receiver.requests) == 1)
        async with asyncio.timeout(5):
            assert (await handoffs.finished(handoff)).verified


async def test_text_of_an_agent_cannot_command_the_terminal(newsroom: Newsroom) -> None:
    """D5."""
    async with newsroom.telling(channels=(CONSOLE,)) as handoffs:
        handoff, _ = await handoffs.begin(instructions="Sign in\x1b]0;title\x07\nnow " + "x" * 300)
        await _told(handoff, 1)
        await handoff.close()
    (line,) = newsroom.lines
    assert line.isprintable() and "Sign in\ufffd]0;title\ufffd now" in line and len(line) < 500


async def test_the_receiver_that_tests_use_checks_what_it_is_sent(newsroom: Newsroom) -> None:
    """A guard against a receiver that takes anything."""
    async with httpx.AsyncClient(timeout=30) as http:
        await http.post(f"{newsroom.receiver.base_url}/x", content=b"{}", headers={"webhook-id": "a"})
    with pytest.raises(Exception, match="headers"):
        newsroom.receiver.requests[0].verify()
