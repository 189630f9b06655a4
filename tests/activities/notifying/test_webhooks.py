"""Programs are told of every state by signed webhooks: on a real server, by a real HTTP receiver."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import WebhookVerificationError
from starlette.responses import Response, StreamingResponse
from temporalio.client import Client

from tests.activities.notifying.conftest import Newsroom
from tests.receiver import SECRET, Received
from tests.waiting import until
from tests.workflows.fake_desktop import FakeDesktop
from tests.workflows.handoffs import Handoffs
from tests.workflows.test_shown import WALL
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.ids import delivery_workflow_id, gone_endpoint_id
from user_handoff.contract.names import Activities, Workflows

OTHER_SECRET = "whsec_" + "YW5vdGhlci1zZWNyZXQtb2YtdHdlbnR5LWZvdXIrYnl0ZXM="
ALL = [f"handoff.{name}" for name in ("requested", "held", "answered", "finishing", "recovering", "completed")]


async def test_every_state_is_told_once_in_order_signed_and_without_words(newsroom: Newsroom) -> None:
    """Standard Webhooks: ids, times and states; nothing of what was asked."""
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        handoff, receipt = await handoffs.begin(boundary=WALL)
        await handoffs.finished(handoff, note="a private word")
        await newsroom.delivered(handoff)
    bodies = [received.verify() for received in newsroom.receiver.requests]
    assert [body["type"] for body in bodies] == ALL
    assert len({received.id for received in newsroom.receiver.requests}) == len(ALL)
    times = [datetime.fromisoformat(body["timestamp"]) for body in bodies]
    assert times == sorted(times)
    held, done = bodies[1]["data"], bodies[-1]["data"]
    assert held["handoff_id"] == handoff.id and held["state"] == "held" and not held["over"]
    assert abs((datetime.fromisoformat(held["expires_at"]) - receipt.expires_at).total_seconds()) < 1
    assert (done["result"], done["answer"], done["over"]) == ("verified", "done", True)
    for word in ("Sign in", "agent:test", "portal.example", "private", receipt.handoff_fence):
        assert word not in json.dumps(bodies)


async def test_who_was_chosen_for_it_is_told_who_asks_for_what_and_where(newsroom: Newsroom) -> None:
    endpoints = (newsroom.endpoint("plain"), newsroom.endpoint("full", details=True))
    async with newsroom.telling(endpoints=endpoints) as handoffs:
        handoff, _ = await handoffs.begin(boundary=WALL)
        await handoff.close()
        await newsroom.delivered(handoff)
    assert newsroom.of("plain") == newsroom.of("full") == [ALL[0], ALL[1], "handoff.closed"]
    for received in newsroom.receiver.requests:
        data = received.json["data"]
        assert ("instructions" in data) is (received.path == "/full")
        if received.path == "/full":
            assert (data["owner"], data["boundary"]["url"]) == ("agent:test", "https://portal.example/login")


@pytest.mark.parametrize("refused_by", ["the server", "the desktop"])
async def test_a_refusal_is_told_whoever_refuses(newsroom: Newsroom, refused_by: str) -> None:
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        if refused_by == "the desktop":
            handoffs.desktop.refuse[Activities.BEGIN] = ErrorCode.SURFACE_AMBIGUOUS
        handoff = await handoffs.start(owner="agent:test" if refused_by == "the desktop" else "agent:other")
        outcome = await handoff.outcome()
        await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0], "handoff.refused"]
    assert newsroom.receiver.requests[-1].json["data"]["code"] == outcome.code


async def test_an_expired_handoff_is_told_and_so_is_what_becomes_of_it(newsroom: Newsroom) -> None:
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        handoff, _ = await handoffs.begin(timeout_seconds=0.5)
        await handoff.until(HandoffState.EXPIRED)
        await handoff.close()
        await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0], ALL[1], "handoff.expired", "handoff.closed"]
    assert newsroom.receiver.requests[-1].json["data"]["result"] == "expired"


async def test_what_fails_is_sent_again_under_its_id_with_a_new_time_and_before_what_comes_after(
    newsroom: Newsroom,
) -> None:
    """A 500, a redirect that is not followed, and a 503: each is a failure like any other."""
    elsewhere = Response(status_code=307, headers={"location": f"{newsroom.receiver.base_url}/elsewhere"})
    newsroom.receiver.answers = [500, elsewhere, 503]
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        handoff, _ = await handoffs.begin()
        await handoffs.finished(handoff)
        await newsroom.delivered(handoff)
        history = await newsroom.client.get_workflow_handle(delivery_workflow_id(handoff.id)).fetch_history()
    assert newsroom.of("audit") == [ALL[0]] * 3 + ALL and newsroom.of("elsewhere") == []
    first = newsroom.receiver.requests[:4]
    assert len({received.id for received in first}) == 1 and len({received.body for received in first}) == 1
    assert all(received.verify() for received in newsroom.receiver.requests)
    # Attempts are the server's own; the history stays as small as if there had been one each.
    assert len(history.events) < 70


async def test_an_answers_body_is_not_read_to_its_end(newsroom: Newsroom) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536
            await asyncio.sleep(0)

    newsroom.receiver.answer = lambda _: StreamingResponse(endless())
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs, asyncio.timeout(20):
        handoff, _ = await handoffs.begin()
        await handoff.close()
        await newsroom.delivered(handoff)
    assert len(newsroom.receiver.requests) == 3


async def test_the_pause_that_a_receiver_asks_for_is_kept(newsroom: Newsroom) -> None:
    newsroom.receiver.answers = [Response(status_code=429, headers={"retry-after": "2"})]
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        handoff, _ = await handoffs.begin()
        await handoff.close()
        await newsroom.delivered(handoff)
    first, second, *_ = (int(received.headers["webhook-timestamp"]) for received in newsroom.receiver.requests)
    assert second - first >= 2


async def test_a_receiver_that_is_down_holds_up_neither_the_handoff_nor_another_receiver(newsroom: Newsroom) -> None:
    newsroom.receiver.answer = lambda received: 500 if received.path == "/down" else 204
    endpoints = (newsroom.endpoint("down"), newsroom.endpoint("up"))
    async with newsroom.telling(endpoints=endpoints, schedule=(600.0,)) as handoffs:
        handoff, _ = await handoffs.begin()
        async with asyncio.timeout(5):
            assert (await handoffs.finished(handoff)).verified
        await until(lambda: newsroom.of("up") == ALL)
        assert newsroom.of("down") == [ALL[0]]
        await newsroom.client.get_workflow_handle(delivery_workflow_id(handoff.id)).terminate()


async def test_what_cannot_be_delivered_is_given_up_and_the_rest_is_tried(newsroom: Newsroom) -> None:
    newsroom.receiver.answer = lambda received: 500 if received.json["type"] == ALL[0] else 204
    async with newsroom.telling(endpoints=(newsroom.endpoint(),), schedule=(0.05, 0.05)) as handoffs:
        handoff, _ = await handoffs.begin()
        await handoff.close()
        await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0]] * 3 + [ALL[1], "handoff.closed"]


async def test_an_endpoint_that_is_gone_is_sent_nothing_more_until_it_is_enabled(newsroom: Newsroom) -> None:
    """410: for all handoffs, also after a restart of the server."""
    endpoint = newsroom.endpoint()
    newsroom.receiver.answers = [410]
    for _ in range(2):
        async with newsroom.telling(endpoints=(endpoint,)) as handoffs:
            handoff, _ = await handoffs.begin()
            await handoff.close()
            await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0]]
    async with newsroom.telling(endpoints=(endpoint,)) as handoffs:
        gone = newsroom.client.get_workflow_handle(gone_endpoint_id(endpoint.key))
        await gone.signal(Workflows.ENABLE)
        await gone.result()
        handoff, _ = await handoffs.begin()
        await handoff.close()
        await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0], ALL[0], ALL[1], "handoff.closed"]


async def test_both_secrets_sign_while_one_is_replaced_and_an_old_time_is_refused(newsroom: Newsroom) -> None:
    """Skew: a receiver refuses what it is sent again later by somebody else."""
    endpoint = newsroom.endpoint(secrets=[OTHER_SECRET, SECRET])
    async with newsroom.telling(endpoints=(endpoint,)) as handoffs:
        handoff, _ = await handoffs.begin()
        await handoff.close()
        await newsroom.delivered(handoff)
    received = newsroom.receiver.requests[0]
    assert received.verify(OTHER_SECRET) == received.verify(SECRET)
    now = datetime.now(UTC).timestamp()
    assert abs(now - int(received.headers["webhook-timestamp"])) < 30
    for change in (-600, 600):
        replayed = Received(
            received.path, {**received.headers, "webhook-timestamp": str(int(now) + change)}, received.body
        )
        with pytest.raises(WebhookVerificationError):
            replayed.verify()


async def test_many_changes_are_told_up_to_a_bound_and_the_end_always(newsroom: Newsroom) -> None:
    async with newsroom.telling(endpoints=(newsroom.endpoint(),)) as handoffs:
        handoffs.desktop.refuse[Activities.FINISH] = ErrorCode.RESERVATION_CLOSED
        handoff, receipt = await handoffs.begin()
        for _ in range(31):
            with pytest.raises(HandoffError):
                await handoff.finish(receipt.handoff_fence)
        await handoff.close()
        await newsroom.delivered(handoff)
    told = newsroom.of("audit")
    assert len(told) == 61 and told[-1] == "handoff.closed"


@contextlib.asynccontextmanager
async def _worker(client: Client, settings: dict[str, Any]) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("killed.py")),
        client.service_client.config.target_host,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(settings).encode())
        process.stdin.write_eof()
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_server_killed_in_the_middle_tells_programs_again_under_the_same_id_and_a_person_never(
    newsroom: Newsroom, client: Client
) -> None:
    """K81, F3: a receiver drops what it knows; a service that cannot is not asked again, and that is said."""
    endpoint = {"name": "audit", "url": f"{newsroom.receiver.base_url}/audit", "secrets": [SECRET]}
    phone = {"name": "phone", "kind": "apprise", "url": f"json://{newsroom.receiver.base_url[7:]}/notify"}
    settings = {"endpoints": [endpoint], "channels": [phone]}
    desktop = FakeDesktop()
    newsroom.receiver.gate.clear()
    async with desktop.serving(client):
        async with _worker(client, settings) as worker:
            handoffs = await Handoffs.open(client, desktop)
            handoff, _ = await handoffs.begin()
            await until(lambda: {r.path for r in newsroom.receiver.requests} == {"/audit", "/notify"})
            worker.kill()
            await worker.wait()
        newsroom.receiver.gate.set()
        async with _worker(client, settings):
            (told,) = (await until(handoff.summary, 40, wanted=lambda now: now.told)).told
            assert told.how == "unknown"
            assert (await handoffs.finished(handoff)).verified
            await newsroom.delivered(handoff)
    assert [r.path for r in newsroom.receiver.requests].count("/notify") == 1
    assert newsroom.of("audit") == [ALL[0], *ALL]
    audited = [r for r in newsroom.receiver.requests if r.path == "/audit"]
    assert audited[0].id == audited[1].id and len({r.id for r in audited}) == len(ALL)


async def test_a_server_that_stops_in_the_middle_leaves_the_rest_to_the_next(newsroom: Newsroom) -> None:
    newsroom.receiver.gate.clear()
    endpoints = (newsroom.endpoint(),)
    async with newsroom.telling(endpoints=endpoints) as handoffs:
        handoff, _ = await handoffs.begin()
        await until(lambda: len(newsroom.receiver.requests) == 1)
        await handoff.handle.signal(Workflows.REVOKE, "shutdown")
        await handoff.outcome()
    newsroom.receiver.gate.set()
    async with newsroom.telling(endpoints=endpoints), asyncio.timeout(30):
        await newsroom.delivered(handoff)
    assert newsroom.of("audit") == [ALL[0], ALL[0], ALL[1], "handoff.revoked"]
