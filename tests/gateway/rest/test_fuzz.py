"""Requests that fit the OpenAPI file, and as many that do not. The long run is `./run chaos --only api`."""

import asyncio
import json
import logging

import pytest

from benchmarks.chaos.api import UNBOUNDED, fuzz
from tests.gateway.mcp.stage import Stage, open_gateway
from tests.gateway.rest.caller import Caller, nobody

REQUESTS = 60


@pytest.mark.timeout(240)
# Hypothesis takes it for a strategy's doing when the gateway's thread uses `random` while it draws.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning")
async def test_no_request_is_a_fault_of_the_server_and_no_wrong_one_has_an_effect(
    stage: Stage, me: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    stage.meets(nobody())
    caplog.set_level(logging.ERROR, logger="temporalio")  # refusals are what is asked for
    async with open_gateway(stage.temporal, requests_per_second=UNBOUNDED) as base_url:
        seen = await asyncio.to_thread(fuzz, base_url, me.bearer, REQUESTS, lambda: len(stage.desktop.effects))
    assert seen.requests >= REQUESTS
    assert seen.wrong > REQUESTS / 3
    assert seen.statuses[200] and seen.statuses[201] and seen.statuses[400]
    assert (seen.failures, seen.effects_of_wrong) == ([], 0)
    assert json.loads(json.dumps(vars(seen)))["requests"] == seen.requests, "as the long run tells it"
