"""One name, one request: that a name was taken is all that this says."""

from temporalio import workflow

from user_handoff.contract.claims import Claim
from user_handoff.contract.names import Workflows


@workflow.defn(name=Workflows.CLAIM)
class ClaimWorkflow:
    """Ends at once. Its id cannot be used again for as long as the namespace keeps it."""

    @workflow.run
    async def run(self, claim: Claim) -> Claim:
        """Say what was claimed."""
        return claim
