"""Handoffs as a Nexus service, for agents in another namespace."""

from typing import Final

import nexusrpc

from user_handoff.contract.base import Model
from user_handoff.contract.handoff import BeginReceipt, FinishReceipt, HandoffRequest, Outcome, Summary

SERVICE: Final = "user-handoff"


class FinishHandoff(Model):
    """Take a browser back."""

    handoff_id: str
    handoff_fence: str


class AskSummary(Model):
    """Ask what holds now for a handoff."""

    handoff_id: str


@nexusrpc.service(name=SERVICE)
class HandoffService:
    """What an agent asks of handoffs that live elsewhere."""

    handoff: nexusrpc.Operation[HandoffRequest, Outcome]
    """Ask a person, and wait for how it ends. A running handoff of the same association is joined; to cancel is to
    close the browser."""
    begin: nexusrpc.Operation[HandoffRequest, BeginReceipt]
    """Ask for a hold, and wait until it exists. Asked again, the same receipt."""
    finish: nexusrpc.Operation[FinishHandoff, FinishReceipt]
    """Take the browser back by its exact fence. Asked again, the same receipt."""
    summary: nexusrpc.Operation[AskSummary, Summary]
    """What holds now, also after the end."""
