"""What handoffs tell the workflow that asked for them."""

from temporalio import workflow

from user_handoff.contract.handoff import HandoffEvent, HandoffState
from user_handoff.contract.names import EVENT_SIGNAL


class Inbox:
    """The events of every handoff of one workflow. There is one a workflow, kept as its signal handler."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[HandoffState, HandoffEvent]] = {}

    @classmethod
    def of_this_workflow(cls) -> "Inbox":
        """The running workflow's own inbox; the first call also takes what came before it."""
        handler = workflow.get_signal_handler(EVENT_SIGNAL)
        owner = getattr(handler, "__self__", None)
        if isinstance(owner, cls):
            return owner
        inbox = cls()
        workflow.set_signal_handler(EVENT_SIGNAL, inbox.receive)
        return inbox

    def receive(self, event: HandoffEvent) -> None:
        """Keep an event; the order in which they come is not promised, so each state is kept by itself."""
        self._seen.setdefault(event.handoff_id, {})[event.state] = event

    def get(self, handoff_id: str, state: HandoffState) -> HandoffEvent | None:
        """The event that says that this handoff came to this state."""
        return self._seen.get(handoff_id, {}).get(state)

    def outcome_of(self, handoff_id: str) -> HandoffEvent | None:
        """The event that carries an outcome, if one came."""
        return next((e for e in self._seen.get(handoff_id, {}).values() if e.outcome is not None), None)
