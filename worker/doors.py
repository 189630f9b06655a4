"""Asks sessions for the desktop whether the grants of doors stand."""

from datetime import timedelta
from typing import Final

from temporalio.client import Client, WorkflowQueryRejectedError
from temporalio.common import QueryRejectCondition
from temporalio.service import RPCError, RPCStatusCode

from user_handoff.contract.access import Keys, SessionAccess, ended_with_keys, keys_asked
from user_handoff.contract.ids import KEYS_WORKFLOW_ID, session_workflow_id
from user_handoff.contract.names import Workflows
from user_handoff.desktop.desktop import Desktop

_PATIENCE: Final = timedelta(seconds=3)


async def watch_grants(client: Client, desktop: Desktop) -> None:
    """Have the desktop close doors whose grants are over, until this is cancelled.

    Args:
        client: Connected to the Temporal namespace of the sessions.
        desktop: Whose doors.
    """

    async def ask(session_id: str) -> SessionAccess | None:
        handle = client.get_workflow_handle(session_workflow_id(session_id))
        # one that was ended by force never said that it is closed
        reject = QueryRejectCondition.NOT_COMPLETED_CLEANLY
        try:
            found: SessionAccess = await handle.query(
                Workflows.ACCESS, result_type=SessionAccess, reject_condition=reject, rpc_timeout=_PATIENCE
            )
        except WorkflowQueryRejectedError:
            return None
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise
        return ended_with_keys(found, await _keys(client)) if keys_asked(found) else found

    await desktop.granted_doors.run(ask)


async def _keys(client: Client) -> Keys:
    handle = client.get_workflow_handle(KEYS_WORKFLOW_ID)
    found: Keys = await handle.query(Workflows.VIEW, result_type=Keys, rpc_timeout=_PATIENCE)
    return found
