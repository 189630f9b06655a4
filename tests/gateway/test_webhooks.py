"""Answers by signed webhooks."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

from tests.gateway.world import OLD_SECRET, SECRET, Site, World, open_site, open_world
from user_handoff.contract.handoff import Answer, HandoffState
from user_handoff.contract.ids import new_id

BODY = {"answer": "done", "note": "checked by phone", "by": "alice"}


async def send(
    http: httpx.AsyncClient,
    handoff_id: str,
    body: Any = BODY,
    *,
    webhook_id: str = "",
    secret: str = SECRET,
    skew: timedelta = timedelta(),
    **headers: str,
) -> httpx.Response:
    data = body if isinstance(body, str) else json.dumps({"handoff_id": handoff_id, **body})
    webhook_id, at = webhook_id or new_id("msg"), datetime.now(UTC) + skew
    signed = {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(webhook_id, at, data),
    }
    headers = {k.replace("_", "-"): v for k, v in headers.items()}
    return await http.post(f"/webhooks/handoffs/{handoff_id}/reply", content=data, headers={**signed, **headers})


def refused(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["code"], problem["status"]) == (code, status)
    assert problem["type"] and problem["title"] and problem["detail"] and problem["do_next"]


async def test_a_signed_answer_is_recorded_with_its_receipt(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, _ = await site.held()
    response = await send(http, handoff_id)
    assert response.status_code == 200 and response.json()["accepted"] is True
    summary = await site.world.client.summary(handoff_id)
    assert (summary.answer, summary.note, summary.answered_by) == (Answer.DONE, "checked by phone", "alice")


async def test_the_same_webhook_again_returns_the_same_receipt(site: Site, http: httpx.AsyncClient) -> None:
    """A17, K24: also with other arguments, and after the end."""
    handoff_id, _ = await site.held()
    first = await send(http, handoff_id, webhook_id="msg_1")
    again = await send(http, handoff_id, {"answer": "declined"}, webhook_id="msg_1")
    await site.recover(handoff_id)
    after = await send(http, handoff_id, webhook_id="msg_1")
    assert first.json() == again.json() == after.json()
    assert first.status_code == again.status_code == after.status_code == 200


async def test_a_second_decision_is_a_conflict(site: Site, http: httpx.AsyncClient) -> None:
    """K23: while it lives, and after it ended."""
    handoff_id, _ = await site.held()
    await send(http, handoff_id)
    refused(await send(http, handoff_id, {"answer": "declined"}), 409, "already_decided")
    await site.recover(handoff_id)
    refused(await send(http, handoff_id, {"answer": "declined"}), 409, "already_decided")


async def test_an_answer_after_expiry_says_so(site: Site, http: httpx.AsyncClient) -> None:
    """K24."""
    handoff_id = (await site.world.held(timeout_seconds=0.05)).handoff_id  # too late for a link of it
    await site.world.until(handoff_id, HandoffState.EXPIRED)
    refused(await send(http, handoff_id), 409, "expired")


async def test_an_answer_after_a_close_says_so(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, _ = await site.held()
    await site.world.client.close(handoff_id)
    refused(await send(http, handoff_id), 409, "not_held")


async def test_a_replaced_secret_still_counts_while_it_is_listed(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, _ = await site.held()
    assert (await send(http, handoff_id, secret=OLD_SECRET)).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "whsec_" + "QUJD" * 10},
        {"skew": timedelta(minutes=-6)},
        {"skew": timedelta(minutes=6)},
        {"webhook_signature": "v1,bm90IGl0"},
        {"webhook_signature": "nonsense"},
        {"webhook_signature": "v1a,xx v1,%%%"},
        {"webhook_signature": ""},
        {"webhook_timestamp": "soon"},
        {"webhook_timestamp": "nan"},
    ],
    ids=str,
)
async def test_what_is_not_signed_is_refused(site: Site, http: httpx.AsyncClient, wrong: dict[str, Any]) -> None:
    handoff_id, _ = await site.held()
    refused(await send(http, handoff_id, **wrong), 401, "unauthorized")
    assert (await site.world.client.summary(handoff_id)).answer is None


async def test_a_changed_body_is_refused(site: Site, http: httpx.AsyncClient) -> None:
    handoff_id, _ = await site.held()
    sent = (await send(http, handoff_id, webhook_id="msg_2")).request
    tampered = sent.content.replace(b"alice", b"mallo")
    headers = {k: v for k, v in sent.headers.items() if k.startswith("webhook-")}
    refused(await http.post(sent.url, content=tampered, headers=headers), 401, "unauthorized")
    refused(await http.post(sent.url, content=b"\xff\xfe", headers=headers), 401, "unauthorized")


@pytest.mark.parametrize(
    "body",
    [
        {"answer": "maybe"},
        {},
        {**BODY, "fence": "f"},
        {**BODY, "note": "x" * 1001},
        {**BODY, "by": ""},
        {**BODY, "handoff_id": "handoff/b/s/other"},
        '{"answer": "done"}',
        "[]",
        "not json",
        "",
    ],
    ids=str,
)
async def test_a_body_outside_the_schema_is_refused(site: Site, http: httpx.AsyncClient, body: Any) -> None:
    """The schema is closed; what was sent is not repeated."""
    handoff_id, _ = await site.held()
    response = await send(http, handoff_id, body)
    refused(response, 400, "invalid_request")
    assert "x" * 100 not in response.text
    assert (await site.world.client.summary(handoff_id)).answer is None


async def test_a_message_for_one_handoff_counts_for_no_other(site: Site, http: httpx.AsyncClient) -> None:
    """K25: the signature covers the body, and not the path."""
    handoff_id, _ = await site.held()
    other, _ = await site.held()
    body = {**BODY, "handoff_id": handoff_id}
    refused(await send(http, other, body), 400, "invalid_request")
    assert (await send(http, handoff_id, body)).status_code == 200


async def test_a_body_that_is_too_large_is_refused(site: Site, http: httpx.AsyncClient) -> None:
    """D4."""
    handoff_id, _ = await site.held()
    refused(await send(http, handoff_id, {**BODY, "note": "x" * 20_000}), 413, "invalid_request")


@pytest.mark.parametrize("webhook_id", ["has space", "x" * 201])
async def test_an_id_that_cannot_be_kept_is_refused(site: Site, http: httpx.AsyncClient, webhook_id: str) -> None:
    handoff_id, _ = await site.held()
    refused(await send(http, handoff_id, webhook_id=webhook_id), 400, "invalid_request")


@pytest.mark.parametrize("handoff_id", ["handoff/b/s/m", "session/s_1", "x"])
async def test_an_unknown_handoff_is_not_found(http: httpx.AsyncClient, handoff_id: str) -> None:
    refused(await send(http, handoff_id), 404, "unknown_handoff")


async def test_without_a_secret_there_are_no_webhooks(world: World) -> None:
    async with (
        open_site(world, webhook_secrets=()) as site,
        httpx.AsyncClient(base_url=site.base_url, timeout=30) as http,
    ):
        handoff_id, _ = await site.held()
        refused(await send(http, handoff_id), 404, "unknown_handoff")


async def test_without_temporal_it_says_to_send_it_again() -> None:
    async with open_world() as world, open_site(world, patience_seconds=0.3) as site:
        handoff_id, _ = await site.held()
        await world.stop()
        async with httpx.AsyncClient(base_url=site.base_url, timeout=30) as http:
            refused(await send(http, handoff_id), 503, "outcome_unknown")
