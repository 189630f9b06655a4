"""What the Temporal UI shows of a handoff, in markdown: enough to answer from there."""

from user_handoff.contract.handoff import HandoffState
from user_handoff.contract.markdown import code, literal, quoted
from user_handoff.workflows.record import Record

_TITLES = {
    HandoffState.REQUESTED: "Asking the desktop for its browser",
    HandoffState.HELD: "A person is needed",
    HandoffState.FINISHING: "Taking the browser back",
    HandoffState.RECOVERING: "Waiting for the agent to look again",
    HandoffState.EXPIRED: "Nobody finished in time: the browser stays paused",
    HandoffState.COMPLETED: "Completed",
    HandoffState.CLOSED: "Closed: the browser is gone, and the hold with it",
    HandoffState.REVOKED: "Revoked: the hold ended by itself",
    HandoffState.REFUSED: "Refused: nothing is held",
}

# The web UI breaks a line wherever its text has one, so a paragraph is one line here.
_ANSWER = (
    "\n### To answer\n"
    "First do what is asked, in the browser's own window. Elsewhere, a link to the person's page shows that window: "
    "`handoff link {handoff_id}`.\n\n"
    "Then, on this page: **More Actions**, **Send an Update**, `reply`, and as its data:\n"
    "```json\n"
    '{{"answer": "done", "by": "your name", "via": "temporal_ui"}}\n'
    "```\n"
    'Instead of `done`: `could_not`, or `declined`. Add `"note": "…"` for the agent if you like; never a password or a '
    "code. The first answer stands. It proves nothing: the outcome is observed.\n"
)

_TAKE_BACK = (
    "\n### To take the browser back by hand\n"
    "Update `finish`, with:\n"
    "```json\n"
    '{{"handoff_fence": "{fence}"}}\n'
    "```\n"
    "### To close the browser\n"
    "Update `close`, without data; **Request Cancellation** does the same. Do not terminate this workflow: the browser "
    "would stay paused until somebody closes it."
)

_SHOWN = 100
"""So much of a name is shown."""


def details(record: Record) -> str:
    """The page of one handoff."""
    lines = [f"## {_title(record)}", *quoted(record.request.instructions), "", *_facts(record)]
    if record.state is HandoffState.HELD and record.reply is None:
        lines.append(_ANSWER.format(handoff_id=record.handoff_id))
    if record.state in (HandoffState.HELD, HandoffState.EXPIRED) and record.receipt:
        lines.append(_TAKE_BACK.format(fence=record.receipt.handoff_fence))
    return "\n".join(lines)


def _title(record: Record) -> str:
    answered = record.state is HandoffState.HELD and record.reply is not None
    return "Answered: whoever asked takes the browser back" if answered else _TITLES[record.state]


def _facts(record: Record) -> list[str]:
    request, reply = record.request, record.reply
    facts = {
        "asked by": code(request.owner),
        "where": f"{code(request.boundary.url)} ({literal(request.boundary.reason)})" if request.boundary else "",
        "browser": f"{code(request.browser_id)} on {code(request.client_id)}",
        "until": f"{record.deadline:%Y-%m-%d %H:%M:%S} UTC" if record.deadline else "",
        "told": ", ".join(f"{told.how} by {told.channel} at {told.at:%H:%M:%S} UTC" for told in record.told[-8:]),
        "answer": f"{reply.answer} by {literal(reply.by[:_SHOWN])}" if reply else "",
        "note": literal(reply.note) if reply else "",
        "result": str(record.result or ""),
        "reason": str(record.reason or ""),
        "why": literal(record.message),
    }
    return [f"- **{name}**: {value}" for name, value in facts.items() if value]
