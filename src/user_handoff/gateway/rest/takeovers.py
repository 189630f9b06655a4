"""Takeovers, for operators alone: begun, shown, renewed and ended, by the same code as on their page."""

from http import HTTPStatus
from typing import Final

from user_handoff.contract.access import Principal
from user_handoff.contract.errors import ErrorCode, make_error
from user_handoff.contract.session import Scope
from user_handoff.contract.takeover import TakeoverRenewed, TakeoverSummary
from user_handoff.gateway.rest import shapes
from user_handoff.gateway.rest.operations import Asked, Operation
from user_handoff.gateway.taking import Taking
from user_handoff.gateway.tools.callers import require_scopes

_TAKEOVERS: Final = "/v1/takeovers"
_ONE: Final = f"{_TAKEOVERS}/{{takeover_id:takeover}}"
_OPERATES: Final = "handoffs:operate"


class TakeoverOperations:
    """What an operator can ask of takeovers. The lease is renewed by who took over, and by nobody for them."""

    def __init__(self, taking: Taking, base_url: str) -> None:
        self._taking = taking
        self._base_url = base_url

    def table(self) -> tuple[Operation, ...]:
        """The operations."""
        return (
            Operation(
                "POST",
                _TAKEOVERS,
                "startTakeover",
                "takeovers",
                "Take a browser over from its agent. It returns once the agent waits; renew it from then on.",
                self.start,
                (shapes.TakeoverStarted,),
                shapes.NewTakeover,
                status=HTTPStatus.CREATED,
                changes=True,
                example={"browser_id": "b_1f0c8a5b2d3e4f60", "why": "that is the wrong account"},
                scopes=_OPERATES,
            ),
            Operation(
                "GET",
                _ONE,
                "showTakeover",
                "takeovers",
                "Where a takeover of yours stands, also after the end.",
                self.show,
                (TakeoverSummary,),
                scopes=_OPERATES,
            ),
            Operation(
                "POST",
                f"{_ONE}/renew",
                "renewTakeover",
                "takeovers",
                "Say that you are still there. Each renewal is a new one; `lease_lost` is the end.",
                self.renew,
                (TakeoverRenewed,),
                scopes=_OPERATES,
            ),
            Operation(
                "POST",
                f"{_ONE}/return",
                "returnTakeover",
                "takeovers",
                "Give the browser back; its agent has to look before it acts. Asked again, what became of it.",
                self.end,
                (TakeoverSummary,),
                shapes.EndTakeover,
                changes=True,
                example={"note": "signed in as ada now"},
                scopes=_OPERATES,
            ),
        )

    async def start(self, asked: Asked) -> shapes.TakeoverStarted:
        """Take one over; under the same key it is the same takeover."""
        who, number = _operator(asked), asked.call().mint("t")
        begun = await self._taking.begin(who, **asked.body, number=number, may_be_known=asked.key is not None)
        return shapes.TakeoverStarted(
            takeover_id=begun.takeover_id,
            url=f"{self._base_url}/{begun.takeover_id.replace('takeover', 'takeovers', 1)}",
            expires_at=begun.expires_at,
            expires_in_seconds=begun.expires_in_seconds,
            ttl_seconds=begun.ttl_seconds,
        )

    async def show(self, asked: Asked) -> TakeoverSummary:
        """Tell of one."""
        return await self._taking.mine(_operator(asked), asked.path["takeover_id"])

    async def renew(self, asked: Asked) -> TakeoverRenewed:
        """Renew the lease of one."""
        return await self._taking.renew(_operator(asked), asked.path["takeover_id"])

    async def end(self, asked: Asked) -> TakeoverSummary:
        """Give one back."""
        return await self._taking.end(_operator(asked), asked.path["takeover_id"], **asked.body)


def _operator(asked: Asked) -> str:
    """Who operates.

    Raises:
        Refused: ``forbidden``: it is an agent, by a grant; or ``missing_scope``.
    """
    caller = asked.caller
    if not isinstance(caller, Principal):
        raise make_error(
            ErrorCode.FORBIDDEN,
            "A grant lets an agent in, and no agent takes a browser over.",
            holds="Nothing was done.",
            do_next="Ask with the key of an operator.",
        )
    require_scopes(caller, (Scope.HANDOFFS_OPERATE,))
    return caller.name
