"""Keys of principals: made, listed, revoked and checked."""

import hmac
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from user_handoff.client.calls import ask
from user_handoff.client.client import HandoffClient
from user_handoff.client.fresh import Fresh
from user_handoff.client.tokens import made_of_sense, named_by, new_token, token_hash
from user_handoff.contract.access import CreateKey, Keys, KeyView, Principal, RevokeKey
from user_handoff.contract.errors import ErrorCode, Gone, HandoffError, make_error
from user_handoff.contract.ids import ID_PATTERN, KEYS_WORKFLOW_ID, new_id
from user_handoff.contract.names import SERVER_QUEUE, Workflows
from user_handoff.contract.session import Scope

FRESH_SECONDS: Final = 1.0
"""How old at most what a key or grant is checked against may be."""

T = TypeVar("T")


class KeyAccess:
    """Keys of principals. A key is shown by the call that makes it, and nowhere else."""

    def __init__(
        self, temporal: HandoffClient, *, patience_seconds: float = 8, fresh_seconds: float = FRESH_SECONDS
    ) -> None:
        """Use a client.

        Args:
            temporal: Where the keys are.
            patience_seconds: How long a call waits at most for Temporal.
            fresh_seconds: How long what was looked up is believed.
        """
        self._client = temporal
        self._patience = patience_seconds
        self._keys = Fresh(lambda name: self._all_keys(), seconds=fresh_seconds, limit=1)

    async def create_key(self, name: str, scopes: Sequence[Scope]) -> str:
        """Make a key of a principal.

        Args:
            name: The principal: the owner of what is made with the key. Several keys may have one name.
            scopes: What it may do.

        Returns:
            ``hk_{key_id}.{secret}``. It cannot be asked for again.

        Raises:
            Refused: ``invalid_request``: it is no name or scope, or there are too many keys.
        """
        key_id = new_id("k")
        key = new_token("hk", key_id)
        with made_of_sense():
            create = CreateKey(key_id=key_id, name=name, sha256=token_hash(key), scopes=tuple(dict.fromkeys(scopes)))

        async def call() -> KeyView:
            start: WithStartWorkflowOperation[Any, None] = WithStartWorkflowOperation(
                Workflows.KEYS,
                id=KEYS_WORKFLOW_ID,
                task_queue=SERVER_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            )
            view: KeyView = await self._client.temporal.execute_update_with_start_workflow(
                Workflows.CREATE_KEY, create, start_workflow_operation=start, id=f"create.{key_id}", result_type=KeyView
            )
            return view

        await self._ask(call, KEYS_WORKFLOW_ID, receipt=True)
        self._keys.forget("")
        return key

    async def list_keys(self) -> tuple[KeyView, ...]:
        """All keys, the oldest first, revoked ones included."""
        return tuple(record.view for record in (await self._all_keys()).keys)

    async def revoke_key(self, key_id: str) -> KeyView:
        """Let nobody in with a key any more: here at once, in every other process within a second.

        Raises:
            Refused: ``invalid_request``: there is no such key.
        """
        unknown = make_error(
            ErrorCode.INVALID_REQUEST,
            "There is no key of this id.",
            holds="The keys are as they were.",
            do_next="List the keys: handoff keys list.",
        )
        if not re.fullmatch(ID_PATTERN, key_id):
            raise unknown
        handle = self._client.temporal.get_workflow_handle(KEYS_WORKFLOW_ID)
        try:
            view: KeyView = await self._ask(
                lambda: handle.execute_update(
                    Workflows.REVOKE_KEY, RevokeKey(key_id=key_id), id=f"revoke.{key_id}", result_type=KeyView
                ),
                handle.id,
                receipt=True,
            )
        except Gone:
            raise unknown from None
        finally:
            self._keys.forget("")
        return view

    async def principal(self, key: str) -> Principal:
        """Whose key this is.

        Raises:
            Refused: ``unauthorized``: one answer for every key that lets nobody in, whatever is wrong with it.
            SetupError: ``temporal_unreachable``: it cannot be told now.
        """
        key_id, digest = named_by("hk", key), token_hash(key)
        if key_id is None:
            raise _unauthorized()
        # One that is not known may have been made a moment ago, elsewhere.
        keys = await self._keys.get("", lambda kept: any(record.view.key_id == key_id for record in kept.keys))
        for record in keys.keys:
            view = record.view
            if view.key_id == key_id and view.revoked_at is None and hmac.compare_digest(record.sha256, digest):
                return Principal(name=view.name, scopes=view.scopes, key_id=key_id)
        raise _unauthorized()

    async def principal_of(self, key_id: str) -> Principal:
        """Whose key it is that somebody has shown before, if it still lets them in.

        Raises:
            Refused: ``unauthorized``: there is no such key, or it was revoked.
            SetupError: ``temporal_unreachable``: it cannot be told now.
        """
        keys = await self._keys.get("")
        for record in keys.keys:
            if record.view.key_id == key_id and record.view.revoked_at is None:
                return Principal(name=record.view.name, scopes=record.view.scopes, key_id=key_id)
        raise _unauthorized()

    async def _all_keys(self) -> Keys:
        handle = self._client.temporal.get_workflow_handle(KEYS_WORKFLOW_ID)
        try:
            return await self._ask(lambda: handle.query(Workflows.VIEW, result_type=Keys), handle.id)
        except Gone:
            return Keys()  # none was ever made

    async def _ask(self, call: Callable[[], Awaitable[T]], workflow_id: str, *, receipt: bool = False) -> T:
        return await ask(call, workflow_id, patience_seconds=self._patience, receipt=receipt)


def _unauthorized() -> HandoffError:
    return make_error(
        ErrorCode.UNAUTHORIZED,
        "This key lets nobody in.",
        holds="Nothing was done.",
        do_next="Have a key made: handoff keys create.",
    )
