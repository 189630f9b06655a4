"""Taking browsers over for operators, whichever door of the gateway they come through."""

from typing import Any, Final, Literal

from user_handoff.client.takeovers import TakeoverClient
from user_handoff.contract.errors import ErrorCode, Gone
from user_handoff.contract.ids import takeover_workflow_id
from user_handoff.contract.takeover import (
    RenewTakeover,
    TakeoverBegun,
    TakeoverRenewed,
    TakeoverSummary,
    unknown_takeover,
)

_ROLE: Final = "operator"
_LONGEST: Final = 200


class Taking:
    """Begins, shows, renews and ends takeovers. That somebody is an operator is for the door to find out."""

    def __init__(self, client: TakeoverClient) -> None:
        self._client = client

    async def begin(
        self, who: str, browser_id: str, number: str, *, may_be_known: bool = False, **options: Any
    ) -> TakeoverBegun:
        """Take a browser over, wherever it lives.

        Args:
            who: Who operates.
            browser_id: Which browser.
            number: Names this takeover of it.
            may_be_known: Whether it may have been asked for before: then its receipt is told.
            options: More fields of `TakeoverRequest`.

        Raises:
            HandoffError: As `TakeoverClient.request_for` and `TakeoverClient.take_over`.
        """
        if may_be_known:
            try:
                return await self._client.begun(takeover_workflow_id(browser_id, number))
            except Gone as error:
                if error.code is not ErrorCode.UNKNOWN_TAKEOVER:
                    raise
        wanted = await self._client.request_for(browser_id, number=number, role=_ROLE, by=who[:_LONGEST], **options)
        return await self._client.take_over(wanted)

    async def mine(self, who: str, takeover_id: str) -> TakeoverSummary:
        """A takeover, for who took it and nobody else.

        Raises:
            Gone: ``unknown_takeover``: there is none, or it is somebody else's.
        """
        summary = await self._client.takeover(takeover_id)
        if summary.by != who[:_LONGEST] or summary.role != _ROLE:
            raise unknown_takeover(takeover_id)
        return summary

    async def renew(self, who: str, takeover_id: str) -> TakeoverRenewed:
        """Say that they are still there.

        Raises:
            Stale: ``lease_lost``: it is over, and stays so.
            HandoffError: As `mine`; or nothing answers, and the lease goes on running out.
        """
        summary = await self.mine(who, takeover_id)
        request = RenewTakeover(takeover_id=takeover_id, browser_id=summary.browser_id)
        return await self._client.renew_takeover(summary.queue, request)

    async def end(
        self, who: str, takeover_id: str, how: Literal["returned", "cancelled"], note: str
    ) -> TakeoverSummary:
        """Give the browser back, with or without a word; asked again, what became of it.

        Raises:
            HandoffError: As `mine` and `TakeoverClient.give_back`.
        """
        await self.mine(who, takeover_id)
        if how == "cancelled":
            return await self._client.cancel(takeover_id)
        return await self._client.give_back(takeover_id, note)
