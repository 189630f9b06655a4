"""Who calls: a bearer, and nothing else. How often they may is said here too."""

import hashlib
from collections import OrderedDict
from typing import Final

from starlette.requests import Request

from user_handoff.contract.errors import ErrorCode, HandoffError
from user_handoff.gateway.rest.budgets import Budgets, too_much
from user_handoff.gateway.tools.callers import AccessDoor, Caller, caller_of, who

REFUSALS_PER_SECOND: Final = 1.0
REFUSALS_AT_ONCE: Final = 60
"""How often one address may come with what lets nobody in."""

_KNOWN: Final = 10_000


class Bearers:
    """Lets callers in."""

    def __init__(self, access: AccessDoor, per_second: float) -> None:
        """Make it.

        Args:
            access: Knows keys and grants.
            per_second: How many requests of one key or grant are taken, twice as many in a burst.
        """
        self._access = access
        self._budgets = Budgets(per_second, 2 * per_second)
        self._refusals = Budgets(REFUSALS_PER_SECOND, REFUSALS_AT_ONCE)
        self._known: OrderedDict[bytes, None] = OrderedDict()

    async def let_in(self, request: Request) -> Caller:
        """Whose request this is.

        Raises:
            Refused: ``unauthorized``, or why a grant lets nobody in; ``rate_limited``.
        """
        token, address = bearer(request), request.client.host if request.client else ""
        mark = hashlib.sha256(token.encode()).digest()
        # Who was let in lately is not shut out by others behind the same address.
        if mark not in self._known and (seconds := self._refusals.wait(address)):
            raise too_much("Too many requests from this address let nobody in.", seconds)
        try:
            caller = await caller_of(self._access, token)
        except HandoffError as error:
            if error.code not in (ErrorCode.TEMPORAL_UNREACHABLE, ErrorCode.OUTCOME_UNKNOWN):
                self._known.pop(mark, None)
                self._refusals.spend(address)
            raise
        self._known[mark] = None
        self._known.move_to_end(mark)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        self._budgets.spend(who(caller))
        return caller

    async def still(self, request: Request) -> Caller:
        """Whose it is by now, for a request that lasts.

        Raises:
            Refused: They may ask no more.
        """
        return await caller_of(self._access, bearer(request))


def bearer(request: Request) -> str:
    """The bearer of a request; empty where it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
