"""What stands in the ledger."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from user_handoff.desktop.identity import ProcessIdentity

Scope = Literal["page", "native"]
"""What an effect touches: one browser's page, or the pointer, keyboard and clipboard that the whole desktop shares."""

Kind = Literal["handoff", "takeover"]
"""Who asked: the agent for a person, or the person."""


@dataclass(frozen=True, slots=True)
class HolderRow:
    """A person's reservation: it stands until it is withdrawn, whatever becomes of the process that published it.

    Attributes:
        holder_id: Its id.
        browser_id: The browser that is held; the desktop's native input is held with it.
        kind: Who asked.
        handoff_id: What a refusal names.
        owner: The process that published it.
        epoch: The epoch that its publication made.
    """

    holder_id: str
    browser_id: str
    kind: Kind
    handoff_id: str
    owner: ProcessIdentity
    epoch: int


@dataclass(frozen=True, slots=True)
class PermitRow:
    """An effect in flight.

    Attributes:
        permit_id: Its number.
        scope: What it touches.
        browser_id: The browser of a page effect; None for a native one.
        effect_id: The effect.
        owner: The process that does it.
        epoch: The epoch under which it was admitted.
    """

    permit_id: int
    scope: Scope
    browser_id: str | None
    effect_id: str
    owner: ProcessIdentity
    epoch: int


class _Issuer(Protocol):
    def recheck(self, permit: "Permit") -> None: ...


@dataclass(frozen=True, slots=True)
class Permit(PermitRow):
    """An effect that was admitted: check again right before the dispatch, and release afterwards."""

    issuer: _Issuer = field(repr=False, compare=False)

    def recheck(self) -> None:
        """See to it that nobody has taken control since.

        Raises:
            Held: Somebody has, or the ledger cannot be trusted any more.
        """
        self.issuer.recheck(self)
