"""Keys on the command line, against a real server."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.gateway.world import World, open_world
from tests.waiting import until
from user_handoff.cli.main import app
from user_handoff.client.access import Access
from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.contract.session import SCOPES_OF_A_HANDOFF, Scope

Call = Callable[..., Awaitable[Result]]


@pytest.fixture(scope="module")
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest.fixture
def access(world: World) -> Access:
    return Access(world.client, patience_seconds=30)


@pytest.fixture
def call(world: World, tmp_path: Path) -> Call:
    """Run a command in this process."""
    env = {"TEMPORAL_ADDRESS": world.temporal.service_client.config.target_host, "HANDOFF_STATE": str(tmp_path)}

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(lambda: CliRunner().invoke(app, ("keys", *arguments), env=env))

    return run


async def test_a_key_that_was_made_lets_its_principal_in(call: Call, access: Access) -> None:
    key = (await call("create", "--name", "agent:cli", "--scope", "browser:control")).stdout.strip()
    principal = await access.principal(key)
    assert (principal.name, principal.scopes) == ("agent:cli", (Scope.BROWSER_CONTROL,))


async def test_a_key_has_what_a_handoff_needs_unless_it_says_otherwise(call: Call, access: Access) -> None:
    """A5."""
    made = json.loads((await call("create", "--name", "agent:cli", "--json")).stdout)
    principal = await access.principal(made["key"])
    assert (principal.key_id, principal.scopes) == (made["key_id"], SCOPES_OF_A_HANDOFF)


async def test_a_key_is_listed_without_its_secret(call: Call) -> None:
    key = (await call("create", "--name", "agent:\x1b[31mlisted")).stdout.strip()
    said = (await call("list")).stdout
    as_json = (await call("list", "--json")).stdout
    row = next(line for line in said.splitlines() if line.startswith(key.partition(".")[0].removeprefix("hk_")))
    assert "agent:\ufffd[31mlisted" in row and "browser:control computer:read runtime:read" in row
    for text in (said, as_json):
        assert key.partition(".")[2] not in text and "sha256" not in text


async def test_a_revoked_key_lets_nobody_in_and_stays_listed(call: Call, access: Access) -> None:
    key = (await call("create", "--name", "agent:cli")).stdout.strip()
    key_id = (await access.principal(key)).key_id
    assert (await call("revoke", key_id)).stdout == f"Revoked: {key_id} of agent:cli.\n"
    with pytest.raises(HandoffError) as refused:
        await until(lambda: access.principal(key), 30, wanted=lambda _: False, what="the key is refused")
    assert refused.value.code is ErrorCode.UNAUTHORIZED
    listed = json.loads((await call("list", "--json")).stdout)
    assert [view["revoked_at"] is None for view in listed if view["key_id"] == key_id] == [False]


async def test_what_is_no_key_cannot_be_revoked(call: Call) -> None:
    done = await call("revoke", "k_none")
    assert isinstance(done.exception, HandoffError)
    assert done.exception.code is ErrorCode.INVALID_REQUEST


async def test_an_unknown_scope_is_wrong_usage(call: Call) -> None:
    done = await call("create", "--name", "agent:cli", "--scope", "root")
    assert done.exit_code == 2


async def test_the_help_names_the_scopes_that_a_key_gets_by_itself(call: Call) -> None:
    said = (await call("create", "--help")).stdout
    default = "".join(said.split("what a handoff needs")[1].split(")")[0].split())
    assert default == "(" + ",".join(SCOPES_OF_A_HANDOFF)
