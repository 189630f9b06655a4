"""How much is taken: in size, and in a time."""

import asyncio
import json
from typing import Any

import pytest

from tests.gateway.mcp.stage import Stage, open_gateway
from tests.gateway.rest.caller import Caller, open_caller
from user_handoff.client.sessions import SessionClient
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.gateway.rest import budgets, callers
from user_handoff.gateway.rest.budgets import Budgets


class Clock:
    """A clock that a test puts forward."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def refusal(spending: Budgets, name: str) -> HandoffError | None:
    try:
        spending.spend(name)
    except HandoffError as error:
        return error
    return None


def test_a_budget_is_spent_and_fills_up_again() -> None:
    clock = Clock()
    spending = Budgets(10, 3, clock)
    assert [refusal(spending, "a") is None for _ in range(4)] == [True, True, True, False]
    assert refusal(spending, "b") is None, "each name has its own"
    clock.now += 0.1
    assert [refusal(spending, "a") is None for _ in range(2)] == [True, False]
    clock.now += 100
    assert [refusal(spending, "a") is None for _ in range(4)] == [True, True, True, False]


def test_a_refusal_says_when_to_ask_again() -> None:
    spending = Budgets(0.1, 1, Clock())
    spending.spend("a")
    refused = refusal(spending, "a")
    assert refused is not None
    assert (refused.code, refused.details["retry_after_seconds"]) == (ErrorCode.RATE_LIMITED, 10)


def test_names_that_are_made_up_cost_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """K83: those who spend go on being known."""
    monkeypatch.setattr(budgets, "KEPT", 100)
    spending = Budgets(0.001, 1_000, Clock())
    for number in range(1_000):
        spending.spend(f"made up {number}")
        spending.spend("busy")
    assert len(spending) == 100
    assert refusal(spending, "busy") is not None


async def test_more_than_a_key_may_ask_is_refused_with_a_time(stage: Stage, me: Caller) -> None:
    """Another key of the same principal has its own budget."""
    async with open_gateway(stage.temporal, requests_per_second=2) as base_url, open_caller(stage, me.name) as other:
        me.http.base_url = other.http.base_url = base_url
        answers = [await me.http.get("/v1/sessions") for _ in range(12)]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert len(answers) - len(refused) >= 4
        assert refused
        for answer in refused:
            assert me.problem(answer) == (429, "rate_limited")
            assert int(answer.headers["retry-after"]) >= 1
        assert (await other.http.get("/v1/sessions")).status_code == 200


async def test_an_address_that_lets_nobody_in_is_refused_and_those_known_behind_it_are_not(
    stage: Stage, me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K83: 300 unauthenticated creations with a forged Origin."""
    monkeypatch.setattr(callers, "REFUSALS_PER_SECOND", 0.001)  # else a busy machine is forgiven one meanwhile
    async with open_gateway(stage.temporal, requests_per_second=1_000) as base_url:
        me.http.base_url = base_url
        assert (await me.get("/v1/sessions"))["items"] == []
        headers = {"authorization": "Bearer hk_k_1.x", "origin": base_url}
        tries = (me.http.post("/v1/sessions", json={}, headers=headers) for _ in range(300))
        assert {answer.status_code for answer in await asyncio.gather(*tries)} == {401, 429}
        assert (await me.get("/v1/sessions"))["items"] == []
        async with open_caller(stage, me.name) as new:
            new.http.base_url = base_url
            assert await new.not_told("/v1/sessions") == (429, "rate_limited")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"text": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}", 400),
        (b"null", 400),
        (b"[]", 400),
        (b"7", 400),
        (b"\xff\xfe", 400),
        (b'{"text": NaN}', 400),
        (b'{"text": 7}', 400),
        (b'{"text": ""}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b'{"text": "x", "more": 1}', 400),
        (b'{"text": "x", "session_id": "s_other"}', 400),
        (b'{"text": "x", "kind": "order"}', 400),
        (b'{"text": "x", "message_id": "../x"}', 400),
        (json.dumps({"text": "x" * 4_001}).encode(), 400),
        (b'{"text": "' + b"x" * 1_000_000 + b'"}', 413),
    ],
    ids=lambda value: str(value)[:24],
)
async def test_a_body_that_does_not_fit_is_refused_and_nothing_is_done(me: Caller, body: bytes, status: int) -> None:
    session_id = (await me.post("/v1/sessions"))["session_id"]
    path = f"/v1/sessions/{session_id}/messages"
    response = await me.http.post(path, content=body, headers={"content-type": "application/json"})
    assert me.problem(response) == (status, "invalid_request")
    assert "Traceback" not in response.text
    assert (await me.get(path))["items"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("desktop/looks", {"screenshot": 0}),
        ("snapshots", {"max_bytes": "5000"}),
        ("snapshots", {"max_bytes": True}),
        ("actions", {"action": "back", "timeout_seconds": "3"}),
    ],
)
async def test_nothing_is_taken_for_what_it_is_not(me: Caller, path: str, body: dict[str, Any]) -> None:
    """A number is no truth, and a text no number."""
    assert await me.refused(f"/v1/browsers/b_1/{path}", body) == (400, "invalid_request")


async def test_a_body_of_another_kind_is_refused(me: Caller) -> None:
    response = await me.http.post("/v1/sessions", content=b"scopes=1", headers={"content-type": "text/plain"})
    assert me.problem(response) == (415, "invalid_request")


async def test_what_was_typed_is_not_repeated_in_a_refusal(me: Caller) -> None:
    """B7."""
    act: dict[str, Any] = {"action": "fill", "element_id": "e", "text": ["canary-of-the-body"], "canary-field": 1}
    response = await me.send("/v1/browsers/b_1/actions", act)
    assert me.problem(response) == (400, "invalid_request")
    assert "canary-of-the-body" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/sessions/a.b", 404),
        ("GET", "/v1/sessions/" + "x" * 65, 404),
        ("GET", "/v1/handoffs/handoff/b/s", 404),
        ("GET", "/v1/browsers/..%2f..%2fetc", 404),
        ("DELETE", "/v1/sessions", 405),
        ("PUT", "/v1/sessions/s/close", 405),
        ("POST", "/openapi.json", 405),
    ],
)
async def test_what_is_no_operation_is_said_in_problem_details(me: Caller, method: str, path: str, status: int) -> None:
    response = await me.http.request(method, path)
    assert me.problem(response) == (status, "invalid_request")
    assert (response.headers.get("allow") is not None) == (status == 405)


async def test_a_fault_of_the_gateway_is_told_without_its_words(me: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(SessionClient, "sessions_of", broken)
    response = await me.http.get("/v1/sessions")
    assert me.problem(response) == (500, "failed")
    assert "boom" not in response.text
    assert response.headers["cache-control"] == "no-store"
