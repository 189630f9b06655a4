"""Figures, and what is not in them."""

import logging

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.gateway.mcp.stage import Stage
from tests.gateway.rest.caller import Caller, nobody, open_caller
from tests.gateway.rest.test_events import following
from tests.gateway.rest.test_job import begin
from user_handoff.contract.session import Scope


async def figures(stage: Stage) -> tuple[dict[tuple[str, ...], float], str]:
    """Every figure by its name and labels, and the text of all."""
    async with open_caller(stage, "prometheus", [Scope.METRICS_READ]) as reader:
        response = await reader.http.get("/metrics")
    assert response.status_code == 200, response.text
    families = text_string_to_metric_families(response.text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}, response.text


async def test_requests_are_counted_by_template_and_refusals_by_code(stage: Stage, me: Caller) -> None:
    before, _ = await figures(stage)
    await me.post("/v1/sessions")
    await me.not_told("/v1/sessions/s_never_was")
    await me.http.request("BREW", "/v1/sessions")
    await me.http.get("/no/such/path")
    after, text = await figures(stage)

    def more(*labels: str) -> float:
        return after.get(labels, 0) - before.get(labels, 0)

    assert more("handoff_http_requests_total", "POST", "/v1/sessions", "201") == 1
    assert more("handoff_http_requests_total", "GET", "/v1/sessions/{session_id:id}", "404") == 1
    assert more("handoff_http_requests_total", "other", "none", "405") == 1
    assert more("handoff_http_requests_total", "GET", "none", "404") == 1
    assert more("handoff_http_refusals_total", "session_not_found") == 1
    assert more("handoff_http_request_seconds_count", "/v1/sessions") == 1
    assert "s_never_was" not in text
    assert "such" not in text


async def test_calls_of_tools_and_open_streams_are_told(stage: Stage, me: Caller) -> None:
    stage.meets(nobody())
    before, _ = await figures(stage)
    browser_id, begun = await begin(me)
    async with following(me, begun["handoff_id"]) as stream:
        await stream.next()
        during, text = await figures(stage)
    opened = ("handoff_tool_calls_total", "completed", "control_browser")
    assert during[opened] - before.get(opened, 0) == 2
    assert during[("handoff_streams_open",)] == 1
    assert during[("handoff_waits_open",)] == 0
    for word in (begun["handoff_id"], browser_id, begun["handoff_fence"], me.name, me.bearer.split(".")[1]):
        assert word not in text
    await me.post(f"/v1/browsers/{browser_id}/close")


async def test_figures_are_for_keys_that_may_see_them(stage: Stage, me: Caller) -> None:
    """A5: an address proves nothing, since behind a proxy everybody seems to be on this machine."""
    assert await me.not_told("/metrics") == (403, "missing_scope")
    del me.http.headers["authorization"]
    assert await me.not_told("/metrics") == (401, "unauthorized")


async def test_no_log_record_holds_a_bearer_or_what_was_sent(
    stage: Stage, me: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    """C6, K41, B7: whatever is switched on, and whatever goes wrong."""
    caplog.set_level(logging.DEBUG)
    secret = me.bearer.split(".")[1]
    await me.post("/v1/sessions", key="canary-key")
    await me.send("/v1/sessions/current/messages", {"text": "canary-text"}, "canary-key")
    await me.http.get(f"/v1/sessions/{secret}")
    await me.http.get(f"/v1/nothing/{secret}?token={secret}")
    await me.http.request("DELETE", f"/v1/sessions/{secret}")
    await me.http.post("/v1/sessions", content=b"canary-body", headers={"content-type": "application/json"})
    others = ("httpx", "httpcore", "mcp.client", "asyncio")
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(others)]
    assert any("POST /v1/sessions 201" in line for line in ours)
    for word in (secret, "canary-text", "canary-key", "canary-body"):
        assert not [line for line in ours if word in line], word
