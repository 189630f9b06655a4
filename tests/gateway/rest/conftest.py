"""Callers of REST."""

from collections.abc import AsyncIterator

import pytest

from tests.gateway.mcp.stage import Stage
from tests.gateway.rest.caller import Caller, open_caller


@pytest.fixture
async def me(stage: Stage) -> AsyncIterator[Caller]:
    """A caller with a key of a principal that nobody else is."""
    async with open_caller(stage) as caller:
        yield caller
