"""Claims: one name, one request. Temporal keeps them, so that they hold at every gateway and after any restart."""

from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from user_handoff.client.calls import ask
from user_handoff.client.client import HandoffClient
from user_handoff.contract.claims import Claim, id_reused
from user_handoff.contract.names import SERVER_QUEUE, Workflows

_SHA256 = "sha256"


async def claim(client: HandoffClient, workflow_id: str, sha256: str, *, patience_seconds: float) -> None:
    """Take a name for a request. Taken again for the same request, nothing changes.

    Args:
        client: Where claims are kept, for as long as the namespace keeps what has ended.
        workflow_id: What `claim_workflow_id` makes of the name.
        sha256: The digest of the request.
        patience_seconds: How long to wait for Temporal.

    Raises:
        Refused: ``id_reused``: it was taken for another request.
        OutcomeUnknown: It may or may not be taken: ask again.
    """

    async def call() -> str:
        try:
            await client.temporal.start_workflow(
                Workflows.CLAIM,
                Claim(sha256=sha256),
                id=workflow_id,
                task_queue=SERVER_QUEUE,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                memo={_SHA256: sha256},
            )
        except WorkflowAlreadyStartedError:
            described = await client.temporal.get_workflow_handle(workflow_id).describe()
            return str(await described.memo_value(_SHA256))
        return sha256

    if await ask(call, workflow_id, patience_seconds=patience_seconds, receipt=True) != sha256:
        raise id_reused(
            "This Idempotency-Key was used for another request.",
            "Use a new key for a new request, and the same body with the same key.",
        )
