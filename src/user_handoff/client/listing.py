"""Handoffs in pages, as Temporal lists them, each row as its own workflow tells it."""

from collections.abc import Sequence
from typing import Final

from temporalio.service import RPCError, RPCStatusCode

from user_handoff.client.calls import told_by_each
from user_handoff.client.client import HandoffClient
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.handoff import HandoffState, Summary
from user_handoff.contract.names import SearchAttributes, Workflows

_NOT_TOLD: Final = {HandoffState.FINISHING, HandoffState.RECOVERING}
"""States between an answer and the end, which are not told to the list: it says the one before."""


async def list_handoffs(
    client: HandoffClient, sessions: Sequence[str], state: HandoffState | None, limit: int, token: bytes
) -> tuple[list[Summary], bytes]:
    """One page of the handoffs of some sessions, those that go on first.

    The list lags a moment behind. One that ends while the pages are asked for may come twice; none is left out but
    one that cannot tell of itself, of which the log warns.

    Args:
        client: Where they are.
        sessions: Ids of sessions, at most some hundreds.
        state: Only those that are in this state now.
        limit: How many to look at.
        token: What came with the page before; empty: the first page.

    Returns:
        The page, which can be shorter than `limit`, and the token of the next one; empty: there is none.

    Raises:
        Refused: ``invalid_request``: the token is none of Temporal's.
        SetupError: ``temporal_unreachable``.
    """
    if not sessions:
        return [], b""
    listed, following = await client.again(lambda: _listed(client, _query(sessions, state), limit, token))
    found = await told_by_each(listed, client.summary)
    return [s for s in found if state in (None, s.state)], following


def _query(sessions: Sequence[str], state: HandoffState | None) -> str:
    terms = [f"WorkflowType = '{Workflows.HANDOFF}'", _among(SearchAttributes.SESSION, sessions)]
    if state is not None:
        told = {state, HandoffState.HELD, HandoffState.EXPIRED} if state in _NOT_TOLD else {state}
        terms.append(_among(SearchAttributes.STATE, sorted(told)))
    return " AND ".join(terms)


def _among(name: str, values: Sequence[str]) -> str:
    return f"{name} IN ({', '.join(repr(str(value)) for value in values)})"


async def _listed(client: HandoffClient, query: str, limit: int, token: bytes) -> tuple[list[str], bytes]:
    pages = client.temporal.list_workflows(query, page_size=limit, next_page_token=token or None)
    try:
        await pages.fetch_next_page()
    except RPCError as error:
        if error.status is RPCStatusCode.INVALID_ARGUMENT and token:
            raise make_error(
                ErrorCode.INVALID_REQUEST,
                "Temporal does not know this page.",
                holds="Nothing was changed.",
                do_next="Ask for the first page.",
            ) from None
        raise
    return [row.id for row in pages.current_page or ()], pages.next_page_token or b""
