"""Keys, on a real server."""

import asyncio
import gc
import tracemalloc
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.client.conftest import MAKES, code, refused_within
from tests.workflows.handoffs import start_server
from user_handoff.client import HandoffClient
from user_handoff.client.access import Access
from user_handoff.contract.errors import ErrorCode
from user_handoff.contract.ids import KEYS_WORKFLOW_ID
from user_handoff.contract.session import Scope


async def test_a_key_names_its_principal_and_its_scopes(access: Access) -> None:
    key = await access.create_key("agent:k", [Scope.BROWSER_CONTROL, Scope.BROWSER_CONTROL])
    principal = await access.principal(key)
    assert (principal.name, principal.scopes) == ("agent:k", (Scope.BROWSER_CONTROL,))
    assert key.startswith(f"hk_{principal.key_id}.") and len(key.split(".")[1]) >= 32
    assert principal.key_id in [view.key_id for view in await access.list_keys()]


async def test_a_key_is_kept_nowhere_but_as_its_hash(env: WorkflowEnvironment, access: Access) -> None:
    secret = (await access.create_key("agent:k", [])).split(".")[1]
    history = await env.client.get_workflow_handle(KEYS_WORKFLOW_ID).fetch_history()
    assert secret not in history.to_json()
    assert secret not in repr(await access.list_keys())


async def test_a_revoked_key_lets_nobody_in_within_a_second_in_every_process(access: Access, elsewhere: Access) -> None:
    key = await access.create_key("agent:k", [])
    key_id = (await elsewhere.principal(key)).key_id
    first = await access.revoke_key(key_id)
    assert await code(access.principal(key)) is ErrorCode.UNAUTHORIZED
    await refused_within(1.1, lambda: elsewhere.principal(key), ErrorCode.UNAUTHORIZED)
    assert await access.revoke_key(key_id) == first, "it was revoked once"


@pytest.mark.parametrize("forge", ["", "hk_", "hk_k.x", "hg_{id}.{secret}", "hk_{id}.{other}", "hk_k_other.{secret}"])
async def test_no_other_words_are_a_key(access: Access, forge: str) -> None:
    """D2: one answer, whatever is wrong."""
    key_id, _, secret = (await access.create_key("agent:k", [])).removeprefix("hk_").partition(".")
    forged = forge.format(id=key_id, secret=secret, other="A" * 43)
    assert await code(access.principal(forged)) is ErrorCode.UNAUTHORIZED


async def test_what_is_no_key_cannot_be_made_or_revoked(access: Access) -> None:
    await access.create_key("agent:k", [])
    assert await code(access.create_key("", [])) is ErrorCode.INVALID_REQUEST
    assert await code(access.revoke_key("k_none")) is ErrorCode.INVALID_REQUEST
    assert await code(access.revoke_key("k/none")) is ErrorCode.INVALID_REQUEST


async def test_without_any_key_nobody_is_let_in() -> None:
    env = await start_server()
    try:
        access = Access(HandoffClient(env.client), patience_seconds=10)
        assert await access.list_keys() == ()
        assert await code(access.principal(f"hk_k_1.{'A' * 43}")) is ErrorCode.UNAUTHORIZED
        assert await code(access.revoke_key("k_1")) is ErrorCode.INVALID_REQUEST
    finally:
        await env.shutdown()


async def test_three_hundred_forged_keys_cost_few_questions_and_no_memory(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K83: nothing is made or kept for them, and live ones are untouched."""
    key = await access.create_key(MAKES, [])
    asked = []
    ask = access._all_keys

    async def counted() -> Any:
        asked.append(1)
        return await ask()

    monkeypatch.setattr(access, "_all_keys", counted)
    await access.principal(key)
    clock = asyncio.get_running_loop().time
    tracemalloc.start()
    began, before = clock(), tracemalloc.get_traced_memory()[0]
    forged = (code(access.principal(f"hk_k_{number}.{'A' * 43}")) for number in range(300))
    assert set(await asyncio.gather(*forged)) == {ErrorCode.UNAUTHORIZED}
    took = clock() - began
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(asked) <= took * 10 + 2
    assert grown < 500_000
    assert (await access.principal(key)).name == MAKES
